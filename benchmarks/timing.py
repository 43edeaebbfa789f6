"""Clocks that are fair: warmed up, taking turns, and frank about their spread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import torch

#: Milliseconds, one number for each round.
Rounds = list[float]


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
        return f"{self.median:.3g} ({self.low:.3g}–{self.high:.3g})"


def take_turns(measurements: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Rounds]:
    """A, B, …, A, B, …: one measurement of each in every round, after a round that does not count."""
    taken: dict[str, Rounds] = {name: [] for name in measurements}
    for number in range(rounds + 1):
        for name, measure in measurements.items():
            value = measure()
            if number:
                taken[name].append(value)
    return taken


def per_call(call: Callable[[], object], seconds: float, threads: int) -> float:
    """Milliseconds per call, over as many calls as fit into the time; two at least, after one to warm up."""
    with torch_threads(threads):
        call()
        calls, start = 0, time.perf_counter()
        while calls < 2 or time.perf_counter() - start < seconds:
            call()
            calls += 1
        return 1e3 * (time.perf_counter() - start) / calls


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
