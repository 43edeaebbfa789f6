"""Options that name files, and where results go, for commands that load nothing large."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console, RenderableType
from typer import Option

from pcnet._files import check_target, write_json
from pcnet.show import Screen


def _writable(target: str | None) -> str | None:
    """What `--json` says, unless it certainly cannot be written."""
    if target not in (None, "-", "/dev/stdout"):
        check_target(str(target))
    # As a file it would be written over what else is printed there.
    return "-" if target == "/dev/stdout" else target


Data = Annotated[Path | None, Option("--data", metavar="DIR", help="Folder of raw datasets (else $PCNET_DATA).")]
Json = Annotated[
    str | None,
    Option("--json", metavar="FILE", help="Write the result as JSON; '-' is standard output.", callback=_writable),
]


def emit_json(target: str | None, value: Any, *words: RenderableType) -> None:
    """Write `value` where `--json` says, if it was given; `words` are for the screen, where that is not there."""
    if target == "-":
        sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
        return
    if target is not None:
        write_json(target, value)
    for each in words:
        screen(target).print(each, soft_wrap=isinstance(each, str))


def screen(target: str | None) -> Console:
    """Where sentences and tables go, as they stand: standard output, unless `--json` takes that for the result."""
    return Screen(stderr=target == "-")
