"""Live progress bars, drawn on standard error and only where someone is looking."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from pcnet.experiment import Experiment


class _Bar:
    """A Rich progress bar that is there while a block of code runs."""

    def __init__(
        self, title: str, total: float, *columns: MofNCompleteColumn | TaskProgressColumn | TextColumn
    ) -> None:
        self._console = Console(stderr=True)
        parts = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
        self._progress = Progress(*parts, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._progress.add_task(title, total=total)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class EpochBar(_Bar):
    """All epochs of all runs."""

    def __init__(self, epochs: int, title: str = "training") -> None:
        super().__init__(title, epochs, MofNCompleteColumn())

    def __enter__(self) -> EpochBar:
        self._progress.start()
        return self

    def stage(self, title: str, total: int) -> None:
        self._progress.update(self._task, description=title, completed=0, total=total)

    def advance(self, units: int = 1) -> None:
        self._progress.advance(self._task, units)

    def print(self, sentence: str) -> None:
        """A line above the bar."""
        self._console.print(sentence, highlight=False)


class ShareBar(_Bar):
    """The stage that some work is in, and the share of it that is done."""

    def __init__(self, title: str) -> None:
        super().__init__(title, 1.0, TaskProgressColumn())
        self._title = title

    def __enter__(self) -> ShareBar:
        self._progress.start()
        return self

    def tell(self, what: str, done: float) -> None:
        self._progress.update(self._task, completed=done, description=f"{self._title}: {what}")

    def stage(self, title: str, total: int) -> None:
        self._progress.reset(self._task, total=total, description=f"{self._title}: {title}")

    def advance(self, units: int = 1) -> None:
        self._progress.advance(self._task, units)


def training_bar(experiment: Experiment, members: int = 0) -> EpochBar:
    """The bar of one experiment, with the models that are kept to predict."""
    return EpochBar(experiment.training.epochs * (len(experiment.seeds) + members))
