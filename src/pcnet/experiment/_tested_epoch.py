"""The epoch that is tested, where authors did not test the one that validation chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from pcnet.compare import scores
from pcnet.data import Split

#: Which epoch is tested: of those with the highest validation accuracy the first one, or the one that is best on the
#: test nodes; of all epochs that one, or the last.
EpochRule = Literal["first of equals", "best test of equals", "best test", "last"]


class CandidateEpochs:
    """The logits of the epochs that a rule may test, kept while runs are trained; one of them is chosen afterwards."""

    def __init__(self, rule: EpochRule, runs: int) -> None:
        self.rule = rule
        self._best = [-1.0] * runs
        self._kept: list[list[Tensor]] = [[] for _ in range(runs)]

    def watch(self, run: int, accuracy: float, logits: Tensor) -> None:
        """An epoch of a run is over: its accuracy in validation, and the logits of all nodes."""
        if self.rule == "best test" or (accuracy == self._best[run] and self.rule == "best test of equals"):
            self._kept[run].append(logits.clone())
        elif self.rule == "last" or accuracy > self._best[run]:
            self._best[run], self._kept[run] = accuracy, [logits.clone()]

    def chosen_by_test(self, splits: Sequence[Split]) -> list[Tensor]:
        """The logits that each run is scored by: of the candidates the best on test nodes, the latest of equals.

        This is the one place where test labels choose an epoch, and it comes after all training.
        """
        return [
            max(reversed(kept), key=lambda logits: scores(logits, split.labels, split.test)["accuracy"])
            for kept, split in zip(self._kept, splits, strict=True)
        ]
