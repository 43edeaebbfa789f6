"""The machine that numbers come from, and who else was using it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch

from pcnet._machine import processor
from pcnet.training import available_threads

#: Cores busy with something else above which a measurement says so.
TOLERATED = 0.1


def machine(device: torch.device | str = "cpu") -> dict[str, Any]:
    """The processor, the cores that may be used and, where it does the work, the GPU."""
    found: dict[str, Any] = {"cpu": processor(), "cores": available_threads()}
    if torch.device(device).type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found |= {"gpu": properties.name, "gpu_gib": round(properties.total_memory / 2**30, 1)}
    return found


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
