"""`python -m benchmarks.speed`: the library beside the plain scheme, on the machine it is run on."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from benchmarks.command import Command, keep
from benchmarks.memory import compare_memory
from benchmarks.neighbour import compare_neighbour
from benchmarks.propagation import compare_propagation
from benchmarks.tables import show
from benchmarks.training import check_training
from pcnet import Graph, PcnetError, PcnetWarning, load_dataset
from pcnet.bench import TOLERATED, Others
from pcnet.experiment import resolve
from pcnet.training import available_threads

DATASETS = ("cora", "texas", "actor", "pubmed", "citeseer")
QUICK = ("cora", "texas", "citeseer")


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    warnings.simplefilter("ignore", PcnetWarning)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
    keep(options, {"threads": options.threads, "sections": measure(options, console)})


def measure(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Every section, shown as soon as it is there."""
    graphs = _load(options.datasets, console)
    experiments = {name: resolve(name, preset="table2") for name in graphs}
    # Propagation costs most on the largest graph; a neighbour is felt most where kernels are short.
    large = max(graphs, key=lambda name: graphs[name].num_nodes)
    small = "cora" if "cora" in graphs else large
    model, cores = experiments[large].model, options.threads or available_threads()
    rounds, seconds = (3, 0.3) if options.quick else (7, 0.7)

    def training() -> list[dict[str, Any]]:
        return [check_training(graphs[name], experiments[name], options.threads, rounds, seconds) for name in graphs]

    sections = {
        "training": training,
        "propagation": lambda: compare_propagation(graphs[large], model, cores, rounds, seconds / 5),
        "memory": lambda: compare_memory(graphs[large], model),
        "neighbour": lambda: compare_neighbour(graphs[small], experiments[small], cores, 3, seconds),
    }
    results: dict[str, Any] = {"other_processes": {}}
    for name, section in sections.items():
        others = Others()
        with console.status(name):
            results[name] = section()
        results["other_processes"][name] = busy = others.cores()
        show(console, name, results[name])
        if busy is not None and busy > TOLERATED and name != "neighbour":
            console.print(f"Other processes kept {busy} cores busy meanwhile; repeat this.", style="yellow")
    return results


def _load(names: Sequence[str], console: Console) -> dict[str, Graph]:
    graphs = {}
    for name in names:
        try:
            graphs[name] = load_dataset(name)
        except PcnetError as error:
            console.print(f"Without {name}: {error}", style="yellow", highlight=False)
    if not graphs:
        raise SystemExit("There is no dataset to measure on; citeseer comes with the package.")
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
    main()
