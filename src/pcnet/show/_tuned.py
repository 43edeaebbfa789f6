"""What `pcnet tune` prints, and the files of tables that were searched whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import read_toml, write_json, write_text
from pcnet.compare import METRICS, Summary
from pcnet.graph import Graph
from pcnet.show._report import Row, graph_words, print_notes, runs_table
from pcnet.show._table import Table, provenance_list, with_interval
from pcnet.tune import DEFAULTS, Search, Tuned, metric_of, named, reading, reported

#: Trials in the table, and columns of a screen that has room for all their settings.
TOP, WIDE = 10, 110
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
    known = {"random": "random search", "halving": "successive halving", "evolve": "evolution", "grid": "all of a grid"}
    strategy = known.get(search.strategy, f"Optuna's {search.sampler} sampler")
    return (
        f"Tuning {experiment.title} on {graph_words(graph)}: {experiment.preset}, {experiment.protocol}, "
        f"{search.splits} splits, {search.trials:,} trials and the defaults, {strategy}, {words}"
    )


def print_tuned(console: Console, graph: Graph, tuned: Tuned, train: str) -> None:
    """The best trials, the choice, its score, the command that trains it, and what has to be known besides."""
    best, search = tuned.best, tuned.best["search"]
    chosen = [f"{name} {value}" for name, value in _words(tuned, search["trial"]).items()]
    console.print(_trials(tuned, console.width >= WIDE).rich(), "", sep="\n")
    console.print(f"{named(search['trial']).capitalize()}: {', '.join(chosen)}.", "", sep="\n")
    console.print(_of_search(best).rich(), "", sep="\n")
    share = search["runs"] / search["runs_of_random_search"]
    saved = f", {share:.0%} of a search on all splits" if share < 1 else ""
    rate = search["runs"] / search["seconds"] if search["seconds"] else 0.0
    work = f"{search['runs']:,} runs{saved} in {search['seconds']:.1f} s of training ({rate:.1f} runs a second)."
    console.print(*reading(best), sep="\n")
    if "leak" in best:
        leak, selected = best["leak"], best["leak"]["test_selected"]
        console.print(
            f"Choosing by test scores instead ({named(selected['trial'])} of {leak['trials']:,}) would have reported "
            f"{selected['mean']:.2f}, {leak['gap']:.2f} points more than choosing by validation."
        )
    console.print(work)
    console.print(f"Train the choice, for predictions and a report:\n  {train}", soft_wrap=True)
    print_notes(console, (*graph.notes, *best["notes"]))


def _trials(tuned: Tuned, wide: bool) -> Table:
    """The trials that validation ranks first; what stands for several layers only where there is room."""
    metric = metric_of(tuned.best)
    ranking = tuned.results.ranking(len(tuned.best["seeds"]))
    words = {standing.trial: _words(tuned, standing.trial) for standing in ranking[:TOP]}
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


def _words(tuned: Tuned, trial: int) -> dict[str, str]:
    """A trial's values: lr.first, lr.theta and lr.second under lr; drop_in, drop_hidden and drop_prop under drop."""
    values = tuned.best["defaults"]["values"] if trial == DEFAULTS else tuned.results.values[trial]
    together: dict[str, list[str]] = {}
    for name, value in values.items():
        short = re.split(r"[._]", name)[0]
        together.setdefault(short, []).append(f"{value:g}" if isinstance(value, float) else str(value))
    return {name: "/".join(each) for name, each in together.items()}


def _of_search(best: Mapping[str, Any]) -> Table:
    metric, published, defaults = metric_of(best), best["published"] or {}, best.get("defaults") or {}
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
    rows: list[Row] = [(name, metric, found and Summary.from_dict(found)) for name, found in summaries.items()]
    rows += [("paper", metric, published.get("paper")), ("authors' code, rerun", metric, published.get("rerun"))]
    # Of an estimate it is about nodes, which it counts.
    intervals = "of test scores by their nodes, else" if "nodes" in best["test"] else "of the mean"
    note = f"95 % intervals: {intervals} by bootstrap over splits; ±: their larger half; std: between splits"
    return runs_table(rows, note)


def tuned_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each search of a cell of a table: what is left of a score, and what a leak adds to it."""
    cells = []
    for row in rows:
        published, leak, search, test = row["published"], row["leak"], row["search"], row["test"]
        figures = [
            published["test"]["mean"] if "test" in published else None,
            published["paper"][0] if published.get("paper") else None,
            *([leak["test_selected"]["mean"], leak["gap"]] if leak else [None, None]),
        ]
        others = ["" if figure is None else f"{figure:.2f}" for figure in figures]
        honest = [f"{test['mean']:.2f}", with_interval(METRICS["accuracy"], interval=test["ci95"])]
        place = [row["table"], row["dataset"], f"{search['trials']:,}"]
        cells.append([*place, *honest, *others, f"{search['seconds']:.0f}"])
    score = ("tuned on validation", "95 % interval", "published settings", "paper", "chosen by test scores", "leak")
    columns = ("table", "dataset", "trials", *score, "seconds")
    return Table("", columns, cells, words=("dataset",), wrap=True)


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


def write_chosen(folder: Path, method: str, bests: Sequence[Mapping[str, Any]]) -> Path:
    """Add the choices to `folder`/METHOD.toml, for presets to be read from; cells of other searches stay."""
    path = folder / f"{method}.toml"
    tables: dict[str, dict[str, Any]] = read_toml(path) if path.exists() else {}
    for best in bests:
        tables.setdefault(best["preset"], {})[best["dataset"]] = _cell(best)
    lines = [
        f"# Chosen by mean validation accuracy, in percent beside each, from the grid in ../{method}.toml;",
        "# `pcnet tune TABLE --method NAME` searches again and writes this file.",
    ]
    for table, cells in sorted(tables.items()):
        for dataset, cell in cells.items():
            lines += ["", f"[{table}.{dataset}]", *(f"{key} = {_inline(value)}" for key, value in cell.items())]
    write_text(path, "\n".join(lines) + "\n")
    return path


def _cell(best: Mapping[str, Any]) -> dict[str, Any]:
    """What was searched, as a method's file has it, and where it comes from."""
    names = dict.fromkeys(axis.partition(".")[0] for axis in best["search"]["space"])
    return {
        "source": f"validation on {len(best['seeds'])} splits, {best['search']['trials']} settings",
        **{part: {name: best[part][name] for name in names if name in best[part]} for part in ("model", "training")},
        "validation": round(best["val"]["mean"], 2),
        **{key: best[key] for key in ("command", "date", "machine")},
    }


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(each)}" for key, each in value.items()) + " }" if value else "{}"
    return json.dumps(value, ensure_ascii=False)
