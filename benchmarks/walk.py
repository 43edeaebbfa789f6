"""`python -m benchmarks.walk`: the files, functions and rooms that a reader of one command passes through.

Traces `pcnet train examples/people` in this process and counts the functions of `src/pcnet` that run, by file; what
runs only because a module is imported does not count.
"""

from __future__ import annotations

import inspect
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pcnet
from benchmarks.command import Command, keep, start
from pcnet.show import Table

SOURCE = Path(pcnet.__file__).parent
PEOPLE = Path(__file__).parents[1] / "examples" / "people"
#: Files that the walk may pass through.
TARGET = 60


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("walk", __doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="the command; default: train examples/people")
    parser.add_argument("--functions", action="store_true", help="name them, too")
    parser.add_json()
    options = parser.options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        walk = traced(options.words or ["train", str(PEOPLE), "--out", f"{folder}/run"])
    found = walk.as_dict()
    rows = [
        [file, ", ".join(names) if options.functions else str(len(names))] for file, names in found["functions"].items()
    ]
    title = f"{found['files']} files (target: at most {TARGET}), {sum(map(len, found['functions'].values()))} functions"
    title += f", {found['changes_of_room']} calls from room to room"
    notes = (
        "Functions of src/pcnet that ran, in the order in which their files were reached; importing does not count.",
        "Calls from room to room: pairs of a function and one it calls, of different rooms.",
    )
    print(Table(title, ("file", "functions"), rows, notes).markdown())
    keep(options, {"target": TARGET, "met": found["files"] <= TARGET, **found})


class Walk:
    """What `sys.setprofile` reports, thread by thread."""

    def __init__(self) -> None:
        #: Functions by file, both in the order in which they first ran.
        self.functions: dict[str, dict[str, None]] = defaultdict(dict)
        #: Pairs of functions that call from one room into another.
        self.changes: set[tuple[CodeType, CodeType]] = set()
        self._importing: dict[int, int] = defaultdict(int)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code, thread = frame.f_code, threading.get_ident()
        if code.co_name == "<module>" and event in ("call", "return"):
            self._importing[thread] += 1 if event == "call" else -1
        if event != "call" or self._importing[thread] or not _is_function(code):
            return
        self.functions[_place(code)][code.co_name] = None
        caller = frame.f_back
        while caller is not None and not _is_function(caller.f_code):
            caller = caller.f_back
        if caller is not None and _room(caller.f_code) != _room(code):
            self.changes.add((caller.f_code, code))

    def as_dict(self) -> dict[str, Any]:
        return {
            "files": len(self.functions),
            "functions": {file: list(names) for file, names in self.functions.items()},
            "changes_of_room": len(self.changes),
        }


def traced(words: Sequence[str]) -> Walk:
    """Run `pcnet WORDS` quietly and see what it passes through."""
    from pcnet.cli import main as command

    walk, typed = Walk(), sys.argv
    sys.argv = ["pcnet", *words]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            command()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            sys.argv = typed
    return walk


def _is_function(code: CodeType) -> bool:
    """Whether it is a function of the package: bodies of modules and classes are not optimised, functions are."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_filename.startswith(str(SOURCE))


def _place(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(SOURCE).as_posix()


def _room(code: CodeType) -> str:
    return Path(_place(code)).parts[0]


if __name__ == "__main__":
    start(main)
