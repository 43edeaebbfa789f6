"""The time that a contest has: what is shown of it, and its end."""

from __future__ import annotations

import threading
import time

from pcnet._progress import Progress, Silent

#: The share of the time that a block of runs may take: what is slower ends at its best epoch so far.
SHARE = 0.2


class Clock(Silent):
    """Shows the time that has passed of the time there is, and says when a training is to end.

    >>> clock = Clock(Silent(), seconds=10.0)
    >>> clock.is_over(began=clock.began), clock.is_over(began=clock.began - 3)
    (False, True)
    """

    def __init__(self, shown: Progress, seconds: float) -> None:
        self.began, self.seconds = time.monotonic(), seconds
        self._shown, self._told, self._telling = shown, 0, threading.Lock()

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return self.seconds - (time.monotonic() - self.began)

    def is_over(self, began: float) -> bool:
        """Whether there is no time left, or what began then has had its share."""
        return self.left < 0 or time.monotonic() - began > SHARE * self.seconds

    def stage(self, title: str, total: int) -> None:
        with self._telling:
            self._shown.stage(title, round(self.seconds))
            self._told = 0
        self.advance()

    def advance(self, units: int = 1) -> None:
        with self._telling:
            passed = min(round(self.seconds - self.left), round(self.seconds))
            self._shown.advance(passed - self._told)
            self._told = passed
