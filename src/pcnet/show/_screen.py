"""The console that everything is printed to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from pcnet._text import visible


class Screen(Console):
    """Standard output or standard error, where text is shown as it stands: no markup, no control characters.

    >>> Screen().print("[red] \\x1b[31m")
    [red] ␛[31m
    """

    def __init__(self, *, stderr: bool = False, **more: Any) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, **more)

    def render(self, *what: Any, **how: Any) -> Iterable[Segment]:
        """Pieces of lines; those that move the cursor are Rich's own."""
        for piece in super().render(*what, **how):
            yield piece if piece.control else piece._replace(text=visible(piece.text))
