"""Which epoch is best so far, and which runs are done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pcnet.training._settings import TrainingSettings


class Progress:
    """The validation history of R runs and what follows from it, by each run's own rule."""

    def __init__(self, settings: Sequence[TrainingSettings]) -> None:
        runs = len(settings)
        epochs = max(s.epochs for s in settings)
        self.settings = list(settings)
        self.loss = np.full((runs, epochs), np.nan)
        self.score = np.full((runs, epochs), np.nan)
        self.best_epoch = np.full(runs, -1)
        #: Epochs trained so far; a finished run's count stands still.
        self.epochs = np.zeros(runs, dtype=int)

    def record(self, runs: Sequence[int], epoch: int, loss: NDArray, score: NDArray) -> tuple[list[int], list[int]]:
        """Note an epoch of the given runs; returns those it improved and those that stop with it."""
        self.loss[runs, epoch], self.score[runs, epoch] = loss, score
        self.epochs[runs] = epoch + 1
        improved = [run for run in runs if self._improves(run, epoch)]
        self.best_epoch[improved] = epoch
        return improved, [run for run in runs if self._stops(run, epoch)]

    def _improves(self, run: int, epoch: int) -> bool:
        best = self.best_epoch[run]
        if not np.isfinite(self.loss[run, epoch]):
            return False
        if best < 0:
            return True
        if self.settings[run].selects_by_loss:
            return bool(self.loss[run, epoch] < self.loss[run, best])
        return bool(self.score[run, epoch] >= self.score[run, best])

    def _stops(self, run: int, epoch: int) -> bool:
        s = self.settings[run]
        # A loss that is no number never becomes one again.
        if epoch + 1 >= s.epochs or not np.isfinite(self.loss[run, epoch]):
            return True
        if s.stopping == "window":
            return epoch > s.patience and bool(
                self.loss[run, epoch] > self.loss[run, epoch - s.patience : epoch].mean()
            )
        if s.stopping == "patience":
            return bool(epoch - self.best_epoch[run] >= s.patience)
        return False
