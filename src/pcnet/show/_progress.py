"""The one progress bar: on standard error, and only where someone is looking."""

from __future__ import annotations

from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Bar = TypeVar("Bar", bound="ProgressBar")


class ProgressBar:
    """A `pcnet._progress.Progress` that is drawn on a terminal while its block runs, and gone after it.

    Off a terminal only what is printed comes out. `console` is standard error unless another is given.

    >>> with ProgressBar() as progress:
    ...     progress.stage("training", 500)
    ...     progress.advance(20)
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        # Shown from the first stage on.
        self._task = self._bar.add_task("", total=None, visible=False)

    def __enter__(self: Bar) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def stage(self, title: str, total: int) -> None:
        """A stage of `total` units begins, in place of the one before; its time left is estimated afresh."""
        self._bar.reset(self._task, description=title, total=total, visible=True)
        self._bar.refresh()

    def advance(self, units: int = 1) -> None:
        """Units of the present stage are done; may be called from several threads."""
        self._bar.advance(self._task, units)

    def print(self, sentence: str) -> None:
        """A line above the bar, which stays."""
        self._console.print(sentence, highlight=False, markup=False, soft_wrap=True)
