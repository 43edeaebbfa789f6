"""Live progress bars, drawn on standard error and only where someone is looking."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


class _Bar:
    """A Rich progress bar that is there while a block of code runs."""

    def __init__(self, title: str, total: float, *columns: TaskProgressColumn) -> None:
        self._console = Console(stderr=True)
        parts = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
        self._progress = Progress(*parts, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._progress.add_task(title, total=total)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class ShareBar(_Bar):
    """The share of some work that is done, and what is being done."""

    def __init__(self, title: str) -> None:
        super().__init__(title, 1.0, TaskProgressColumn())
        self._title = title

    def __enter__(self) -> ShareBar:
        self._progress.start()
        return self

    def tell(self, what: str, done: float) -> None:
        self._progress.update(self._task, completed=done, description=f"{self._title}: {what}")
