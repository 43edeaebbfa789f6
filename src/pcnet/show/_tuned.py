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
from pcnet.show._members import members_of_file
from pcnet.show._report import Row, graph_words, print_notes, runs_table
from pcnet.show._table import Step, Table, provenance_list, with_interval
from pcnet.tune import DEFAULTS, ENSEMBLES, Search, Tuned, is_shared, metric_of, named, reading, reported

#: Trials in the table, and columns of a screen that has room for all their settings.
TOP, WIDE = 10, 110
EXPLANATION = """\
Test accuracy in percent, mean over the splits of each table. *Tuned on validation* is the setting with the
highest validation accuracy, scored on the test nodes after it was chosen; its interval is the 95 % percentile
bootstrap of the mean over splits. *Chosen by* says whether each split chose by its own validation nodes, or all
splits one setting together by their mean: then test nodes of one are validation nodes of others, and the score may
flatter. *Ensemble* is that of each split, chosen by the same nodes. *Published settings* are the paper's, which were
chosen by test scores, trained here on the same splits. *Chosen by test scores* is the highest test accuracy among
the same trials, chosen in the same way by test scores: what a search that may look at test labels would have
reported. *Leak* is how much that is above the choice by validation, in points. *Seconds* are those of the search.
"""


def tune_headline(graph: Graph, search: Search, words: str) -> str:
    """What is searched on what; `words` name the metric and the device."""
    experiment = search.experiment
    known = {"random": "random search", "halving": "successive halving", "evolve": "evolution", "grid": "all of a grid"}
    strategy = known.get(search.strategy, f"Optuna's {search.sampler} sampler")
    return (
        f"Tuning {experiment.title} on {graph_words(graph)}: {experiment.preset}, {experiment.protocol}, "
        f"{search.splits} splits, {search.trials:,} trials and the defaults, {strategy}, {words}; "
        f"{'one setting for all splits (--shared)' if search.shared else 'each split chooses for itself'}"
    )


def print_tuned(console: Console, graph: Graph, tuned: Tuned, steps: Sequence[Step]) -> None:
    """The best trials, the choice, its score, what to do next, and what has to be known besides."""
    best, search = tuned.best, tuned.best["search"]
    console.print(_trials(tuned, console.width >= WIDE).rich(), "", sep="\n")
    if is_shared(best):
        chosen = [f"{name} {value}" for name, value in _words(tuned, search["trial"]).items()]
        console.print(f"{named(search['trial']).capitalize()}: {', '.join(chosen)}.", "", sep="\n")
    else:
        members = members_of_file(best, best["ensembles"]["greedy"]["per_split"])
        console.print("The ensembles of all splits:", members.rich(), "", sep="\n")
    console.print(_of_search(best).rich(), "", sep="\n")
    share = search["runs"] / search["runs_of_random_search"]
    saved = f", {share:.0%} of a search on all splits" if share < 1 else ""
    rate = search["runs"] / search["seconds"] if search["seconds"] else 0.0
    work = f"{search['runs']:,} runs{saved} in {search['seconds']:.1f} s of training ({rate:.1f} runs a second)."
    console.print(*reading(best), sep="\n")
    if "leak" in best:
        leak, selected = best["leak"], best["leak"]["test_selected"]
        which = named(selected["trial"]) if is_shared(best) else "on each split one"
        console.print(
            f"Choosing by test scores instead ({which} of {leak['trials']:,}) would have reported "
            f"{selected['mean']:.2f}, {leak['gap']:.2f} points more than choosing by validation."
        )
    console.print(work)
    for step in steps:
        console.print(f"{step.what}\n  {step.command}", soft_wrap=True)
    print_notes(console, (*graph.notes, *best["notes"]))


def _trials(tuned: Tuned, wide: bool) -> Table:
    """The trials that validation ranks first, of all splits or of each; of several layers only where there is room."""
    metric, best = metric_of(tuned.best), tuned.best
    if is_shared(best):
        ranking = tuned.results.ranking(len(best["seeds"]))
        shown = {str(place): standing for place, standing in enumerate(ranking[:TOP])}
        title = f"The best {len(shown)} of {len(ranking):,} trials"
        title += ", the defaults among them" * any(each.trial == DEFAULTS for each in ranking)
    else:
        firsts = (tuned.results.ranking_on([split])[0] for split in range(len(best["seeds"])))
        shown = {str(seed): standing for seed, standing in zip(best["seeds"], firsts, strict=True)}
        title = f"On each split, by its seed, the best of {best['search']['complete_trials']:,} trials"
    words = {standing.trial: _words(tuned, standing.trial) for standing in shown.values()}
    names = [name for name, value in next(iter(words.values())).items() if "/" not in value or wide]
    first = [] if is_shared(best) else ["split"]
    # A log loss is that of training already.
    losses = [] if metric.name == "log_loss" else ["loss"]
    rows = [
        [
            *(seed for _ in first),
            "defaults" if standing.trial == DEFAULTS else str(standing.trial),
            metric.text(reported(metric, standing.gain)),
            *(f"{standing.loss:.4f}" for _ in losses),
            *(words[standing.trial][name] for name in names),
        ]
        for seed, standing in shown.items()
    ]
    mean = "mean " * is_shared(best)
    return Table(
        f"{title}, by {mean}validation {metric.title}:", (*first, "trial", metric.title, *losses, *names), rows
    )


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
    if "better_by" not in defaults:
        defaults = {}
    how = "all splits together (shared)" if is_shared(best) else "each split"
    summaries = {
        f"test, chosen by {how}": best["test"],
        "validation": best["val"],
        **{f"test, {ENSEMBLES[rule]}": found["test"] for rule, found in best.get("ensembles", {}).items()},
        **{f"validation, {ENSEMBLES[rule]}": found["val"] for rule, found in best.get("ensembles", {}).items()},
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
        place = [
            row["table"],
            row["dataset"],
            f"{search['trials']:,}",
            "all splits" if is_shared(row) else "each split",
        ]
        ensemble = f"{row['ensembles']['greedy']['test']['mean']:.2f}" if row.get("ensembles") else ""
        cells.append([*place, *honest, ensemble, *others, f"{search['seconds']:.0f}"])
    score = ("tuned on validation", "95 % interval", "ensemble", "published settings", "paper", "chosen by test scores")
    columns = ("table", "dataset", "trials", "chosen by", *score, "leak", "seconds")
    return Table("", columns, cells, words=("dataset", "chosen by"), wrap=True)


def write_tuned_tables(out: Path, bests: Sequence[Mapping[str, Any]], command: str) -> list[dict[str, Any]]:
    """tuned-tables.json and .md in a folder, out of the `best.json` of each search; returns the rows."""
    same = ("dataset", "protocol", "val", "test", "published", "split_hashes", "notes")
    made = ("command", "date", "machine", "versions")
    rows = [
        {
            "table": best["preset"],
            **{key: best[key] for key in same},
            "search": {key: value for key, value in best["search"].items() if key != "space"},
            "settings": {key: best[key] for key in ("model", "training", "settings", "seeds") if key in best},
            **{key: best[key] for key in ("per_split", "ensembles", "overlap") if key in best},
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
        f"# Chosen by all splits together, by mean validation accuracy in percent, from the grid in ../{method}.toml;",
        "# `pcnet tune TABLE --shared --method NAME` searches again and writes this file.",
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
