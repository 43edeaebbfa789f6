"""What the tests of the paper share."""

from __future__ import annotations


class Counted:
    """Progress that can be looked at."""

    def __init__(self) -> None:
        self.total = self.done = self.advances = 0

    def stage(self, title: str, total: int) -> None:
        self.total += total

    def advance(self, units: int = 1) -> None:
        self.done += units
        self.advances += 1
