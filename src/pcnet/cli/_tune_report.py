"""What a search shows while it works, and at its end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pcnet.graph import Graph
from pcnet.tune import DEFAULTS, Search, Tuned, metric_of, named, reading, reported

#: Trials in the table, and columns of a screen that has room for all their settings.
TOP, WIDE = 10, 110


class SearchBar:
    """All epochs of a search; drawn on standard error, and only where someone is looking."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("searching")

    def __enter__(self) -> SearchBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def stage(self, title: str, total: int) -> None:
        self._progress.reset(self._task, description=title, total=total)

    def advance(self, units: int = 1) -> None:
        self._progress.advance(self._task, units)


def headline(graph: Graph, search: Search, words: str) -> str:
    """What is searched on what; `words` are what is said of the metric and the device."""
    experiment = search.experiment
    known = {"random": "random search", "halving": "successive halving", "grid": "all of a grid"}
    strategy = known.get(search.strategy, f"Optuna's {search.sampler} sampler")
    return (
        f"[bold]Tuning {experiment.title}[/bold] on {escape(experiment.dataset)} ({graph.num_nodes:,} nodes, "
        f"{graph.num_features:,} features, {graph.num_classes} classes): {experiment.preset}, {experiment.protocol}, "
        f"{search.splits} splits, {search.trials:,} trials and the defaults, {strategy}, {escape(words)}"
    )


def show(console: Console, tuned: Tuned, train: str) -> None:
    """The best trials, the choice, its score, and the command that trains it."""
    best = tuned.best
    search = best["search"]
    chosen = [f"{name} {value}" for name, value in _words(_values(tuned, search["trial"])).items()]
    _show_trials(console, tuned)
    console.print(f"{named(search['trial']).capitalize()}: {', '.join(chosen)}.")
    console.print(_scores(best))
    for sentence in reading(best):
        console.print(sentence, highlight=False)
    if "leak" in best:
        console.print(_leak(best), highlight=False)
    share = search["runs"] / search["runs_of_random_search"]
    saved = f", {share:.0%} of a search on all splits" if search["runs"] < search["runs_of_random_search"] else ""
    rate = search["runs"] / search["seconds"] if search["seconds"] else 0.0
    console.print(
        f"{search['runs']:,} runs{saved} in {search['seconds']:.1f} s of training ({rate:.1f} runs a second).",
        highlight=False,
    )
    console.print(f"Train the choice, for predictions and a report:\n  {train}", highlight=False, soft_wrap=True)


def _show_trials(console: Console, tuned: Tuned) -> None:
    """The trials that validation ranks first; what stands for several layers only where there is room."""
    metric = metric_of(tuned.best)
    ranking = tuned.results.ranking(len(tuned.best["seeds"]))
    words = {standing.trial: _words(_values(tuned, standing.trial)) for standing in ranking[:TOP]}
    names = [name for name, value in next(iter(words.values())).items() if "/" not in value or console.width >= WIDE]
    of = f"{len(words)} of {len(ranking):,} trials"
    if any(each.trial == DEFAULTS for each in ranking):
        of += ", the defaults among them"
    console.print(f"The best {of}, by mean validation {metric.title}:")
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    # A log loss is that of training already.
    losses = [] if metric.name == "log_loss" else ["loss"]
    for column in ("trial", metric.title, *losses, *names):
        table.add_column(column, justify="right", no_wrap=True)
    for standing in ranking[:TOP]:
        number = "defaults" if standing.trial == DEFAULTS else str(standing.trial)
        scores = [number, metric.text(reported(metric, standing.gain)), *(f"{standing.loss:.4f}" for _ in losses)]
        table.add_row(*scores, *(words[standing.trial][name] for name in names))
    console.print(table)


def _values(tuned: Tuned, trial: int) -> Mapping[str, Any]:
    """The values of a trial, also where it is the defaults."""
    return tuned.best["defaults"]["values"] if trial == DEFAULTS else tuned.results.values[trial]


def _words(values: Mapping[str, Any]) -> dict[str, str]:
    """Values as text: lr.first, lr.theta and lr.second under lr; drop_in, drop_hidden and drop_prop under drop."""
    together: dict[str, list[str]] = {}
    for name, value in values.items():
        short = re.split(r"[._]", name)[0]
        together.setdefault(short, []).append(f"{value:g}" if isinstance(value, float) else str(value))
    return {name: "/".join(each) for name, each in together.items()}


def _scores(best: Mapping[str, Any]) -> Table:
    metric = metric_of(best)
    # Of an estimate it is about nodes, which it counts.
    intervals = "of test scores by their nodes, else" if "nodes" in best["test"] else "of the mean"
    caption = f"95 % intervals: {intervals} by bootstrap over splits; std: between splits"
    title = f"{metric.title[0].upper()}{metric.title[1:]}{' in percent' if metric.percent else ', lower is better'}"
    table = Table(box=SIMPLE, title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in ("", "mean", "interval", "std"):
        table.add_column(column, justify="left" if column == "" else "right", no_wrap=True)

    def row(name: str, summary: Mapping[str, Any] | None, style: str | None = None) -> None:
        if summary is not None:
            low, high = summary["ci95"]
            figures = (summary["mean"], low, high, summary["std"])
            mean, low, high, std = map(metric.text, figures)
            table.add_row(name, mean, f"[{low}, {high}]", std, style=style)

    row("test, chosen by validation", best["test"])
    row("validation", best["val"])
    published, defaults = best["published"] or {}, best.get("defaults") or {}
    if defaults.get("trial") != best["search"]["trial"]:
        row("test, defaults", defaults.get("test"))
        row("validation, defaults", defaults.get("val"))
    row("test, published settings", published.get("test"), "dim")
    row("test, chosen by test scores", best.get("leak", {}).get("test_selected"), "dim")
    for name, key in (("paper", "paper"), ("authors' code, rerun", "rerun")):
        if published.get(key):
            mean, half = published[key]
            table.add_row(name, f"{mean:.2f}", f"± {half:.2f}", "", style="dim")
    return table


def _leak(best: Mapping[str, Any]) -> str:
    leak = best["leak"]
    return (
        f"Choosing by test scores instead ({named(leak['test_selected']['trial'])} of {leak['trials']:,}) would have "
        f"reported {leak['test_selected']['mean']:.2f}, {leak['gap']:.2f} points more than choosing by validation."
    )
