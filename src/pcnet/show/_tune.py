"""What a search shows: one on the screen, those of whole tables as a table and in files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import write_json, write_text
from pcnet.compare import METRICS
from pcnet.graph import Graph
from pcnet.show._table import Table, soft
from pcnet.show._template import capitalised, provenance_list, with_interval
from pcnet.show._train import graph_words
from pcnet.tune import DEFAULTS, Search, Tuned, metric_of, named, reading, reported

#: Trials in the table, and columns of a screen that has room for all their settings.
TOP, WIDE = 10, 110
COLUMNS = (
    "table",
    "dataset",
    "trials",
    "tuned on validation",
    "95 % interval",
    "published settings",
    "paper",
    "chosen by test scores",
    "leak",
    "seconds",
)
EXPLANATION = """\
Test accuracy in percent, mean over the splits of each table. *Tuned on validation* is the setting with the
highest mean validation accuracy, scored on the test nodes after it was chosen; its interval is the 95 %
percentile bootstrap of the mean over splits. *Published settings* are the paper's, which were chosen by test
scores, trained here on the same splits. *Chosen by test scores* is the highest mean test accuracy among the
same trials: what a search that may look at test labels would have reported. *Leak* is how much that is above
the honest choice, in points, between the two trials; the chosen setting is trained once more for its score,
which a GPU may round another way. *Seconds* are those of the search.
"""


def tune_headline(graph: Graph, search: Search, words: str) -> str:
    """What is searched on what; `words` name the metric and the device."""
    experiment = search.experiment
    known = {"random": "random search", "halving": "successive halving", "grid": "all of a grid"}
    strategy = known.get(search.strategy, f"Optuna's {search.sampler} sampler")
    return (
        f"Tuning {experiment.title} on {graph_words(graph)}: {experiment.preset}, {experiment.protocol}, "
        f"{search.splits} splits, {search.trials:,} trials and the defaults, {strategy}, {words}"
    )


def print_tuned(console: Console, tuned: Tuned, train: str) -> None:
    """The best trials, the choice, its score, and the command that trains it."""
    best, search = tuned.best, tuned.best["search"]
    chosen = [f"{name} {value}" for name, value in _words(_values(tuned, search["trial"])).items()]
    console.print(_trials(tuned, console.width >= WIDE).rich(), "", sep="\n")
    console.print(f"{named(search['trial']).capitalize()}: {', '.join(chosen)}.", "", sep="\n")
    console.print(_scores(best).rich(), "", sep="\n")
    share, saved = search["runs"] / search["runs_of_random_search"], ""
    if search["runs"] < search["runs_of_random_search"]:
        saved = f", {share:.0%} of a search on all splits"
    rate = search["runs"] / search["seconds"] if search["seconds"] else 0.0
    work = f"{search['runs']:,} runs{saved} in {search['seconds']:.1f} s of training ({rate:.1f} runs a second)."
    for sentence in (*reading(best), *_leak(best), work):
        console.print(sentence, highlight=False, markup=False)
    command = f"Train the choice, for predictions and a report:\n  {train}"
    console.print(command, highlight=False, markup=False, soft_wrap=True)


def _trials(tuned: Tuned, wide: bool) -> Table:
    """The trials that validation ranks first; what stands for several layers only where there is room."""
    metric = metric_of(tuned.best)
    ranking = tuned.results.ranking(len(tuned.best["seeds"]))
    words = {standing.trial: _words(_values(tuned, standing.trial)) for standing in ranking[:TOP]}
    names = [name for name, value in next(iter(words.values())).items() if "/" not in value or wide]
    title = f"The best {len(words)} of {len(ranking):,} trials"
    title += ", the defaults among them" * any(each.trial == DEFAULTS for each in ranking)
    # A log loss is that of training already.
    losses = [] if metric.name == "log_loss" else ["loss"]
    rows = [
        [
            "defaults" if standing.trial == DEFAULTS else str(standing.trial),
            metric.text(reported(metric, standing.gain)),
            *(f"{standing.loss:.4f}" for _ in losses),
            *(words[standing.trial][name] for name in names),
        ]
        for standing in ranking[:TOP]
    ]
    return Table(f"{title}, by mean validation {metric.title}:", ("trial", metric.title, *losses, *names), rows)


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
    metric, rows = metric_of(best), []
    published, defaults = best["published"] or {}, best.get("defaults") or {}
    if defaults.get("trial") == best["search"]["trial"]:
        defaults = {}
    summaries = {
        "test, chosen by validation": best["test"],
        "validation": best["val"],
        "test, defaults": defaults.get("test"),
        "validation, defaults": defaults.get("val"),
        "test, published settings": published.get("test"),
        "test, chosen by test scores": best.get("leak", {}).get("test_selected"),
    }
    for name, found in summaries.items():
        if found is not None:
            row = [name, metric.text(found["mean"]), with_interval(metric, None, found["ci95"])]
            row.append(metric.text(found["std"]))
            rows.append(soft(row) if "published" in name or "by test" in name else row)
    for name, key in (("paper", "paper"), ("authors' code, rerun", "rerun")):
        if published.get(key):
            rows.append(soft([name, f"{published[key][0]:.2f}", f"± {published[key][1]:.2f}"]))
    # Of an estimate it is about nodes, which it counts.
    intervals = "of test scores by their nodes, else" if "nodes" in best["test"] else "of the mean"
    note = f"95 % intervals: {intervals} by bootstrap over splits; std: between splits"
    title = f"{capitalised(metric.title)}{' in percent' if metric.percent else ', lower is better'}"
    return Table(title, ("", "mean", "interval", "std"), rows, (note,))


def _leak(best: Mapping[str, Any]) -> list[str]:
    if "leak" not in best:
        return []
    leak, selected = best["leak"], best["leak"]["test_selected"]
    return [
        f"Choosing by test scores instead ({named(selected['trial'])} of {leak['trials']:,}) would have reported "
        f"{selected['mean']:.2f}, {leak['gap']:.2f} points more than choosing by validation."
    ]


def tuned_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each search of a cell of a table: what is left of a score, and what a leak adds to it."""
    cells = []
    for row in rows:
        published, leak = row["published"], row["leak"]
        figures = [
            row["test"]["mean"],
            None,
            published["test"]["mean"] if "test" in published else None,
            published["paper"][0] if published.get("paper") else None,
            leak["test_selected"]["mean"] if leak else None,
            leak["gap"] if leak else None,
        ]
        texts = ["" if figure is None else f"{figure:.2f}" for figure in figures]
        texts[1] = with_interval(METRICS["accuracy"], None, row["test"]["ci95"])
        cells.append(
            [row["table"], row["dataset"], f"{row['search']['trials']:,}", *texts, f"{row['search']['seconds']:.0f}"]
        )
    return Table("", COLUMNS, cells, words=("dataset",), wrap=True)


def write_tuned_tables(out: Path, bests: Sequence[Mapping[str, Any]], command: str) -> list[dict[str, Any]]:
    """tuned-tables.json and .md in a folder, out of the `best.json` of each search; returns the rows."""
    same = ("dataset", "protocol", "val", "test", "published", "split_hashes", "notes")
    made = ("command", "date", "machine", "versions")
    rows = [
        {
            "table": best["preset"],
            **{key: best[key] for key in same},
            "search": {key: value for key, value in best["search"].items() if key != "space"},
            "settings": {"model": best["model"], "training": best["training"], "seeds": best["seeds"]},
            "leak": best.get("leak"),
            **{key: best[key] for key in made},
        }
        for best in bests
    ]
    report = {
        "command": command,
        "ci95": "percentile bootstrap interval of the mean over splits, 1000 resamples",
        "leak": "test accuracy of the trial with the highest test accuracy minus that of the trial with the highest "
        "validation accuracy, in points, among the same trials",
        "cells": rows,
    }
    write_json(out / "tuned-tables.json", report)
    head = f"# PCNet tuned on validation alone\n\n{EXPLANATION}\n{provenance_list(rows, command)}\n"
    write_text(out / "tuned-tables.md", head + tuned_table(rows).markdown())
    return rows
