"""What authors did to get the figures they print, where that is not to test once the epoch that validation chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from torch import Tensor

from pcnet.compare import scores
from pcnet.data import Split
from pcnet.experiment._presets import Experiment

#: Which epoch is tested: of those with the highest validation accuracy the first one, or the one that is best on the
#: test nodes; of all epochs that one, or the last.
EpochRule = Literal["first of equals", "best test of equals", "best test", "last"]


@dataclass(frozen=True)
class AsPublished:
    """How a method's authors came to their figures: the epoch they test, and how their training differs from ours."""

    epoch: EpochRule
    #: Stands beside every number that was made so.
    label: str
    training: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, experiment: Experiment) -> Experiment:
        """The experiment with the training that goes with it."""
        return replace(experiment, training=replace(experiment.training, **self.training))


_LAST = "as published: last epoch, not the one that validation chooses"

#: By the rows of tables. WRGAT's authors look at validation every tenth epoch and stop, after 210 of 300 at the
#: earliest, when it has rarely improved: here all epochs are trained.
AS_PUBLISHED: dict[str, AsPublished] = {
    "mixhop": AsPublished("best test of equals", "as published: chosen by test among epochs equal in validation"),
    "linkx": AsPublished("first of equals", "as published: the first of epochs equal in validation"),
    "wrgat": AsPublished("last", _LAST, {"stopping": "none"}),
    "glognn": AsPublished("last", _LAST),
    "glognn++": AsPublished("last", _LAST),
    "pdegcn": AsPublished("best test", "as published: the epoch that is best on test"),
}


class EpochsInQuestion:
    """The logits of those epochs that a rule may test, kept while runs are trained; which one it is, is said later."""

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
        """The logits that each run is scored by; of those in question the best on test nodes, the latest of equals.

        This is the one place where test labels choose an epoch, and it comes after all training.
        """
        return [
            max(reversed(kept), key=lambda logits: scores(logits, split.labels, split.test)["accuracy"])
            for kept, split in zip(self._kept, splits, strict=True)
        ]
