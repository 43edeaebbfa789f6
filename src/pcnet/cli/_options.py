"""Options that several commands share, each once, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import torch
import typer

from pcnet.cli._file_options import DataOption, JsonOption, check_json, emit_json
from pcnet.compare import METRICS, Metric, default_metric
from pcnet.data import PROTOCOLS
from pcnet.errors import Interrupted
from pcnet.graph import Graph
from pcnet.nn import load_plugin

__all__ = [
    "DataOption",
    "DeviceOption",
    "Interrupted",
    "JsonOption",
    "MethodOption",
    "MetricOption",
    "PluginOption",
    "ProtocolOption",
    "ThreadsOption",
    "check_json",
    "emit_json",
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
PluginOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Python file that registers a method of your own; can be repeated.",
        # Before the other options are read, some of which name methods.
        is_eager=True,
        callback=lambda paths: [load_plugin(path) for path in paths or ()] and paths,
    ),
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


def metric_words(graph: Graph, metric: Metric, asked: str | None) -> str:
    """Its name, and why it was taken where nobody asked for it: "ROC-AUC, because 'yes' has 78 % of the labels"."""
    if asked is not None or metric.name == "accuracy" or metric.name != default_metric(graph.y).name:
        return metric.title
    counts = torch.bincount(graph.y[graph.y >= 0])
    largest = int(counts.argmax())
    share = float(counts[largest]) / float(counts.sum())
    return f"{metric.title}, because '{graph.class_names[largest]}' has {100 * share:.0f} % of the labels"
