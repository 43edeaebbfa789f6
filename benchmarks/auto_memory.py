"""`python -m benchmarks.auto_memory`: what `auto` takes of memory on a large generated graph, and leaves out there."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command import Command, commit, start, with_origin
from pcnet import PcnetWarning, csbm
from pcnet._files import write_json
from pcnet.data import STRATIFIED
from pcnet.experiment import resolve
from pcnet.tune import auto

FEATURES, CLASSES, DEGREE = 64, 5, 20.0


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    graph = csbm(options.nodes, 0.6, features=FEATURES, classes=CLASSES, average_degree=DEGREE, seed=0)
    before, begin = peak_gigabytes(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", PcnetWarning)
        experiment = resolve(graph, protocol=STRATIFIED, runs=1)
        found = auto(graph, experiment, Path(folder), minutes=options.minutes, threads=options.threads)
    [chosen] = found.contests
    figures = {
        "commit": commit(),
        "nodes": graph.num_nodes,
        "edges": graph.edge_index.shape[1] // 2,
        "features": graph.num_features,
        "minutes": options.minutes,
        "threads": options.threads,
        "seconds": time.perf_counter() - begin,
        "peak_gigabytes": peak_gigabytes(),
        "peak_gigabytes_before": before,
        "accuracy": found.result.headline.measured,
        "trials": chosen.trials,
        "runs": chosen.runs,
        "ensemble": {each.title: each.weight for each in chosen.members},
        "too_slow": dict(chosen.slow),
        "too_big": dict(chosen.too_big),
    }
    print(figures)
    write_json(options.out / "auto-memory.json", with_origin(options, figures))


def peak_gigabytes() -> float:
    """The most that this process has had in memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6 / 1.024)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("auto_memory", __doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
