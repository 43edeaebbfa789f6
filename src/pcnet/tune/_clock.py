"""The time that a contest has: what is shown of it, what it is enough for, and its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pcnet._progress import Progress, Silent
from pcnet.graph import Graph
from pcnet.training import Run, train

#: The share of the time that the first method may take, the epochs that are timed, and those that it has at least.
FIRST, TIMED, LEAST = 0.25, 4, 20


class TimeIsUpError(Exception):
    """A training did not end in time; what it has is dropped."""


class Clock(Silent):
    """Shows the time that has passed of the time there is, and ends what goes on beyond it."""

    def __init__(self, shown: Progress, seconds: float) -> None:
        self._shown, self._begin, self._seconds, self._told = shown, time.monotonic(), seconds, 0
        self._telling = threading.Lock()

    @property
    def left(self) -> float:
        return self._seconds - (time.monotonic() - self._begin)

    def stage(self, title: str, total: int) -> None:
        with self._telling:
            self._shown.stage(title, round(self._seconds))
            self._told = 0
        self.advance()

    def advance(self, units: int = 1) -> None:
        if self.left < 0:
            raise TimeIsUpError
        with self._telling:
            passed = round(self._seconds - self.left)
            self._shown.advance(passed - self._told)
            self._told = passed


def epochs_in(seconds: float, graph: Graph, runs: Sequence[Run], **how: Any) -> int:
    """How many epochs the runs can be trained for in their share of the time; `how` is what `train` takes besides.

    On a large graph a method as it is would take all the time, and nothing would be there at the end.
    """

    def taken(epochs: int) -> float:
        start = time.monotonic()
        train(graph, [replace(run, training=replace(run.training, epochs=epochs)) for run in runs], **how)
        return time.monotonic() - start

    # The first training also prepares the graph.
    taken(1)
    each = (taken(1 + TIMED) - taken(1)) / TIMED
    return max(LEAST, int(FIRST * seconds / max(each, 1e-6)))
