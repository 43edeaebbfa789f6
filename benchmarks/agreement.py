"""`python -m benchmarks.agreement`: every method trained on the CPU and on a GPU, and how far the two drift apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from benchmarks.command import Command, console, keep, quiet, show, start
from pcnet import load_dataset, make_split
from pcnet.graph import Graph
from pcnet.nn import METHODS
from pcnet.show import Table
from pcnet.training import Run, Targets, TrainingSettings, train

RUNS = 3
DIFFERENCES = (
    "largest |GPU − CPU| / CPU of the validation loss over the runs, without dropout, whose draws differ; same: share "
    "of nodes that both predict alike at their best epochs"
)
TRAINING = TrainingSettings(lr={"all": 0.01}, wd={"all": 5e-4}, epochs=30, stopping="none")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("agreement", __doc__)
    parser.add_json()
    parser.add_argument("--dataset", default="citeseer")
    parser.add_device()
    options = parser.options(arguments)
    quiet()
    graph = load_dataset(options.dataset)
    rows = [compare(graph, method, options.device) for method in METHODS]
    show(console(), table(rows))
    what = {"dataset": options.dataset, "runs": RUNS, "epochs": TRAINING.epochs, "differences": DIFFERENCES}
    keep(options, {**what, "rows": rows})


def compare(graph: Graph, method: str, device: str) -> dict[str, Any]:
    """A method with its default settings but without dropout: the same runs on both, epoch by epoch."""
    settings = METHODS[method]()
    rates = [field.name for field in fields(settings) if field.name.startswith("drop")]
    settings = replace(settings, **dict.fromkeys(rates, 0.0))
    splits = [make_split(graph, "random-60-20-20", seed) for seed in range(RUNS)]
    runs = [Run(settings, TRAINING, Targets.from_split(split), seed) for seed, split in enumerate(splits)]
    host, other = train(graph, runs), train(graph, runs, device=device)
    loss, found = (np.stack([outcome.val_loss for outcome in outcomes]) for outcomes in (host, other))
    difference = np.abs(found - loss) / loss
    same = [(one.logits.argmax(1) == two.logits.argmax(1)).float().mean() for one, two in zip(host, other, strict=True)]
    return {
        "method": method,
        "first_epoch": float(difference[:, 0].max()),
        "ten_epochs": float(difference[:, :10].max()),
        "all_epochs": float(difference.max()),
        "same": float(np.mean(same)),
    }


def table(rows: Sequence[dict[str, Any]]) -> Table:
    return Table(
        f"GPU and CPU: largest relative difference of {RUNS} runs' validation losses",
        ("method", "first epoch", "ten epochs", f"{TRAINING.epochs} epochs", "nodes predicted alike"),
        [
            [
                row["method"],
                *(f"{row[key]:.1e}" for key in ("first_epoch", "ten_epochs", "all_epochs")),
                f"{100 * row['same']:.2f} %",
            ]
            for row in rows
        ],
    )


if __name__ == "__main__":
    start(main)
