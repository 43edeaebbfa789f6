"""How far a comparison is: a live table on a terminal; elsewhere a line for each method that is finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pcnet.cli._compare_sentences import scored
from pcnet.experiment import Experiment, Trained

#: Seconds without a word after which, where there is no live table, a line says how far it is.
SILENCE = 60.0


class CompareProgress:
    """Is told of epochs by the trainer and of methods by the command, and estimates how long the rest takes.

    `console` is where results go. A live table needs a terminal for those and for standard error, on which it is drawn.
    """

    def __init__(self, console: Console, experiments: Mapping[str, Experiment]) -> None:
        self._console, self._experiments = console, experiments
        self._done: dict[str, Trained | str] = {}
        self._seconds: dict[str, float] = {}
        self._now: str | None = None
        self._epochs, self._preparing, self._started, self._said = 0, "", 0.0, time.monotonic()
        #: When the first epochs were done, and how many: those of a resumed training took no time.
        self._mark: tuple[float, int] | None = None
        self._lock = threading.Lock()
        screen = Console(stderr=True)
        live = console.is_terminal and screen.is_terminal
        self._live = Live(console=screen, transient=True, get_renderable=lambda: self) if live else None

    def __enter__(self) -> CompareProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, method: str) -> None:
        """A method is about to be trained."""
        self._now, self._epochs, self._mark, self._preparing = method, 0, None, ""
        self._started = time.monotonic()

    def finish(self, method: str, outcome: Trained | str) -> None:
        """Its scores, or why there are none."""
        self._done[method], self._now = outcome, None
        if isinstance(outcome, Trained):
            self._seconds[method] = outcome.seconds
        self._say(f"{self._experiments[method].title} {_outcome(outcome)}")

    def kept(self, method: str, trained: Trained) -> None:
        """It was trained before."""
        self._done[method], self._seconds[method] = trained, trained.seconds
        self._say(f"{trained.title} {_outcome(trained)}, kept from before", estimated=False)

    def stage(self, title: str, total: int) -> None:
        """What the method does now: look at the graph, or train."""
        self._preparing = "" if title == "training" else title

    def advance(self, units: int = 1) -> None:
        """Epochs of single runs are done; called from several threads."""
        if self._preparing:
            return
        with self._lock:
            self._epochs += units
            self._mark = self._mark or (time.monotonic(), self._epochs)
            quiet = time.monotonic() - self._said > SILENCE
            if quiet:
                self._said = time.monotonic()
        if quiet and self._now is not None:
            self._say(f"{self._experiments[self._now].title} at {self._share:.0%} of its epochs")

    @property
    def remaining(self) -> float | None:
        """Seconds: of the method at work by its epochs, of each other as long as those known took on average."""
        waiting = len(self._experiments) - len(self._done) - (self._now is not None)
        known = list(self._seconds.values())
        own = 0.0
        if self._now is not None:
            if self._mark is None or self._epochs == self._mark[1]:
                return None
            rate = (time.monotonic() - self._mark[0]) / (self._epochs - self._mark[1])
            own = (self._total - self._epochs) * rate
            known.append(time.monotonic() - self._started + own)
        if not known or (self._now is None and not waiting):
            return None
        return own + waiting * sum(known) / len(known)

    @property
    def _total(self) -> int:
        """Epochs of all runs of the method at work, if none stops early."""
        experiment = self._experiments[str(self._now)]
        return experiment.training.epochs * len(experiment.seeds)

    @property
    def _share(self) -> float:
        return min(1.0, self._epochs / self._total)

    def _say(self, what: str, *, estimated: bool = True) -> None:
        """A line, where nobody watches the table."""
        if self._live is not None:
            return
        left = time_left(self.remaining) if estimated else ""
        line = f"{len(self._done)} of {len(self._experiments)} done: {what}{left and f'; {left}'}"
        self._console.print(line, highlight=False, markup=False)
        self._said = time.monotonic()

    def __rich__(self) -> RenderableType:
        """The live table: methods that are finished, best first, the one at work and those to come."""
        table = Table(box=SIMPLE, show_header=False, padding=(0, 1, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        finished = [each for each in self._done.values() if isinstance(each, Trained)]
        for trained in sorted(finished, key=lambda each: -each.metric.sign * each.score):
            table.add_row(trained.title, _outcome(trained))
        for method, outcome in self._done.items():
            if isinstance(outcome, str):
                table.add_row(self._experiments[method].title, Text(_outcome(outcome), style="yellow"))
        if self._now is not None:
            bar = ProgressBar(total=1.0, completed=self._share, width=24)
            table.add_row(self._experiments[self._now].title, Text(self._preparing) if self._preparing else bar)
        for method, experiment in self._experiments.items():
            if method not in self._done and method != self._now:
                table.add_row(Text(experiment.title, style="dim"), Text("waiting", style="dim"))
        left = time_left(self.remaining)
        return Group(table, Text(f"{len(self._done)} of {len(self._experiments)} methods done{left and f', {left}'}"))


def _outcome(outcome: Trained | str) -> str:
    return f"is left out: {outcome}" if isinstance(outcome, str) else f"{scored(outcome)}, {outcome.seconds:.1f} s"


def time_left(seconds: float | None) -> str:
    """ "about 2 min left"; nothing where it is not known."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"about {f'{hours} h ' if hours else ''}{minutes} min left"
