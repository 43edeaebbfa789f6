"""`python -m benchmarks.advice`: is the method that `pcnet inspect` names first among the best of a comparison?

For every graph at hand: the probe and what it advises, and every method's defaults on stratified splits that the probe
does not have. What is trained stays in a folder: the same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Command, page, quiet, start, with_origin
from benchmarks.graphs import labelled_graphs
from pcnet import Graph, inspect_graph
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import metric_named, summarise
from pcnet.data import STRATIFIED
from pcnet.experiment import resolve, run_experiment
from pcnet.show import Cell, Table

METHODS = ("mlp", "gcn", "acmgcn", "h2gcn", "linkx", "pcnet")
#: The probe has the seeds from 0 on.
FIRST_SEED = 10


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    quiet()
    rows = []
    for name, read in labelled_graphs():
        if options.graphs and name not in options.graphs:
            continue
        graph = read()
        advice = {} if options.only_compare else advised(graph, name, options)
        cells = {method: compared(graph, name, method, options) for method in options.methods}
        if advice:
            rows.append(row_of(name, graph, advice, cells))
    report = with_origin(options, {"first_seed": FIRST_SEED, "protocol": STRATIFIED, "rows": rows})
    if options.out is not None and rows:
        write_json(options.out / "advice.json", report)
        write_text(options.out / "advice.md", page(report, *tables(report)))
    print(page(report, *tables(report)))


def advised(graph: Graph, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the inspection found and how long it took; what was there is kept."""
    path = options.store / f"{name}-inspect.json"
    if not path.exists():
        start, computing = time.perf_counter(), time.process_time()
        found = inspect_graph(graph, device=options.device)
        taken = {"seconds": time.perf_counter() - start, "computing_s": time.process_time() - computing}
        write_json(path, {**taken, "probe": found.as_dict()["probe"], **found.advice.as_dict()})
    return dict(read_json(path))


def compared(graph: Graph, name: str, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """A method's test scores, by the seed of the split; those that were there are kept."""
    path = options.store / f"{name}-{method}.json"
    cell: dict[str, Any] = read_json(path) if path.exists() else {"scores": {}, "seconds": 0.0}
    experiment = resolve(graph, method, protocol=STRATIFIED)
    wanted = [seed for seed in range(FIRST_SEED, FIRST_SEED + options.splits) if str(seed) not in cell["scores"]]
    for place in range(0, 0 if options.only_stored else len(wanted), options.together):
        seeds = tuple(wanted[place : place + options.together])
        start = time.perf_counter()
        result = run_experiment(graph, replace(experiment, seeds=seeds), device=options.device)
        cell["scores"] |= dict(zip(map(str, seeds), result.test[experiment.metric].per_run, strict=True))
        cell |= {"metric": experiment.metric, "seconds": cell["seconds"] + time.perf_counter() - start}
        write_json(path, cell)
        print(f"{name} {method}: {np.mean(list(cell['scores'].values())):.2f} of {len(cell['scores'])}", flush=True)
    return cell


def row_of(name: str, graph: Graph, advice: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, Any]:
    """The method named first next to the best, on the splits that both had."""
    first = advice["methods"][0]["method"]
    metric = metric_named(advice["probe"]["metric"])
    scores = {method: cell["scores"] for method, cell in cells.items() if cell["scores"]}

    def ahead(method: str) -> list[float]:
        """By how much a method is better than the one named first, split by split."""
        shared = [seed for seed in scores[first] if seed in scores[method]]
        return [metric.sign * (scores[method][seed] - scores[first][seed]) for seed in shared]

    best = max(scores, key=lambda method: float(np.mean(ahead(method))))
    difference, own = summarise(ahead(best)), summarise(list(scores[best].values()))
    named = float(np.mean([scores[first][seed] for seed in scores[best] if seed in scores[first]]))
    return {
        "graph": name,
        "nodes": graph.num_nodes,
        "metric": metric.name,
        "named_first": first,
        "settings": advice["methods"][0]["settings"],
        "named_mean": named,
        "best": best,
        "best_mean": own.mean,
        "best_ci95": list(own.ci95),
        "difference": difference.mean,
        "difference_ci95": list(difference.ci95),
        "within": named >= own.ci95[0] if metric.sign > 0 else named <= own.ci95[1],
        "tied": difference.ci95[0] <= 0,
        "inspect_seconds": advice["seconds"],
        "inspect_computing_s": advice["computing_s"],
        "left_out": advice["probe"]["left_out"],
        "means": {method: float(np.mean(list(each.values()))) for method, each in scores.items()},
        "splits": {method: len(each) for method, each in scores.items()},
    }


def tables(report: Mapping[str, Any]) -> tuple[Table, Table]:
    """The verdicts, and all means."""
    rows = report["rows"]
    within, tied = (sum(row[verdict] for row in rows) for verdict in ("within", "tied"))
    verdicts = Table(
        f"What pcnet inspect names first, and the best of a comparison: {within} of {len(rows)} within its interval",
        (
            "graph",
            "metric",
            "named first",
            "its mean",
            "best",
            "its mean",
            "best − first",
            "within",
            "tied",
            "inspect, s",
        ),
        [
            [
                f"{row['graph']} ({row['nodes']:,})",
                row["metric"],
                " ".join([row["named_first"], *row["settings"]]),
                f"{row['named_mean']:.2f}",
                row["best"],
                f"{row['best_mean']:.2f} [{row['best_ci95'][0]:.2f}, {row['best_ci95'][1]:.2f}]",
                f"{row['difference']:.2f} [{row['difference_ci95'][0]:.2f}, {row['difference_ci95'][1]:.2f}]",
                *("yes" if row[verdict] else Cell("no", "strong") for verdict in ("within", "tied")),
                f"{row['inspect_computing_s']:.0f}",
            ]
            for row in rows
        ],
        (
            "Named first: by the probe alone, whose splits have the seeds from 0 on. Compared: every method's defaults "
            f"on {report['protocol']} with the seeds from {report['first_seed']} on, scored by the metric of the rule.",
            "Within: the mean of the method named first is in the 95 % bootstrap interval of the best one's mean. Tied "
            f"({tied} of {len(rows)}), which is harder: the interval of their differences, split by split, reaches 0. "
            "The best is picked by these same runs, which favours it.",
            "inspect, s: seconds of computing on the CPU, of all its cores together.",
        ),
    )
    means = Table(
        "Means of the comparison",
        ("graph", *METHODS, "not tried by the probe"),
        [
            [
                row["graph"],
                *(
                    f"{row['means'][method]:.2f} ({row['splits'][method]})" if method in row["means"] else "–"
                    for method in METHODS
                ),
                ", ".join(row["left_out"]) or "",
            ]
            for row in rows
        ],
        (
            "In brackets the splits: what takes minutes a run has fewer of them, or was left out (–).",
            "musae-engb: read by this benchmark, with streams, days, views and partner as features.",
        ),
    )
    return verdicts, means


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("advice", __doc__)
    parser.add_argument("--graphs", nargs="*", metavar="NAME", help="default: all at hand")
    parser.add_argument("--methods", nargs="+", metavar="NAME", default=METHODS)
    parser.add_argument("--splits", type=int, default=10, metavar="N", help="splits of the comparison")
    parser.add_argument("--together", type=int, default=5, metavar="N", help="runs trained side by side, then kept")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; default: cpu")
    parser.add_argument("--only-compare", action="store_true", help="inspect nothing")
    parser.add_argument("--only-stored", action="store_true", help="compare no more than what is kept")
    parser.add_argument("--store", type=Path, default=Path("runs/advice"), metavar="DIR", help="keeps what is trained")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write advice.json and advice.md")
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
