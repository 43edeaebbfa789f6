"""Which epoch is best so far, and which runs are done: one rule for the CPU and the GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pcnet.training._run import TrainingSettings

#: Epochs that no run trains: the patience of those that stop by another rule.
NEVER = 2**31


def judge(epoch, loss, score, best_epoch, best, recent, patience, epochs, by_loss):  # type: ignore[no-untyped-def]
    """Whether an epoch improves a run, and whether the run stops with it.

    `best` is the loss or the score of its best epoch, `recent` the mean of the losses before this one, which the rule
    "window" compares with; elsewhere that is infinite. Written in operators alone, so that NumPy computes it for many
    runs and Triton compiles the same lines into a kernel (hence no annotations).
    """
    finite = (loss < float("inf")) & (loss > -float("inf"))
    lower = by_loss & (loss < best)
    higher = (by_loss == 0) & (score >= best)
    improved = finite & ((best_epoch < 0) | lower | higher)
    # A loss that is no number never becomes one again.
    over = (epoch + 1 >= epochs) | (finite == 0)
    stopped = over | (loss > recent) | ((improved == 0) & (epoch - best_epoch >= patience))
    return improved, stopped


class History:
    """The validation losses and scores of R runs, each run's own rules as `judge` takes them, and what follows."""

    def __init__(self, settings: Sequence[TrainingSettings]) -> None:
        self.window = np.array([s.patience if s.stopping == "window" else 0 for s in settings])
        self.patience = np.array([s.patience if s.stopping == "patience" else NEVER for s in settings])
        self.last = np.array([s.epochs for s in settings])
        self.by_loss = np.array([s.selects_by_loss for s in settings])
        shape = len(settings), int(self.last.max())
        self.loss, self.score = np.full(shape, np.nan), np.full(shape, np.nan)
        self.best_epoch = np.full(len(settings), -1)
        #: Epochs trained so far; a finished run's count stands still.
        self.epochs = np.zeros(len(settings), dtype=int)

    def best(self, runs: Sequence[int]) -> NDArray[np.float64]:
        """The loss or score of each run's best epoch, by which it selects; no number before there is one."""
        at = self.best_epoch[runs]
        chosen = np.where(self.by_loss[runs], self.loss[runs, at], self.score[runs, at])
        return np.where(at < 0, np.nan, chosen)

    def record(self, runs: Sequence[int], epoch: int, loss: NDArray, score: NDArray) -> tuple[list[int], list[int]]:
        """Note an epoch of the given runs; returns those it improved and those that stop with it."""
        members = np.array(runs)
        # What an epoch is compared with comes before it is noted.
        best, best_epoch = self.best(runs), self.best_epoch[members]
        recent = np.full(len(members), np.inf)
        for place, run in enumerate(runs):
            if 0 < (w := self.window[run]) < epoch:
                recent[place] = self.loss[run, epoch - w : epoch].mean()
        self.loss[members, epoch], self.score[members, epoch] = loss, score
        self.epochs[members] = epoch + 1
        limits = self.patience[members], self.last[members], self.by_loss[members]
        improved, stopped = (members[found] for found in judge(epoch, loss, score, best_epoch, best, recent, *limits))
        self.best_epoch[improved] = epoch
        return improved.tolist(), stopped.tolist()
