"""`python -m benchmarks.precision`: what tf32 and bfloat16 cost in accuracy and save in time, beside float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from benchmarks.command import Command, console, keep, quiet, show, start
from pcnet import PcnetError, load_dataset
from pcnet.compare import summarise
from pcnet.experiment import DEFAULT_METHOD, presets, resolve, run_experiment
from pcnet.show import Table

COARSE = ("tf32", "bfloat16")
DIFFERENCE = (
    "mean over the same ten splits and seeds of test accuracy minus that in float32, in points, with its 95 % "
    "bootstrap interval"
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("precision", __doc__)
    parser.add_json()
    parser.add_device()
    options = parser.options(arguments)
    quiet()
    rows = []
    for preset, known in presets().items():
        for dataset in known.datasets_of(DEFAULT_METHOD):
            try:
                rows.append(compare(preset, dataset, options.device))
            except PcnetError as error:
                print(f"Without {preset} {dataset}: {error}")
    show(console(), table(rows))
    keep(options, {"difference": DIFFERENCE, "rows": rows})


def compare(preset: str, dataset: str, device: str) -> dict[str, Any]:
    """A cell of the paper's tables in each precision: test accuracies of the same runs, side by side."""
    graph, experiment = load_dataset(dataset), resolve(dataset, preset=preset)
    results = {}
    for precision in ("float32", *COARSE):
        changed = replace(experiment, model=replace(experiment.model, precision=precision))
        results[precision] = run_experiment(graph, changed, device=device)
    exact = results["float32"].test["accuracy"]
    row: dict[str, Any] = {"table": preset, "dataset": dataset, "float32": exact.as_dict()}
    for precision in COARSE:
        coarse = results[precision].test["accuracy"]
        gain = summarise([a - b for a, b in zip(coarse.per_run, exact.per_run, strict=True)])
        row[precision] = {**coarse.as_dict(), "difference": gain.mean, "difference_ci95": list(gain.ci95)}
    return row


def table(rows: Sequence[dict[str, Any]]) -> Table:
    lines = []
    for row in rows:
        cells = []
        for precision in COARSE:
            low, high = row[precision]["difference_ci95"]
            cells.append(f"{row[precision]['difference']:+.2f} [{low:+.2f}, {high:+.2f}]")
        lines.append([row["table"], row["dataset"], f"{row['float32']['mean']:.2f}", *cells])
    averages = [f"{mean(row[precision]['difference'] for row in rows):+.3f}" for precision in COARSE]
    title = "Test accuracy in percent; difference to float32 over the same runs"
    return Table(title, ("table", "dataset", "float32", *COARSE), [*lines, ["all", "", "", *averages]])


if __name__ == "__main__":
    start(main)
