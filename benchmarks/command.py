"""What the benchmarks share: their command line, and files of figures that say where they come from."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pcnet._files import write_json
from pcnet.experiment import provenance


class Command(argparse.ArgumentParser):
    """`python -m benchmarks.NAME`; what was typed is the `command` of the options."""

    def __init__(self, name: str, about: str | None) -> None:
        super().__init__(prog=f"python -m benchmarks.{name}", description=about)

    def options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Those given, or typed."""
        given = sys.argv[1:] if arguments is None else list(arguments)
        return self.parse_args(given, argparse.Namespace(command=[*self.prog.split(), *given]))

    def add_json(self) -> None:
        self.add_argument("--json", metavar="FILE", help="also write the figures as JSON")

    def add_device(self) -> None:
        self.add_argument("--device", default="cuda", help="default: cuda")


def with_origin(options: argparse.Namespace, figures: Mapping[str, Any]) -> dict[str, Any]:
    """The command, day, machine and versions, and then the figures."""
    return {**provenance(getattr(options, "device", "cpu"), command=options.command), **figures}


def keep(options: argparse.Namespace, figures: Mapping[str, Any]) -> None:
    """Write the figures, where --json says."""
    if options.json is not None:
        write_json(options.json, with_origin(options, figures))
