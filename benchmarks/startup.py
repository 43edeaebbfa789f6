"""`python -m benchmarks.startup`: seconds until a command that trains nothing has answered, each in a fresh process."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.command import Command, console, keep, show, start
from benchmarks.timing import Others, complaint
from pcnet.show import Table

#: What Python is given, and the seconds that it may take.
COMMANDS = {
    "pcnet --help": (["-m", "pcnet", "--help"], 0.5),
    "pcnet --version": (["-m", "pcnet", "--version"], 0.5),
    "pcnet data list": (["-m", "pcnet", "data", "list"], 0.5),
    "import pcnet": (["-c", "import pcnet"], 0.3),
    "import torch": (["-c", "import torch"], None),
    "import torch, Graph and PCNet": (["-c", "import torch; from pcnet import Graph, PCNet"], None),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("startup", __doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts; default: 5")
    parser.add_json()
    options = parser.options(arguments)
    others = Others()
    rows = [measure(name, options.rounds) for name in COMMANDS]
    busy = others.cores()
    lines = [[row["what"], f"{row['seconds']:.2f}", f"{row['computing_s']:.2f}", _verdict(row)] for row in rows]
    notes = (f"The best of {options.rounds}. {complaint(busy)}".rstrip(),)
    show(
        console(), Table("Seconds of a fresh process", ("what", "seconds", "of them computing", "target"), lines, notes)
    )
    keep(options, {"rounds": options.rounds, "rows": rows, "other_processes": busy})


def measure(name: str, rounds: int) -> dict[str, Any]:
    """The shortest of several processes, Python's own start included."""
    command, target = COMMANDS[name]
    taken = [_seconds(command) for _ in range(rounds)]
    seconds, computing = (min(each) for each in zip(*taken, strict=True))
    met = None if target is None else seconds < target
    return {"what": name, "seconds": seconds, "computing_s": computing, "target": target, "met": met}


def _seconds(command: Sequence[str]) -> tuple[float, float]:
    """By the clock, and of the processor, which a busy machine lengthens less."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _verdict(row: dict[str, Any]) -> str:
    return "–" if row["target"] is None else f"< {row['target']:g}, {'met' if row['met'] else 'missed'}"


if __name__ == "__main__":
    start(main)
