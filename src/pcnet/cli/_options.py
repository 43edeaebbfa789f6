"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from pcnet.cli._file_options import DataOption, JsonOption, emit_json
from pcnet.compare import METRICS
from pcnet.data import PROTOCOLS
from pcnet.errors import Interrupted

__all__ = [
    "DataOption",
    "DeviceOption",
    "Interrupted",
    "JsonOption",
    "MethodOption",
    "MetricOption",
    "ProtocolOption",
    "ThreadsOption",
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
DeviceOption = Annotated[
    str, typer.Option("--device", help="cpu, cuda, cuda:N; auto is a GPU where there is one.", show_default=True)
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
