"""What validation says about the trials of a search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pcnet.compare import Metric
from pcnet.training import Outcome, Targets
from pcnet.tune._space import Values


@dataclass(frozen=True)
class Score:
    """A run on validation nodes at its best epoch: gain, loss, and epochs trained.

    The gain is the metric as a share, with a minus where lower is better: more of it always is.
    """

    gain: float
    loss: float
    epochs: int

    @staticmethod
    def of(outcome: Outcome, targets: Targets, metric: Metric) -> Score:
        """A run that diverged scores worst; a search has other trials."""
        if outcome.diverged:
            return Score(-math.inf, math.inf, outcome.epochs)
        gain = metric.sign * metric.share(outcome.logits[targets.val], targets.val_labels)
        return Score(gain, float(outcome.val_loss[outcome.best_epoch]), outcome.epochs)


def reported(metric: Metric, gain: float) -> float:
    """A gain as reports have the metric: in percent where it is a share, without the sign."""
    return metric.sign * (100 if metric.percent else 1) * gain


@dataclass(frozen=True)
class Standing:
    """A trial among others: means over its splits, infinitely bad if it diverged on one of them."""

    trial: int
    gain: float
    loss: float

    @property
    def order(self) -> tuple[float, float, int]:
        """Higher gain first, then lower loss, then the lower number."""
        return -self.gain, self.loss, self.trial


@dataclass
class Results:
    """The values of every trial so far, and the scores of those that were trained, by trial and split."""

    values: dict[int, Values] = field(default_factory=dict)
    scores: dict[int, dict[int, Score]] = field(default_factory=lambda: defaultdict(dict))
    #: Seconds of training, added over all workers.
    seconds: float = 0.0

    @property
    def runs(self) -> int:
        """Runs that are trained."""
        return sum(map(len, self.scores.values()))

    def knows(self, trial: int, splits: Iterable[int]) -> bool:
        """Whether a trial was trained on all of these splits."""
        return trial in self.scores and all(split in self.scores[trial] for split in splits)

    def standing(self, trial: int, splits: Sequence[int]) -> Standing:
        """Where a trial stands by its scores on these splits."""
        scores = [self.scores[trial][split] for split in splits]
        # Exact sums: trials with the same scores on other splits are a tie, whatever the order of adding.
        gain, loss = (math.fsum(each) / len(splits) for each in ([s.gain for s in scores], [s.loss for s in scores]))
        return Standing(trial, gain, loss)

    def ranking(self, splits: int) -> list[Standing]:
        """Trials that were trained on all `splits` splits, the best first."""
        complete = (self.standing(trial, range(splits)) for trial in self.scores if self.knows(trial, range(splits)))
        return sorted(complete, key=lambda standing: standing.order)
