"""`python -m benchmarks.truth`: what `pcnet train` says of nodes without a label, held against their true labels.

Of every labelled graph at hand, 40 % of the labels are hidden at random, three times. A method is then trained as
`pcnet train` trains it on somebody's own graph: stratified runs for the estimate and its 95 % interval, members that
know every remaining label for the predictions. The hidden labels are read once, to score those predictions. What is
measured is kept as it comes: the same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from benchmarks.command import Command, page, start, with_origin
from benchmarks.graphs import labelled_graphs
from pcnet import PcnetWarning
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import METRICS, logits_of
from pcnet.experiment import MEMBERS, Ensemble, resolve, run_experiment
from pcnet.graph import Graph
from pcnet.show import Table

SHARE, TIMES, METHODS = 0.4, 3, ("pcnet", "gcn", "mlp")
#: Graphs with so many labels must be met within so many points, and so many cases of a hundred lie in their interval.
MANY, POINTS, INSIDE = 2_000, 1.5, 85.0


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    file = options.out / "truth.json"
    kept = read_json(file)["cells"] if file.exists() else []
    cells = {(cell["graph"], cell["hidden_by_seed"], cell["method"]): cell for cell in kept}
    console = Console()
    for name, read in labelled_graphs():
        wanted = [key for key in itertools.product([name], range(TIMES), options.methods) if key not in cells]
        if not wanted or (options.graphs and name not in options.graphs):
            continue
        graph = read()
        for key in wanted:
            cells[key] = cell = {"graph": name, "hidden_by_seed": key[1], "method": key[2]} | measured(
                graph, *key[1:], options
            )
            console.print(
                f"{name} {key[2]}: {cell['estimate']:.2f} [{cell['low']:.2f}, {cell['high']:.2f}], "
                f"truth {cell['truth']:.2f}, {cell['seconds']:.0f} s",
                highlight=False,
            )
            write_json(file, with_origin(options, {"cells": list(cells.values())}))
    report = with_origin(options, {"summary": summary(list(cells.values())), "cells": list(cells.values())})
    write_json(file, report)
    write_text(options.out / "truth.md", page(report, table(report)))
    console.print(report["summary"])


def hide(graph: Graph, seed: int) -> tuple[Graph, torch.Tensor]:
    """The graph without a random 40 % of its labels, and the nodes that lost theirs."""
    known = (graph.y >= 0).nonzero().flatten()
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(known)))
    hidden = known[order[: round(SHARE * len(known))]]
    y = graph.y.clone()
    y[hidden] = -1
    return replace(graph, y=y, classes=graph.classes or tuple(range(graph.num_classes))), hidden


def measured(graph: Graph, seed: int, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """What is said beforehand, and what was right."""
    visible, hidden = hide(graph, seed)
    experiment = resolve(visible, method)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PcnetWarning)
        result = run_experiment(visible, experiment, members=MEMBERS, threads=options.threads, device=options.device)
    ensemble = Ensemble.of(visible, result.predictor, experiment.metric)
    probabilities = ensemble.probabilities(visible, options.device)
    truth = METRICS[experiment.metric].score(logits_of(probabilities[hidden]), graph.y[hidden])
    said = result.headline
    low, high = said.ci95
    return {
        "metric": experiment.metric,
        "labelled": int((visible.y >= 0).sum()),
        "hidden": len(hidden),
        "estimate": said.mean,
        "measured": said.measured,
        "low": low,
        "high": high,
        "single_runs": float(np.mean(said.per_run)),
        "truth": truth,
        "inside": low <= truth <= high,
        "seconds": time.perf_counter() - start,
    }


def summary(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How often the interval held, how far estimates were off, and how often an order that was said was wrong."""
    large = [cell for cell in cells if cell["labelled"] + cell["hidden"] >= MANY]
    right = wrong = 0
    for _, group in itertools.groupby(cells, key=lambda cell: (cell["graph"], cell["hidden_by_seed"])):
        for one, other in itertools.permutations(group, 2):
            if one["low"] > other["high"]:
                right, wrong = right + (one["truth"] > other["truth"]), wrong + (one["truth"] <= other["truth"])
    return {
        "cases": len(cells),
        "inside": sum(cell["inside"] for cell in cells),
        "goal_inside_percent": INSIDE,
        "large_graphs": sorted({cell["graph"] for cell in large}),
        "mean_difference_large": _mean_difference(large),
        "mean_difference": _mean_difference(cells),
        "goal_difference_large": POINTS,
        "orders_said": right + wrong,
        "orders_right": right,
    }


def _mean_difference(cells: Sequence[Mapping[str, Any]]) -> float | None:
    return float(np.mean([abs(cell["estimate"] - cell["truth"]) for cell in cells])) if cells else None


def table(report: Mapping[str, Any]) -> Table:
    found, cells = report["summary"], report["cells"]
    share = 100 * found["inside"] / found["cases"]
    off = found["mean_difference_large"]
    large = "–" if off is None else f"{off:.2f}"
    return Table(
        "What `pcnet train` says, and what is true",
        (
            "graph",
            "method",
            "metric",
            "labelled",
            "hidden",
            "estimate",
            "95 % interval",
            "truth",
            "inside",
            "single runs",
        ),
        [
            [
                cell["graph"],
                cell["method"],
                METRICS[cell["metric"]].title,
                f"{cell['labelled']:,}",
                f"{cell['hidden']:,}",
                f"{cell['estimate']:.2f}",
                f"[{cell['low']:.2f}, {cell['high']:.2f}]",
                f"{cell['truth']:.2f}",
                "yes" if cell["inside"] else "**no**",
                f"{cell['single_runs']:.2f}",
            ]
            for cell in cells
        ],
        (
            f"The interval holds the truth in **{found['inside']} of {found['cases']} cases** ({share:.0f} %; "
            f"goal: {found['goal_inside_percent']:.0f} %).",
            f"On graphs with 2,000 labelled nodes or more the estimate is off by **{large} points** on average "
            f"(goal: {found['goal_difference_large']} at most); on all graphs by {found['mean_difference']:.2f}.",
            "Where the intervals of two methods do not overlap, their order on the hidden nodes is the predicted one "
            f"in **{found['orders_right']} of {found['orders_said']}** cases.",
            "Of every labelled graph at hand 40 % of the labels are hidden at random, three times. *Estimate* is what "
            "`pcnet train` prints for the nodes without a label, from the other labels alone, with its 95 % interval; "
            "*truth* is the score of its predictions on the hidden nodes, whose labels were read once, for this table. "
            "*Single runs* is the mean test score of the runs behind the estimate. Scores are in percent.",
        ),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("truth", __doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR")
    parser.add_argument("--graphs", nargs="*", metavar="NAME", help="default: all at hand")
    parser.add_argument("--methods", nargs="*", default=METHODS, metavar="NAME")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--device", default="cpu")
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
