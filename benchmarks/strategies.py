"""`python -m benchmarks.strategies`: which strategy of `pcnet tune` finds better settings in the same time?

Every strategy searches the same space on the same splits, from the same seed, for as many seconds of training as a
random search of some trials takes. Seconds are those in which this process computed, which others on the machine
lengthen, too, but less than the time that passes; what asking for trials takes does not count. Trainings are short and
narrow, so that many fit in. What is measured is kept as it comes: the same command goes on where it was interrupted,
and one with more seeds adds them.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Command, page, quiet, start, with_origin
from benchmarks.graphs import labelled_graphs
from pcnet import Graph
from pcnet._files import read_json, write_json, write_text
from pcnet.data import STRATIFIED
from pcnet.experiment import DEFAULT_METHOD, resolve, splits_of
from pcnet.show import Cell, Table
from pcnet.training import Run, Targets, train
from pcnet.tune import DEFAULTS, WIDE, Results, Score, Search, space_of

#: The first one says how many seconds the others have.
WAYS = ("random", "halving", "optuna", "evolve")
#: Graphs, and what is tuned there: PCNet in the paper's space, or a deep method in its wide one.
CELLS = (
    ("texas", "pcnet"),
    ("cornell-fixed", "pcnet"),
    ("chameleon_filtered", "pcnet"),
    ("cora", "pcnet"),
    ("citeseer", "pcnet"),
    ("actor", "pcnet"),
    ("texas", "gcn"),
)
SHORT = ("hidden=16", "epochs=100", "stopping=patience", "patience=20")
#: More trials than the seconds are enough for.
MANY = 10_000
#: Runs that are trained together: what the clock can be read after.
TOGETHER = 12
NOTES = (
    "Accuracy in percent, means over seeds, which are those of the strategies; the splits are the same. The best score "
    "of many trials is an optimistic one; test scores took no part in the search.",
    "Halving has the trials of the random search, on fewer splits; a run takes longer there, since the twelve that are "
    "trained together are twelve filters, where random search has four on three splits.",
)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    quiet()
    file = options.out / "strategies.json"
    rows: list[dict[str, Any]] = read_json(file)["rows"] if file.exists() else []
    known = {(row["graph"], row["method"], row["seed"], row["strategy"]): row for row in rows}
    read = dict(labelled_graphs())
    for seed in range(options.seeds):
        for name, method in [cell for cell in CELLS if cell[0] in read and cell[0] in (options.graphs or read)]:
            graph, seconds = read[name](), float("inf")
            for strategy in WAYS:
                key = name, method, seed, strategy
                if key not in known:
                    row = searched(graph, method, strategy, seed, seconds, options)
                    known[key] = {"graph": name, "method": method, "seed": seed, "strategy": strategy, **row}
                    write_json(file, with_origin(options, {"rows": list(known.values())}))
                    print(*key, *(f"{figure} {row[figure]:.2f}" for figure in ("val", "test", "seconds")), flush=True)
                seconds = known[name, method, seed, WAYS[0]]["seconds"]
    report = with_origin(options, {"rows": list(known.values())})
    write_text(options.out / "strategies.md", page(report, *tables(report)))


def searched(
    graph: Graph, method: str, strategy: str, seed: int, seconds: float, options: argparse.Namespace
) -> dict[str, Any]:
    """The best trial so far by validation, whenever it was another one: seconds, validation score, test score."""
    experiment = resolve(graph, method, protocol=STRATIFIED, runs=options.splits).with_overrides(SHORT)
    space = space_of(method, None if method == DEFAULT_METHOD else WIDE).fixing(SHORT, experiment.model)
    # Those who learn go on until the time is over.
    trials = options.trials if strategy in ("random", "halving") else MANY
    search = Search(experiment, space, trials, strategy, seed=seed, shared=True)
    splits, metric = splits_of(graph, experiment), search.metric
    targets = [Targets.from_split(split) for split in splits]
    results, tests, spent, curve, best = Results(), defaultdict[int, list[float]](list), 0.0, [], None
    while spent < seconds and (jobs := search.jobs(results, ())):
        results.values |= {job.trial: job.values for job in jobs}
        places = [(job.trial, split) for job in jobs for split in job.splits][:TOGETHER]
        runs = [
            Run(*search.settings(trial, results.values[trial]), targets[split], search.seeds[split])
            for trial, split in places
        ]
        begin = time.process_time()
        outcomes = train(graph, runs, threads=1)
        spent += time.process_time() - begin
        for (trial, split), outcome in zip(places, outcomes, strict=True):
            results.scores[trial][split] = Score.of(outcome, targets[split], metric)
            nodes = splits[split].test
            tests[trial].append(metric.score(outcome.logits[nodes], splits[split].labels[nodes]))
        if (ranking := results.ranking(search.splits)) and ranking[0].trial != best:
            best = ranking[0].trial
            curve.append((spent, 100 * ranking[0].gain, float(np.mean(tests[best]))))
    _, val, test = curve[-1]
    return {
        "seconds": spent,
        "runs": results.runs,
        "trials": len({*results.scores} - {DEFAULTS}),
        "val": val,
        "test": test,
        "curve": curve,
    }


def tables(report: Mapping[str, Any]) -> list[Table]:
    """Means over the seeds, by validation and by test, and how soon a strategy was as good as the first one."""
    searches = {(row["graph"], row["method"], row["seed"], row["strategy"]): row for row in report["rows"]}
    complete: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for graph, method, seed in dict.fromkeys(key[:3] for key in searches):
        rows = {way: searches[key] for way in WAYS if (key := (graph, method, seed, way)) in searches}
        for way in WAYS if len(rows) == len(WAYS) else ():
            complete[graph, method][way].append(rows[way])
    sheets = []
    for figure, words in (("val", "validation score of the best trial"), ("test", "test score of that trial")):
        means = {cell: _means(ways, figure) for cell, ways in complete.items()}
        body = [
            [*cell, str(len(complete[cell][WAYS[0]])), *(_marked(score, own) for score in own)]
            for cell, own in means.items()
        ]
        if means:
            average = np.mean([*means.values()], axis=0)
            body.append(["mean", "", "", *(_marked(score, [*average]) for score in average)])
        sheets.append(Table(f"After the same seconds: {words}", ("graph", "method", "seeds", *WAYS), body, NOTES))
    sooner = [
        [
            *cell,
            f"{_means(ways, 'seconds')[0]:.0f}",
            *(f"{runs:.0f}" for runs in _means(ways, "runs")),
            *(f"{_reached(ways[way], ways[WAYS[0]]):.0%}" for way in WAYS),
        ]
        for cell, ways in complete.items()
    ]
    columns = ("graph", "method", "seconds", *(f"runs, {way}" for way in WAYS), *(f"as good, {way}" for way in WAYS))
    note = "As good: the share of the seconds after which the best validation score was what random search ended with;"
    sheets.append(Table("How soon", columns, sooner, (f"{note} all of them where it never was.",)))
    return sheets


def _means(ways: Mapping[str, Sequence[Mapping[str, Any]]], figure: str) -> list[float]:
    """Of each strategy, over its seeds."""
    return [float(np.mean([row[figure] for row in ways[way]])) for way in WAYS]


def _marked(score: float, others: Sequence[float]) -> Cell:
    return Cell(f"{score:.2f}", "strong" if score == max(others) else "")


def _reached(rows: Sequence[Mapping[str, Any]], first: Sequence[Mapping[str, Any]]) -> float:
    """The mean over seeds."""
    aim = {row["seed"]: (row["val"], row["seconds"]) for row in first}
    shares = []
    for row in rows:
        val, seconds = aim[row["seed"]]
        shares.append(min(1.0, next((spent / seconds for spent, own, _ in row["curve"] if own >= val), 1.0)))
    return float(np.mean(shares))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("strategies", __doc__)
    parser.add_argument("--graphs", nargs="*", metavar="NAME", help="default: all six that are at hand")
    parser.add_argument("--trials", type=int, default=80, help="of the random search (default: 80)")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
