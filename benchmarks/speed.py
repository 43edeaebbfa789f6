"""`python -m benchmarks.speed`: the library on real graphs, beside the plain scheme and what it sets out to do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
from rich.console import Console

from benchmarks.command import Command, console, keep, quiet, show, start
from benchmarks.effort import Effort
from benchmarks.filters import filters
from benchmarks.graphs import Sample
from benchmarks.memory import saved_bytes
from benchmarks.neighbour import compare_neighbour
from benchmarks.race import Race
from benchmarks.tables import section_tables
from benchmarks.timing import Others, Spread, complaint
from benchmarks.training import compare_training
from pcnet import Graph, PcnetError, PCNetSettings, load_dataset
from pcnet.experiment import Experiment, resolve

DATASETS = ("cora", "texas", "actor", "pubmed", "citeseer")
QUICK = ("cora", "texas", "citeseer")
#: Times faster than the plain scheme: an epoch of training, and propagation with ten runs, which it has one by one.
TRAINING = {"cora": 40.0, "actor": 40.0, "texas": 15.0, "pubmed": 15.0}
PROPAGATION = {"pubmed": 10.0}
#: Bytes kept over bytes of x that the library allows itself, at this order.
MEMORY, MEMORY_ORDER = 1.2, 10
ORDERS = (2, 3, 5, 10, 15, 20)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    quiet()
    keep(options, {"threads": options.threads, "sections": measure(options, console())})


def measure(options: argparse.Namespace, screen: Console) -> dict[str, Any]:
    """Every section, shown as soon as it is there."""
    graphs = _load(options.datasets, screen)
    experiments = {name: resolve(name, preset="table2") for name in graphs}
    # Propagation costs most on the largest graph; a neighbour is felt most where kernels are short.
    large = max(graphs, key=lambda name: graphs[name].num_nodes)
    small = "cora" if "cora" in graphs else large
    model = experiments[large].model
    effort = Effort.planned(threads=options.threads, rounds=3 if options.quick else 7)
    effort = replace(effort, seconds=0.3 if options.quick else 0.7)
    sections = {
        "training": lambda: check_training(graphs, experiments, effort),
        "propagation": lambda: compare_propagation(graphs[large], model, effort),
        "memory": lambda: compare_memory(graphs[large], model),
        "neighbour": lambda: compare_neighbour(graphs[small], experiments[small], effort.threads, 3, effort.seconds),
    }
    results: dict[str, Any] = {"other_processes": {}}
    for name, section in sections.items():
        others = Others()
        with screen.status(name):
            results[name] = section()
        results["other_processes"][name] = busy = others.cores()
        show(screen, *section_tables(name, results[name]))
        if name != "neighbour" and complaint(busy):
            screen.print(complaint(busy), style="yellow")
    return results


def check_training(
    graphs: dict[str, Graph], experiments: dict[str, Experiment], effort: Effort
) -> dict[str, list[dict[str, Any]]]:
    """The experiments' own runs, against the plain scheme; see `compare_training`."""
    rows = []
    for name, graph in graphs.items():
        (row,) = compare_training(graph, experiments[name], effort.cores, effort.rounds, effort.seconds)
        target = TRAINING.get(name)
        rows.append({**row, "target": target, "met": None if target is None else row["ratio"]["median"] >= target})
    return {"rows": rows}


def compare_propagation(graph: Graph, settings: PCNetSettings, effort: Effort) -> dict[str, Any]:
    """Milliseconds per run of a forward and a backward over the logits of one run, and of ten side by side."""
    race, sample = Race(replace(effort, seconds=effort.seconds / 5)), Sample.of(graph, settings.eta)
    singly = race.run(sample, settings, 1, graph.num_classes)
    alone = race.taken
    together = race.run(sample, settings, 10, graph.num_classes)
    # The plain scheme knows one run at a time; that its kernels gain from width as well is seen in the rows.
    ratio, target = Spread.of_ratio(alone["plain"], race.taken["pcnet"]), PROPAGATION.get(graph.name)
    return {
        "dataset": graph.name,
        "N": settings.N,
        "rows": [*singly, *together],
        "ratio": asdict(ratio),
        "target": target,
        "met": None if target is None else ratio.median >= target,
    }


def compare_memory(graph: Graph, settings: PCNetSettings) -> dict[str, Any]:
    """Bytes kept for the backward of one propagation, in sizes of x, by order N."""
    x = torch.rand(graph.num_nodes, graph.num_classes).requires_grad_()
    sample = Sample.of(graph, settings.eta)
    kept: dict[str, list[float]] = {}
    for order in ORDERS:
        for way in filters(sample, replace(settings, N=order)):
            share = saved_bytes(way.apply, x, way.constants) / x.nbytes
            kept.setdefault(way.name, []).append(round(share, 3))
    return {
        "dataset": graph.name,
        "bytes_of_x": x.nbytes,
        "N": list(ORDERS),
        "kept": kept,
        "target": MEMORY,
        "met": kept["pcnet"][ORDERS.index(MEMORY_ORDER)] <= MEMORY,
    }


def _load(names: Sequence[str], screen: Console) -> dict[str, Graph]:
    graphs = {}
    for name in names:
        try:
            graphs[name] = load_dataset(name)
        except PcnetError as error:
            screen.print(f"Without {name}: {error}", style="yellow", highlight=False, markup=False)
    if not graphs:
        raise PcnetError("There is no dataset to measure on; citeseer comes with the package.")
    return graphs


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("speed", __doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, small graphs: about a minute")
    parser.add_json()
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help=f"default: {' '.join(DATASETS)}")
    parser.add_argument("--threads", type=int, help="cores to use; default: all, and the library's own choice")
    options = parser.options(arguments)
    options.datasets = options.datasets or (QUICK if options.quick else DATASETS)
    return options


if __name__ == "__main__":
    start(main)
