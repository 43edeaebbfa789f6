"""The one progress bar: on standard error, and only where someone is looking; and how far a comparison is."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pcnet.show._screen import Screen

if TYPE_CHECKING:
    from pcnet.experiment import Experiment, Trained

Bar = TypeVar("Bar", bound="ProgressBar")
#: Seconds without a line after which, where there is no bar, a line says how far a comparison is.
SILENCE = 60.0


class ProgressBar:
    """A `pcnet._progress.Progress` that is drawn on a terminal while its block runs, and gone after it.

    Off a terminal only what is printed comes out. `console` is standard error unless another is given.

    >>> with ProgressBar() as progress:
    ...     progress.stage("training", 500)
    ...     progress.advance(20)
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Screen(stderr=True)
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
        self._console.print(sentence, soft_wrap=True)


class CompareProgress(ProgressBar):
    """Is told of stages by the training and of methods by the command, and estimates how long the rest takes.

    Lines go to `console`, where the results go; on a terminal they stand above the bar.
    """

    def __init__(self, console: Console, experiments: Mapping[str, Experiment], work: Mapping[str, float]) -> None:
        super().__init__()
        #: What the time of each method grows with.
        self._lines, self._experiments, self._work = console, experiments, dict(work)
        #: Seconds for a unit of work, of each method that is done.
        self._pace: list[float] = []
        self._done, self._now = 0, ""
        self._printed, self._lock = time.monotonic(), threading.Lock()

    def begin(self, method: str) -> None:
        """A method is about to be trained."""
        self._now = f"{self._experiments[method].title}, {self._done + 1} of {len(self._experiments)}"

    def finish(self, method: str, outcome: Trained | str, note: str = "") -> None:
        """Its scores, or why there are none."""
        # Imported here: it takes seconds to load, and the bar is there at once.
        from pcnet.show._comparison import scored

        self._done += 1
        work = self._work.pop(method)
        if isinstance(outcome, str):
            words = f"is left out: {outcome}"
        else:
            self._pace.append(outcome.seconds / work)
            words = f"{scored(outcome)}, {outcome.seconds:.1f} s"
        done = f"{self._done} of {len(self._experiments)} done: {self._experiments[method].title} {words}{note}"
        self._line(f"{done}{self._left}")

    def stage(self, title: str, total: int) -> None:
        """A stage of the method at work begins."""
        super().stage(f"{self._now}: {title}", total)

    def advance(self, units: int = 1) -> None:
        """Units of it are done."""
        super().advance(units)
        with self._lock:
            if not self._is_live and time.monotonic() - self._printed > SILENCE:
                [stage] = self._bar.tasks
                self._line(f"{stage.description}, {min(stage.percentage, 100):.0f}% done{self._left}")

    @property
    def _is_live(self) -> bool:
        return self._console.is_terminal and self._lines.is_terminal

    @property
    def _left(self) -> str:
        """Each method that is not done takes as long for its work as the others on average: "; about 2 min left"."""
        if not self._pace or not self._work:
            return ""
        seconds = sum(self._work.values()) * sum(self._pace) / len(self._pace)
        hours, minutes = divmod(round(seconds / 60), 60)
        words = f"{f'{hours} h ' if hours else ''}{minutes} min" if seconds >= 90 else f"{max(1, round(seconds))} s"
        return f"; about {words} left"

    def _line(self, sentence: str) -> None:
        if self._is_live:
            self.print(sentence)
        else:
            self._lines.print(sentence)
        self._printed = time.monotonic()
