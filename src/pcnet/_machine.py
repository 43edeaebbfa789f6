"""The machine that the library runs on: its device, what is kept of it with a number, and its free memory."""

from __future__ import annotations

import datetime
import math
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from pcnet._code import commit
from pcnet._version import __version__
from pcnet.errors import PcnetError


def chosen_device(name: str) -> str:
    """The device that a user names, if this machine has it; "auto" is a GPU where there is one."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise PcnetError(f"There is no device '{name}'; use auto, cpu, cuda or cuda:N.") from None
    if device.type not in ("cpu", "cuda"):
        raise PcnetError(f"pcnet does not run on '{device.type}'; use auto, cpu or cuda.")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and count == 0:
        raise PcnetError("This machine has no CUDA device that torch can use; leave out the device or say cpu.")
    if device.type == "cuda" and (device.index or 0) >= count:
        raise PcnetError(f"This machine has the CUDA devices 0 to {count - 1}; there is no {name}.")
    return name


def device_note(device: str) -> str:
    """What a headline says of a device: nothing of a processor, the name of a GPU."""
    return "" if torch.device(device).type == "cpu" else f", on {_machine(device)}"


def _machine(device: str) -> str:
    """What does the work, in words: a GPU, or a processor as well as the system knows its name."""
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(device)
    names = [line.split(":", 1)[1].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")]
    processor = next(iter(names), platform.processor() or platform.machine())
    return f"{processor}, {os.cpu_count()} cores"


def command_line() -> str:
    """What was typed, so that it can be typed again."""
    return shlex.join(["pcnet", *sys.argv[1:]])


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that touch a number; of pcnet also the commit, in a checkout."""
    own = {"pcnet": __version__, "commit": commit() or "", "python": platform.python_version()}
    found = {name: number for name, number in own.items() if number}
    for package in ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def provenance(device: str = "cpu", command: Sequence[str] = ()) -> dict[str, Any]:
    """What is kept with every number: the command, the day, the machine and the versions.

    `command`, in words, is what was typed where that was not pcnet.
    """
    typed, today = shlex.join(command) or command_line(), datetime.date.today().isoformat()
    return {"command": typed, "date": today, "machine": _machine(device), "versions": versions()}


def free_bytes(device: torch.device | str = "cpu") -> float:
    """Bytes that nobody uses; infinite where the system does not say."""
    if torch.device(device).type == "cuda":
        idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return float(torch.cuda.mem_get_info(device)[0] + idle)
    return free_memory(Path("/"))


def free_memory(system: Path) -> float:
    """Bytes that a process may still take by the files of Linux under `system`: the machine's, or less in a container.

    A control group limits its members and those of every group inside it, so the folders above count, too.
    """
    limits = [1024.0 * int(line.split()[1]) for line in _lines(system / "proc/meminfo") if "MemAvailable" in line]
    groups = system / "sys/fs/cgroup"
    for line in _lines(system / "proc/self/cgroup"):
        # "0::/path" in version 2; "5:cpu,memory:/path" in version 1, where each resource has a tree of its own.
        _, resources, path = line.split(":", 2)
        if resources and "memory" not in resources.split(","):
            continue
        top, names = (groups / "memory", _VERSION_1) if resources else (groups, _VERSION_2)
        # Inside a container the path may be that of the host, of which only the container's own part is mounted.
        folder = top / path.lstrip("/")
        limits += [_left_in(each, *names) for each in (folder, *folder.parents) if each.is_relative_to(top)]
    return min(limits, default=math.inf)


#: Of a control group: its limit, what it has taken, and which part of that is files that are only cached.
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")


def _left_in(group: Path, limit: str, taken: str, cached: str) -> float:
    try:
        of_files = dict(line.split() for line in _lines(group / "memory.stat"))[cached]
        # The word "max" is no number: then there is no limit.
        return float((group / limit).read_text()) - float((group / taken).read_text()) + float(of_files)
    except (OSError, ValueError, KeyError):
        return math.inf


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
