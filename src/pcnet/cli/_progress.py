"""The live progress bar of a training."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pcnet.experiments import Experiment


class Bar:
    """All epochs of all runs; drawn on standard error, and only where someone is looking."""

    def __init__(self, experiment: Experiment, title: str = "training") -> None:
        console = Console(stderr=True)
        columns = (
            TextColumn(title),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task(title, total=experiment.training.epochs * len(experiment.seeds))

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, epochs: int) -> None:
        self._progress.advance(self._task, epochs)
