"""`python -m benchmarks.speed`: the library beside the plain scheme, on the machine it is run on."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import warnings
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.memory import compare_memory
from benchmarks.neighbour import compare_neighbour
from benchmarks.propagation import compare_propagation
from benchmarks.tables import show
from benchmarks.training import compare_training
from pcnet import Graph, PcnetError, PcnetWarning, load_dataset
from pcnet._files import write_json
from pcnet.cli._versions import versions
from pcnet.experiments import preset_experiment
from pcnet.training import available_threads

DATASETS = ("cora", "texas", "actor", "pubmed", "citeseer")
QUICK = ("cora", "texas", "citeseer")


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    console = Console()
    warnings.simplefilter("ignore", PcnetWarning)
    report = {
        "command": shlex.join(
            ["python", "-m", "benchmarks.speed", *(sys.argv[1:] if arguments is None else arguments)]
        ),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "threads": options.threads,
        "versions": versions(),
        "sections": measure(options, console),
    }
    if options.json is not None:
        write_json(options.json, report)


def measure(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Every section, shown as soon as it is there."""
    graphs = _load(options.datasets, console)
    threads, rounds, seconds = options.threads, *((3, 0.3) if options.quick else (7, 0.7))
    experiments = {name: preset_experiment(name, "table2") for name in graphs}
    # Propagation costs most on the largest graph; a neighbour is felt most where kernels are short.
    large = max(graphs, key=lambda name: graphs[name].num_nodes)
    small = "cora" if "cora" in graphs else large
    sections: dict[str, Any] = {}

    def note(section: str, result: Any) -> None:
        sections[section] = result
        show(console, section, result)

    with console.status("training") as status:
        rows = []
        for name, graph in graphs.items():
            status.update(f"training on {name}")
            rows.append(compare_training(graph, experiments[name], threads, rounds, seconds))
        note("training", rows)
        status.update("propagation")
        model = experiments[large].model
        note("propagation", compare_propagation(graphs[large], model, threads, rounds, seconds / 5))
        status.update("memory")
        note("memory", compare_memory(graphs[large], model))
        status.update("beside a busy neighbour")
        note("neighbour", compare_neighbour(graphs[small], experiments[small], threads, 2, seconds))
    return sections


def machine() -> dict[str, Any]:
    """The processor, the cores that may be used, and how busy they were at the start."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {"cpu": models[0] if models else platform.processor(), "cores": available_threads(), "load": load}


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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, small graphs: under a minute")
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help=f"default: {' '.join(DATASETS)}")
    parser.add_argument("--threads", type=int, default=available_threads(), help="cores to use; default: all")
    options = parser.parse_args(arguments)
    options.datasets = options.datasets or (QUICK if options.quick else DATASETS)
    return options


if __name__ == "__main__":
    main()
