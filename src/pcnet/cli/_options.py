"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from pcnet._files import write_json
from pcnet.data import PROTOCOLS
from pcnet.errors import PcnetError

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
    str | None, typer.Option("--protocol", metavar="NAME", help=f"How to split: {', '.join(PROTOCOLS)}.")
]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu, cuda or cuda:N.")]


def emit_json(target: str | None, value: Any) -> None:
    """Write `value` where `--json` says, if it was given."""
    if target == "-":
        sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    elif target is not None:
        write_json(target, value)


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    try:
        kind = torch.device(device)
    except RuntimeError:
        raise PcnetError(f"There is no device '{device}'; use cpu, cuda or cuda:N.") from None
    if kind.type not in ("cpu", "cuda"):
        raise PcnetError(f"pcnet does not run on '{kind.type}'; use cpu or cuda.")
    if kind.type == "cuda" and not torch.cuda.is_available():
        raise PcnetError("This machine has no CUDA device that torch can use; leave out --device or say cpu.")


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, with a sentence on how to go on."""
