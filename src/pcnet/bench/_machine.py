"""The machine that numbers come from, its memory, and who else was using it."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

import torch

from pcnet.training import available_threads

#: Cores busy with something else above which a measurement says so.
TOLERATED = 0.1


def machine(device: torch.device | str = "cpu") -> dict[str, Any]:
    """The processor, the cores that may be used and, where it does the work, the GPU."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    found = {"cpu": models[0] if models else platform.processor(), "cores": available_threads()}
    if torch.device(device).type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found |= {"gpu": properties.name, "gpu_gib": round(properties.total_memory / 2**30, 1)}
    return found


def free_bytes(device: torch.device | str = "cpu") -> float:
    """Memory that can still be had; infinite where the system does not tell."""
    if torch.device(device).type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + unused
    limits = [_group_limit()]
    info = Path("/proc/meminfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        limits += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    return min(limits)


def _group_limit() -> float:
    """What a container may still take; files that are only cached do not count as taken."""
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if limit == "max":
            return float("inf")
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return float(limit) - float(used) + float(stat["inactive_file"])
    except (OSError, ValueError, KeyError):
        return float("inf")


class Others:
    """Cores that other processes kept busy since this was made; None where the system does not tell."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), _all_seconds(), _own_seconds()

    def cores(self) -> float | None:
        start, all_before, own_before = self._start
        all_now = _all_seconds()
        if all_now is None or all_before is None:
            return None
        foreign = (all_now - all_before) - (_own_seconds() - own_before)
        return max(0.0, round(foreign / (time.perf_counter() - start), 2))


def _all_seconds() -> float | None:
    """Processor seconds of everybody since boot: user, nice, system, interrupts and what a host took away."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _waiting, irq, softirq, steal, *_ = map(int, stat.read_text().split()[1:11])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
