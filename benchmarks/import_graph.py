"""`python -m benchmarks.import_graph`: seconds and memory to read a large graph, each case in a process of its own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import pcnet
from benchmarks.command import Command, console, keep, show, start
from benchmarks.timing import Others
from pcnet.show import Table

#: What the library sets out to do with ten million edges.
SECONDS, GIBIBYTES = 60.0, 4.0
IDS = ("integers", "words")
FORMATS = ("parquet", "csv")


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    if options.read is not None:
        print(json.dumps(read(Path(options.read))))
        return
    screen = console()
    report = {
        "pyarrow": version("pyarrow"),
        "nodes": options.nodes,
        "edges": options.edges,
        "goal": {"seconds": SECONDS, "gibibytes": GIBIBYTES},
        "cases": [],
    }
    rows = []
    for kind in options.formats:
        for ids in IDS:
            with screen.status(f"{kind}, {ids}"):
                case = measure(kind, ids, options.nodes, options.edges)
            report["cases"].append(case)
            figures = (f"{case['megabytes']:.0f}", f"{case['seconds']:.1f}", f"{case['peak_gibibytes']:.2f}")
            rows.append([kind, ids, *figures, str(case["other_processes"])])
    columns = ("file", "ids", "MB", "seconds", "GiB at most", "other cores")
    show(screen, Table(f"{options.nodes:,} nodes, {options.edges:,} edges", columns, rows))
    keep(options, report)


def measure(kind: str, ids: str, nodes: int, edges: int) -> dict[str, Any]:
    """Write a random graph and read it in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), kind, ids, nodes, edges)
        megabytes = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        others = Others()
        command = [sys.executable, "-m", "benchmarks.import_graph", "--read", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        return {
            "format": kind,
            "ids": ids,
            "megabytes": round(megabytes, 1),
            **found,
            "other_processes": others.cores(),
        }


def read(folder: Path) -> dict[str, Any]:
    """Read a graph and say how long it took; the peak is that of the whole process, Python and torch included."""
    start = time.perf_counter()
    graph = pcnet.read_graph(folder)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": round(seconds, 2),
        "peak_gibibytes": round(peak / 2**20, 3),
        "graph": {
            "nodes": graph.num_nodes,
            "directed_edges": graph.edge_index.shape[1],
            "features": graph.num_features,
        },
    }


def generate(folder: Path, kind: str, ids: str, nodes: int, edges: int) -> None:
    """Random edges, ids in random order, a label and three columns: a number, a category and a boolean."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    random = np.random.default_rng(0)
    numbers = random.permutation(10 * nodes)[:nodes]
    names = pa.array(numbers if ids == "integers" else [f"user-{number:x}" for number in numbers])
    ends = {column: names.take(pa.array(random.integers(nodes, size=edges))) for column in ("source", "target")}
    columns = {
        "id": names,
        "label": pa.array(random.choice(["red", "green", "blue"], nodes)),
        "age": pa.array(random.normal(40, 12, nodes)),
        "town": pa.array([f"town {place}" for place in random.integers(20, size=nodes)]),
        "member": pa.array(random.random(nodes) < 0.5),
    }
    for stem, content in (("edges", ends), ("nodes", columns)):
        table = pa.table(content)
        if kind == "csv":
            pa.csv.write_csv(table, folder / f"{stem}.csv")
        else:
            pa.parquet.write_table(table, folder / f"{stem}.parquet")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("import_graph", __doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    parser.add_json()
    parser.add_argument("--read", metavar="DIR", help=argparse.SUPPRESS)
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
