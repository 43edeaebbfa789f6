"""What runs answered, kept while a search goes on: what ensembles are made of afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pcnet.experiment import joined
from pcnet.training import Targets
from pcnet.tune._store import Database
from pcnet.tune._strategies import Score

#: How often trials are in an ensemble.
Weights = Mapping[int, int]
#: Of a run its score, and its logits as 32-bit floats.
TABLE = (
    "CREATE TABLE logits (trial INTEGER, split INTEGER, gain REAL, loss REAL, val BLOB, others BLOB, "
    "UNIQUE (trial, split))"
)
#: Leaves the best of a split, in the order of `Results.ranking`, and one trial besides.
PRUNE = (
    "DELETE FROM logits WHERE split = ? AND trial != ? AND trial NOT IN "
    "(SELECT trial FROM logits WHERE split = ? ORDER BY gain DESC, loss, trial LIMIT ?)"
)


class Answers(Database):
    """The logits of runs on the validation nodes of their split, and on `others` that know nothing of the search.

    Where only the `best` of each split are kept, so that the file does not grow with the search, the trial `besides` is
    kept too.
    """

    def __init__(
        self,
        folder: Path,
        targets: Sequence[Targets],
        others: Sequence[Tensor],
        best: int | None = None,
        besides: int = 0,
    ) -> None:
        super().__init__(folder / "answers.sqlite", TABLE)
        self._targets, self._others, self._best, self._besides = targets, others, best, besides
        self._seen: list[tuple[int, int, float, float, bytes, bytes]] = []

    def see(self, trial: int, split: int, score: Score, logits: Tensor) -> None:
        """A run is trained; of one that diverged there is nothing to keep."""
        if math.isfinite(score.loss):
            parts = (logits[nodes].float().cpu() for nodes in (self._targets[split].val, self._others[split]))
            val, others = (part.numpy().tobytes() for part in parts)
            self._seen.append((trial, split, score.gain, score.loss, val, others))

    def commit(self) -> None:
        """Write down what was seen. Of two that tell of the same run, the first counts."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO logits VALUES (?, ?, ?, ?, ?, ?)", self._seen)
            if self._best is not None:
                splits = {row[1] for row in self._seen}
                self.write(PRUNE, [(split, self._besides, split, self._best) for split in splits])
        self._seen = []

    def of(self, trial: int, split: int) -> tuple[Tensor, Tensor]:
        """A run's logits on the validation nodes, and on the others."""
        [row] = self.read(f"SELECT val, others FROM logits WHERE trial = {trial:d} AND split = {split:d}")
        classes = self._targets[split].num_classes
        val, others = (np.frombuffer(part, np.float32).reshape(-1, classes).copy() for part in row)
        return torch.from_numpy(val), torch.from_numpy(others)

    def together(self, split: int, weights: Weights) -> tuple[Tensor, Tensor]:
        """The same of trials that answer together, each calibrated on the validation nodes."""
        own, parts = self._targets[split], [torch.cat(self.of(trial, split)) for trial in weights]
        logits = joined(parts, torch.arange(len(own.val)), own.val_labels, list(weights.values()))
        return logits[: len(own.val)], logits[len(own.val) :]
