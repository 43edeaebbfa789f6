"""`python -m benchmarks.own_graph`: a large own graph through every command, with seconds and memory of each."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Command, console, keep, show, start
from benchmarks.timing import Others
from pcnet._files import read_json
from pcnet.show import Table

#: Memory that all of it has to do with.
GIBIBYTES = 24.0
CLASSES, FEATURES = 5, 16


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    screen = console()
    with tempfile.TemporaryDirectory() as place, screen.status("writing the graph") as status:
        folder = Path(place)
        generate(folder / "graph", options.nodes, options.edges)
        stages = []
        for name, command in commands(options.epochs).items():
            status.update(name)
            stages.append({"stage": name, "command": shlex.join(command), **timed(folder, command)})
        found = read_json(folder / "train.json")
    report = {
        "pyarrow": version("pyarrow"),
        "nodes": options.nodes,
        "edges": options.edges,
        "features": FEATURES,
        "epochs": options.epochs,
        "goal": {"gibibytes": GIBIBYTES},
        "stages": stages,
        "test_accuracy": found["test"]["mean"],
    }
    rows = [[s["stage"], f"{s['seconds']:.1f}", f"{s['peak_gibibytes']:.2f}", str(s["other"])] for s in stages]
    title = f"{options.nodes:,} nodes, {options.edges:,} edges"
    show(screen, Table(title, ("stage", "seconds", "GiB at most", "other cores"), rows))
    keep(options, report)


def commands(epochs: int) -> dict[str, list[str]]:
    """What is run, in a folder that has `graph/`; every one of them reads the graph anew."""
    training = ["train", "graph", "--runs", "1", "--set", f"epochs={epochs}", "--out", "run", "--json", "train.json"]
    return {
        "import": ["-c", "import pcnet; print(pcnet.read_graph('graph').num_nodes)"],
        "inspect": ["-m", "pcnet", "inspect", "graph"],
        "train": ["-m", "pcnet", *training],
        "predict": ["-m", "pcnet", "predict", "run", "-o", "predictions.parquet"],
    }


def timed(folder: Path, command: list[str]) -> dict[str, Any]:
    """Seconds and largest resident memory of a Python process of its own."""
    others = Others()
    start = time.perf_counter()
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen([sys.executable, *command], cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, code, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if code:
        raise SystemExit(f"{shlex.join(command)} failed:\n{(folder / 'output.txt').read_text()}")
    return {
        "seconds": round(seconds, 1),
        "peak_gibibytes": round(usage.ru_maxrss / 2**20, 2),
        "other": others.cores(),
    }


def generate(folder: Path, nodes: int, edges: int) -> None:
    """Parquet tables of a planted graph: two edges of three inside a class, noisy features, labels missing."""
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir()
    random = np.random.default_rng(0)
    # Nodes of a class lie in a row, so that a partner of the same class is a random number in its range.
    label = np.arange(nodes) * CLASSES // nodes
    start = np.searchsorted(label, np.arange(CLASSES + 1))
    source = random.integers(nodes, size=edges)
    inside = random.random(edges) < 2 / 3
    own = label[source]
    partner = start[own] + (random.random(edges) * (start[own + 1] - start[own])).astype(np.int64)
    target = np.where(inside, partner, random.integers(nodes, size=edges))
    centre = random.normal(size=(CLASSES, FEATURES))
    x = centre[label] * 0.5 + random.normal(size=(nodes, FEATURES))
    names = np.array(["amber", "blue", "coral", "denim", "ecru"])[label]
    columns = {
        "id": pa.array(np.arange(nodes)),
        "label": pa.array(names, mask=random.random(nodes) < 1 / 3),
        **{f"x{place}": pa.array(x[:, place].astype(np.float32)) for place in range(FEATURES)},
    }
    pa.parquet.write_table(pa.table(columns), folder / "nodes.parquet")
    pa.parquet.write_table(pa.table({"source": source, "target": target}), folder / "edges.parquet")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("own_graph", __doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_json()
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
