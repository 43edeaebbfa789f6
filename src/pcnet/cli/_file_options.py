"""Options that name files, for commands that load nothing large."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pcnet._files import check_target, write_json

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


def emit_json(target: str | None, value: Any) -> None:
    """Write `value` where `--json` says, if it was given."""
    if target == "-":
        sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    elif target is not None:
        write_json(target, value)


def check_json(target: str | None) -> None:
    """Refuse what `--json` says if it certainly cannot be written."""
    if target not in (None, "-"):
        check_target(str(target))
