"""What validation says about the trials of a search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pcnet.training import Outcome
from pcnet.tuning._space import Values


@dataclass(frozen=True)
class Score:
    """A run on validation nodes at its best epoch: accuracy in [0, 1], loss, and epochs trained."""

    accuracy: float
    loss: float
    epochs: int

    @staticmethod
    def of(outcome: Outcome) -> Score:
        """A run that diverged scores worst; a search has other trials."""
        if outcome.diverged:
            return Score(0.0, math.inf, outcome.epochs)
        best = outcome.best_epoch
        return Score(float(outcome.val_score[best]), float(outcome.val_loss[best]), outcome.epochs)


@dataclass(frozen=True)
class Standing:
    """A trial among others: means over its splits, the accuracy 0 if it diverged on one of them."""

    trial: int
    accuracy: float
    loss: float

    @property
    def order(self) -> tuple[float, float, int]:
        """Higher accuracy first, then lower loss, then the lower number."""
        return -self.accuracy, self.loss, self.trial


@dataclass
class Results:
    """Scores by trial and split, as the journal has them."""

    values: dict[int, Values] = field(default_factory=dict)
    scores: dict[int, dict[int, Score]] = field(default_factory=lambda: defaultdict(dict))
    #: Seconds of training, added over all workers.
    seconds: float = 0.0
    #: Standings of trials that were trained on all splits: they do not change any more.
    _complete: dict[int, Standing] = field(default_factory=dict, compare=False)

    def add(self, entry: Mapping[str, Any]) -> None:
        """One line of the journal. Of two that tell of the same run, the first counts."""
        trial = entry["trial"]
        self.values[trial] = entry["values"]
        self.seconds += entry["seconds"]
        rows = zip(entry["splits"], entry["accuracy"], entry["loss"], entry["epochs"], strict=True)
        for split, accuracy, loss, epochs in rows:
            score = Score(accuracy, math.inf if loss is None else loss, epochs)
            self.scores[trial].setdefault(split, score)

    @property
    def runs(self) -> int:
        return sum(map(len, self.scores.values()))

    def knows(self, trial: int, splits: Iterable[int]) -> bool:
        """Whether a trial was trained on all of these splits."""
        return trial in self.scores and all(split in self.scores[trial] for split in splits)

    def standing(self, trial: int, splits: Sequence[int]) -> Standing:
        scores = [self.scores[trial][split] for split in splits]
        # Exact sums: trials with the same scores on other splits are a tie, whatever the order of adding.
        accuracy, loss = (
            math.fsum(each) / len(splits) for each in ([s.accuracy for s in scores], [s.loss for s in scores])
        )
        return Standing(trial, accuracy if math.isfinite(loss) else 0.0, loss)

    def ranking(self, splits: int) -> list[Standing]:
        """Trials that were trained on all of so many splits, the best first."""
        every = range(splits)
        for trial in self.scores.keys() - self._complete.keys():
            if self.knows(trial, every):
                self._complete[trial] = self.standing(trial, every)
        return sorted(self._complete.values(), key=lambda standing: standing.order)


def entry_of(trial: int, values: Values, scores: Mapping[int, Score], seconds: float) -> dict[str, Any]:
    """A line for the journal; the loss of a run that diverged is null there."""
    return {
        "trial": trial,
        "splits": list(scores),
        "accuracy": [score.accuracy for score in scores.values()],
        "loss": [score.loss if math.isfinite(score.loss) else None for score in scores.values()],
        "epochs": [score.epochs for score in scores.values()],
        "values": values,
        "seconds": seconds,
    }
