"""Clocks that are fair: warmed up, taking turns, frank about their spread and about who else was computing."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch

#: Milliseconds, one number for each round.
Rounds = list[float]
#: Seconds beside which what a first call prepares does not count.
LONG = 2.0
#: Cores busy with something else above which a measurement says so.
TOLERATED = 0.1


@dataclass(frozen=True)
class Spread:
    """The median of repeated measurements, and the lowest and highest of them."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(median(values), min(values), max(values))

    @staticmethod
    def of_ratio(slow: Rounds, fast: Rounds) -> Spread:
        """slow / fast round by round: what disturbed a round disturbed both sides of its ratio."""
        return Spread.of([a / b for a, b in zip(slow, fast, strict=True)])

    def __str__(self) -> str:
        return f"{short(self.median)} ({short(self.low)}–{short(self.high)})"


def short(value: float) -> str:
    """Three digits, never as a power of ten."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def take_turns(measurements: Mapping[str, Callable[[], float]], rounds: int, *, warm_up: int = 1) -> dict[str, Rounds]:
    """A, B, …, A, B, …: one measurement of each in every round, after `warm_up` rounds that do not count."""
    taken: dict[str, Rounds] = {name: [] for name in measurements}
    for number in range(-warm_up, rounds):
        for name, measure in measurements.items():
            value = measure()
            if number >= 0:
                taken[name].append(value)
    return taken


def per_call(call: Callable[[], object], seconds: float, threads: int, device: torch.device | str = "cpu") -> float:
    """Milliseconds per call, over as many calls as fit into the time; two at least, after one to warm up.

    A call that alone takes longer than that is made once.
    """
    with torch_threads(threads):
        first = elapsed(call, 1, device)
        if first > seconds:
            return 1e3 * first
        times = max(2, math.ceil(seconds / first))
        return 1e3 * elapsed(call, times, device) / times


def elapsed(call: Callable[[], object], times: int, device: torch.device | str = "cpu") -> float:
    """Seconds until so many calls are done, their work on a GPU included and nothing that was begun before."""
    synchronise(device)
    start = time.perf_counter()
    for _ in range(times):
        call()
    synchronise(device)
    return time.perf_counter() - start


def synchronise(device: torch.device | str) -> None:
    """Wait until a GPU has done what it was told."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def faster_threads(call: Callable[[], object], threads: int, device: torch.device | str = "cpu") -> tuple[int, float]:
    """The first calls: whether all threads are faster or a single one, and the seconds that a call took with those.

    Threads that wait for each other lose more than they gain where a call is short or a core is taken.
    """
    seconds: dict[int, float] = {}
    for number in sorted({1, threads}) if torch.device(device).type == "cpu" else [threads]:
        with torch_threads(number):
            seconds[number] = elapsed(call, 1, device)
            if seconds[number] < LONG:
                # The first call of all may have had to prepare something.
                seconds[number] = min(seconds[number], elapsed(call, 1, device))
    best = min(seconds, key=lambda number: seconds[number])
    return best, seconds[best]


def fastest(taken: Mapping[int, Rounds]) -> tuple[int, Rounds]:
    """The number of threads with the lowest median, and its rounds: each side is shown at its best."""
    threads = min(taken, key=lambda number: median(taken[number]))
    return threads, taken[threads]


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Let torch use so many threads inside its kernels."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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


def complaint(busy: float | None) -> str:
    """What a reader should know of other processes; nothing where they were idle, or cannot be seen."""
    return f"Other processes kept {busy} cores busy meanwhile; repeat this." if busy and busy > TOLERATED else ""


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
