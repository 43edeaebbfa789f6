"""What the benchmarks share: their command line, and reports that say where their figures come from."""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from pcnet import PcnetError, PcnetWarning
from pcnet._files import write_json
from pcnet.experiment import provenance
from pcnet.show import Table


class Command(argparse.ArgumentParser):
    """`python -m benchmarks.NAME`; what was typed is the `command` of the options."""

    def __init__(self, name: str, about: str | None) -> None:
        super().__init__(
            prog=f"python -m benchmarks{name and '.'}{name}",
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Those given, or typed."""
        given = sys.argv[1:] if arguments is None else list(arguments)
        return self.parse_args(given, argparse.Namespace(command=[*self.prog.split(), *given]))

    def add_json(self) -> None:
        self.add_argument("--json", metavar="FILE", help="also write the figures as JSON")

    def add_device(self) -> None:
        self.add_argument("--device", default="cuda", help="default: cuda")


def start(main: Callable[[], object]) -> None:
    """Run a benchmark from the command line; what is wrong with its input is one sentence and exit code 2."""
    try:
        main()
    except PcnetError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)


def quiet() -> None:
    """Time does not depend on what the library and torch warn of."""
    warnings.simplefilter("ignore", PcnetWarning)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")


def console(*, stderr: bool = False) -> Console:
    """A terminal, or 120 columns of a file."""
    found = Console(stderr=stderr)
    return found if found.is_terminal else Console(stderr=stderr, width=120)


def show(to: Console, *sheets: Table) -> None:
    """Print tables with a line between them."""
    for sheet in sheets:
        to.print(sheet.rich(), Text(), sep="\n")


def commit() -> str:
    """The state of the source, as git names it: with a + where something in it is not committed."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def with_origin(options: argparse.Namespace, figures: Mapping[str, Any]) -> dict[str, Any]:
    """The command, day, machine and versions, and then the figures."""
    return {**provenance(getattr(options, "device", "cpu"), command=options.command), **figures}


def keep(options: argparse.Namespace, figures: Mapping[str, Any]) -> None:
    """Write the figures, where --json says."""
    if options.json is not None:
        write_json(options.json, with_origin(options, figures))


def page(report: Mapping[str, Any], *sheets: Table) -> str:
    """Tables as Markdown, the first under the title of the page, and where their figures come from."""
    first, *rest = (sheet.markdown() for sheet in sheets)
    origin = [
        f"- command: `{report['command']}`",
        f"- date: {report['date']}; machine: {report['machine']}",
        f"- versions: {', '.join(f'{name} {number}' for name, number in report['versions'].items())}",
    ]
    return "\n".join([first, *(text.replace("# ", "## ", 1) for text in rest), *origin]) + "\n"
