"""`python -m benchmarks.device`: training on a GPU beside the plain scheme on the same GPU, in one process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from benchmarks.command import Command, console, keep, quiet, show, start
from benchmarks.plain_training import PlainTraining
from benchmarks.tables import spread, verdict
from benchmarks.timing import Spread, elapsed, take_turns
from benchmarks.training import endless_runs
from pcnet import load_dataset, make_split
from pcnet.experiment import resolve
from pcnet.show import Table
from pcnet.training._device_block import CHUNK, DeviceBlock

#: Dataset, runs side by side, and how many times faster per run and epoch it should be.
CASES = (
    ("cora", 10, 300),
    ("texas", 10, 300),
    ("actor", 10, 300),
    ("pubmed", 10, 250),
    ("citeseer", 10, None),
    ("texas", 100, 1500),
    ("cora", 100, None),
    ("cora", 640, None),
)
ROUNDS = 7


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("device", __doc__)
    parser.add_json()
    parser.add_device()
    options = parser.options(arguments)
    quiet()
    rows = [compare(name, runs, target, options.device) for name, runs, target in CASES]
    show(console(), table(rows))
    keep(options, {"rounds": ROUNDS, "rows": rows})


def compare(name: str, runs: int, target: float | None, device: str) -> dict[str, Any]:
    """Milliseconds per run and epoch of both, in turns; medians over rounds with the lowest and the highest."""
    graph, experiment = load_dataset(name), resolve(name, preset="table2")
    plain = PlainTraining(graph, make_split(graph, experiment.protocol, 0), experiment, 0, device)
    members = endless_runs(graph, experiment, runs)
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    operator = experiment.model.operator(graph, device=device)
    block = DeviceBlock(graph.x.to(device), operator, members, members[0].targets.num_classes)
    block.advance()
    torch.cuda.synchronize()
    ready = time.perf_counter() - start
    taken = take_turns(
        {
            "plain": lambda: 1e3 * elapsed(plain.epoch, 5, device) / 5,
            "pcnet": lambda: 1e3 * elapsed(block.advance, 1, device) / (CHUNK * runs),
        },
        ROUNDS,
    )
    ratio = Spread.of_ratio(taken["plain"], taken["pcnet"])
    return {
        "dataset": name,
        "runs": runs,
        "plain_ms": asdict(Spread.of(taken["plain"])),
        "pcnet_ms": asdict(Spread.of(taken["pcnet"])),
        "ratio": asdict(ratio),
        "target": target,
        "met": None if target is None else ratio.median >= target,
        "epoch_ms": Spread.of(taken["pcnet"]).median * runs,
        "ready_s": ready,
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
    }


def table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = ("dataset", "runs", "plain", "pcnet", "times faster", "target", "ms an epoch", "first s", "GiB")
    return Table(
        "Training on the GPU: ms per run and epoch, median (lowest–highest)",
        columns,
        [
            [
                row["dataset"],
                str(row["runs"]),
                *(spread(row[key]) for key in ("plain_ms", "pcnet_ms", "ratio")),
                verdict(row, "≥"),
                f"{row['epoch_ms']:.3f}",
                f"{row['ready_s']:.1f}",
                f"{row['peak_gib']:.2f}",
            ]
            for row in rows
        ],
    )


if __name__ == "__main__":
    start(main)
