"""How long work says how far it has come: one protocol for every room, drawn by `pcnet.show`."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told how far a piece of work has come; called from several threads."""

    def stage(self, title: str, total: int) -> None:
        """A stage of `total` units begins, in place of the one before."""

    def advance(self, units: int = 1) -> None:
        """Units of the present stage are done, or turned out not to be needed."""


class Silent:
    """Shows nothing."""

    def stage(self, title: str, total: int) -> None: ...

    def advance(self, units: int = 1) -> None: ...


class OneStage(Silent):
    """A part of larger work: the units of its stage `counted` count in the larger stage, nothing else is shown."""

    def __init__(self, whole: Progress, counted: str) -> None:
        self._whole, self._counted, self._present = whole, counted, counted

    def stage(self, title: str, total: int) -> None:
        self._present = title

    def advance(self, units: int = 1) -> None:
        if self._present == self._counted:
            self._whole.advance(units)
