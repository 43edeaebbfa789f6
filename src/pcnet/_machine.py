"""The machine that the library runs on: its processor, and the memory that can still be had."""

from __future__ import annotations

import math
import platform
from pathlib import Path

import torch

from pcnet.errors import PcnetError


def processor() -> str:
    """Its name, as good as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


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
    return "" if torch.device(device).type == "cpu" else f", on {torch.cuda.get_device_name(device)}"


def free_bytes(device: torch.device | str = "cpu") -> float:
    """Bytes that nobody uses; infinite where the system does not tell."""
    if torch.device(device).type == "cuda":
        idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return float(torch.cuda.mem_get_info(device)[0] + idle)
    return min(_machine_limit(), _group_limit())


def _machine_limit() -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        return 1024.0 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    except (OSError, StopIteration):
        return math.inf


def _group_limit() -> float:
    """What a container may still take; files that are only cached do not count as taken."""
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = ((group / name).read_text(encoding="utf-8") for name in ("memory.max", "memory.current"))
        stat = (group / "memory.stat").read_text(encoding="utf-8")
        cached = dict(line.split() for line in stat.splitlines())["inactive_file"]
        # float() reads the word "max" as no number: then there is no limit.
        return float(limit) - float(used) + float(cached)
    except (OSError, ValueError, KeyError):
        return math.inf
