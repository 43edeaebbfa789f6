"""Which process this is, and whether another one still lives."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypedDict


class Owner(TypedDict):
    """A process, in words that a file can hold."""

    home: str
    pid: int
    #: When it began, in the system's own unit: numbers of processes are used again.
    since: str


@cache
def _home() -> str:
    """Where the number of a process means the same: this machine since it was started, and this container."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text().strip(), os.readlink("/proc/self/ns/pid")]
    return " ".join(parts)


def this_process() -> Owner:
    return Owner(home=_home(), pid=os.getpid(), since=_since(os.getpid()))


def lives(owner: Owner) -> bool | None:
    """Whether a process still runs; None for one elsewhere, which cannot be asked."""
    if owner["home"] != _home() or os.name != "posix":
        return None
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _since(owner["pid"]) == owner["since"]


def _since(pid: int) -> str:
    """The start of a process; empty for one that has ended unburied, and for all where the system does not say."""
    try:
        state, *others = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else others[18]
