"""How long work says how far it has come."""

from __future__ import annotations

from collections.abc import Callable

#: Is told what is being done now, and which share of the whole is done.
Tell = Callable[[str, float], object]


def silent(what: str, done: float) -> None:
    """Tells nobody."""
