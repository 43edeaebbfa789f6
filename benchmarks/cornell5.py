"""`python -m benchmarks.cornell5`: memory and time of every method of Table 3 on Facebook100's Cornell5.

The graph has 18,660 nodes and 791 thousand edges. Every method is trained in a process of its own, so that its
resident memory is its own, with Penn94's settings where there are any and its defaults elsewhere. What is measured
stays in a folder: the same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.command import Command, page, quiet, start, with_origin
from pcnet import PcnetError, Run, Split, Targets, load_dataset, train
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import scores
from pcnet.experiment import method_name, resolve
from pcnet.graph import Graph, structural_pairs
from pcnet.paper import published
from pcnet.show import ProgressBar, Table

DATASET, EPOCHS = "cornell5", 10
#: Not a method: the graph of alike nodes that WRGAT works on, built before it and kept under PCNET_CACHE.
STRUCTURE = "wrgat-structure"
COLUMNS = (
    "method",
    "peak GiB",
    "of it the graph",
    "set-up s",
    "ms an epoch",
    "of them computing",
    "test accuracy %",
    "settings",
    "load",
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("cornell5", __doc__)
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--dataset", default=DATASET)
    parser.add_argument("--splits", type=int, default=1, metavar="N", help="runs, each on a split of its own")
    parser.add_argument("--store", type=Path, default=Path("runs/cornell5"), metavar="DIR", help="keeps every row")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write cornell5.json and cornell5.md")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.options(arguments)
    if options.one is not None:
        quiet()
        print(json.dumps(measure(options.one, options.dataset, options.splits)))
        return
    chosen = options.methods or [*published("table3").methods, "glognn"]
    rows = [row for name in chosen for row in rows_of(name, options)]
    report = with_origin(options, {"dataset": options.dataset, "epochs": EPOCHS, "rows": rows})
    text = page(report, sheet(report))
    print(text)
    if options.out is not None:
        write_json(options.out / "cornell5.json", report)
        write_text(options.out / "cornell5.md", text)


def rows_of(method: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A method's row; before WRGAT's, that of the graph it needs."""
    return [kept(name, options) for name in ((STRUCTURE, method) if method == "wrgat" else (method,))]


def kept(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a process of its own has measured, now or before."""
    path = options.store / f"{options.dataset}-{options.splits}-{name}.json"
    if not path.exists():
        print(f"{name} …", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "benchmarks.cornell5", "--one", name, "--dataset", options.dataset]
        done = subprocess.run([*command, "--splits", str(options.splits)], stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"{name} ended with code {done.returncode}; what was measured before it is kept.")
        write_json(path, json.loads(done.stdout))
    written = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    return {**read_json(path), "measured": written.isoformat(timespec="seconds")}


def measure(name: str, dataset: str, splits: int) -> dict[str, Any]:
    """Most memory that this process had, what setting up takes and the median of its epochs; or why there is none."""
    graph = load_dataset(dataset)
    row: dict[str, Any] = {"name": name, "graph_gib": _peak_gib()}
    try:
        row |= build(graph) if name == STRUCTURE else trained(name, graph, splits)
    except (PcnetError, MemoryError) as error:
        row["refused"] = str(error) or "out of memory"
    return row | {"peak_gib": _peak_gib(), "load": [round(load, 1) for load in os.getloadavg()]}


def build(graph: Graph) -> dict[str, Any]:
    """WRGAT's pairs of alike nodes, or their reading where they have been kept."""
    start, computing = time.perf_counter(), time.process_time()
    adjacency = resolve("penn94", "wrgat", preset="table3", fallback=True).model.operator(graph).matrix.to_scipy()
    with ProgressBar() as bar:

        def report(done: int, total: int) -> None:
            bar.stage("alike nodes", total)
            bar.advance(done)

        found = structural_pairs(adjacency, report)
    taken = {"setup_s": time.perf_counter() - start, "computing_s": time.process_time() - computing}
    return taken | {"pairs": found.pairs.shape[1], "rings": found.rings}


def trained(method: str, graph: Graph, splits: int) -> dict[str, Any]:
    """Ten epochs on one core, with an evaluation after each; then, once, the test accuracy of the best of them."""
    experiment = resolve("penn94", method, preset="table3", fallback=True)
    start = time.perf_counter()
    model = experiment.model.for_graph(graph)
    model.operator(graph)
    setup = time.perf_counter() - start
    training = experiment.with_overrides([f"epochs={EPOCHS}", "stopping=none"]).training
    drawn = [draw_split(graph, seed) for seed in range(splits)]
    runs = [Run(model, training, Targets.from_split(split), seed) for seed, split in enumerate(drawn)]
    ticks: list[list[tuple[float, float]]] = [[] for _ in runs]

    def tick(run: int, *_: object) -> None:
        ticks[run].append((time.perf_counter(), time.process_time()))

    outcomes = train(graph, runs, threads=1, on_epoch=tick)
    # The first epoch of a run is over where counting begins: what it makes once is not in the others.
    epochs, computing = 1e3 * np.concatenate([np.diff(run, axis=0) for run in ticks]).T
    accuracy = [scores(o.logits, s.labels, s.test)["accuracy"] for o, s in zip(outcomes, drawn, strict=True)]
    return {
        "setup_s": setup,
        "epoch_ms": float(np.median(epochs)),
        "epochs_ms": [float(epochs.min()), float(epochs.max())],
        "computing_ms": float(np.median(computing)),
        "accuracy": accuracy,
        "settings": "Penn94's" if experiment.source else "defaults",
    }


def draw_split(graph: Graph, seed: int) -> Split:
    """50/25/25 of the labelled nodes, the shares of Penn94's official splits; this graph comes with none."""
    labelled = np.flatnonzero(graph.y.numpy() >= 0)
    order = np.random.default_rng(seed).permutation(labelled)
    train_part, val, test = np.split(order, [len(order) // 2, 3 * len(order) // 4])
    return Split(*(torch.from_numpy(part) for part in (train_part, val, test)), graph.y, "random-50-25-25", seed)


def _peak_gib() -> float:
    """The most memory that this process has had in use so far; Linux counts in KiB, macOS in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def sheet(report: dict[str, Any]) -> Table:
    rows = []
    for row in report["rows"]:
        title = "WRGAT's pairs of alike nodes" if row["name"] == STRUCTURE else method_name(row["name"])
        parts = [f"{row['peak_gib']:.2f}", f"{row['graph_gib']:.2f}"]
        if "refused" in row:
            parts += ["", "", "", "", row["refused"]]
        elif row["name"] == STRUCTURE:
            size = f"{row['pairs']:,} pairs, {row['rings']} rings; {row['computing_s']:,.0f} s computing"
            parts += [f"{row['setup_s']:,.0f}", "", "", "", size]
        else:
            accuracy = ", ".join(f"{each:.1f}" for each in row["accuracy"])
            times = (f"{row['epoch_ms']:,.0f}", f"{row['computing_ms']:,.0f}")
            parts += [f"{row['setup_s']:.1f}", *times, accuracy, row["settings"]]
        rows.append([title, *parts, f"{row['load'][0]:.1f}"])
    cores = os.cpu_count() or 1
    busy = max(row["load"][0] for row in report["rows"])
    times = [row["measured"] for row in report["rows"]]
    notes = [
        "Rows stay in a folder: the call below measured what calls before it had not. They were measured one by one, "
        f"from {min(times)} to {max(times)}.",
        "Peak: the most resident memory of a process that loads the graph, trains and evaluates one run at a time on "
        "one core; of it the graph: what loading alone takes, Python and torch included.",
        f"An epoch is a step and an evaluation on all nodes; median of {report['epochs'] - 1}, the first left out. "
        "Computing: processor time of it, which other processes lengthen much less. "
        "Accuracy is that of the best of so few epochs in validation, on a split 50/25/25: no result, only a sign that "
        "it learns.",
        f"Load: processes that wanted the {cores} cores at the end of a row. Above {cores} the row's own had to share; "
        f"here it reached {busy:.1f}."
        if busy > cores
        else f"Nothing else kept the {cores} cores busy.",
    ]
    title = f"Table 3's methods on {report['dataset']}, {report['epochs']} epochs"
    return Table(title, COLUMNS, rows, notes, words=("settings",))


if __name__ == "__main__":
    start(main)
