"""Options that several commands share, each once, and what follows from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from pcnet._files import check_target, write_json
from pcnet.compare import METRICS, Metric, default_metric
from pcnet.data import PROTOCOLS
from pcnet.graph import Graph

DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder of raw datasets (else $PCNET_DATA).")
]
JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON; '-' is standard output.",
        # As a file it would be written over what else is printed there.
        callback=lambda target: "-" if target == "/dev/stdout" else target,
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Runs computed at the same time; all cores by default.")
]
MethodOption = Annotated[
    str,
    typer.Option("--method", metavar="NAME", help="pcnet, or a method that it is compared with: gcn, bernnet, …"),
]
ProtocolOption = Annotated[
    str | None,
    typer.Option("--protocol", metavar="NAME", help=f"How to split: {', '.join(PROTOCOLS)}, or stratified-A-B-C."),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="cpu, cuda, cuda:N; auto is a GPU where there is one.", show_default=True)
]
SeedOption = Annotated[int | None, typer.Option(help="First seed; the published seeds by default.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as in --set t=0.5 --set lr.theta=0.01."),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help=f"What a score is, for stopping, choosing and reporting: {', '.join(METRICS)}.",
        show_default="accuracy, or roc_auc where one of two classes has more than 65 %",
    ),
]


def check_json(target: str | None) -> None:
    """Refuse what `--json` says if it certainly cannot be written."""
    if target not in (None, "-"):
        check_target(str(target))


def emit_json(target: str | None, value: Any) -> None:
    """Write `value` where `--json` says, if it was given."""
    if target == "-":
        sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    elif target is not None:
        write_json(target, value)


def metric_words(graph: Graph, metric: Metric, asked: str | None) -> str:
    """Its name, and why it was taken where nobody asked for it: "ROC-AUC, because 'yes' has 78 % of the labels"."""
    if asked is not None or metric.name == "accuracy" or metric.name != default_metric(graph.y).name:
        return metric.title
    counts = torch.bincount(graph.y[graph.y >= 0])
    largest = int(counts.argmax())
    share = float(counts[largest]) / float(counts.sum())
    return f"{metric.title}, because '{graph.class_names[largest]}' has {100 * share:.0f} % of the labels"


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, with a sentence on how to go on."""
