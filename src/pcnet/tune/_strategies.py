"""What validation says about the trials of a search, and which of them are trained on which splits next."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from pcnet.compare import Metric
from pcnet.training import Outcome, Targets
from pcnet.tune._space import Space, Values

#: Halving keeps one trial of this many, and goes on with this many times the splits.
FACTOR = 3


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

    def ranking(self, splits: int, among: Iterable[int] | None = None) -> list[Standing]:
        """Trials that were trained on the first `splits` splits: higher gain first, then lower loss, then by number."""
        standings = []
        for trial in self.scores if among is None else among:
            if self.knows(trial, range(splits)):
                scores = [self.scores[trial][split] for split in range(splits)]
                # Exact sums: trials with the same scores on other splits are a tie, whatever the order of adding.
                gain, loss = (math.fsum(each) / splits for each in ([s.gain for s in scores], [s.loss for s in scores]))
                standings.append(Standing(trial, gain, loss))
        return sorted(standings, key=lambda standing: (-standing.gain, standing.loss, standing.trial))


@dataclass(frozen=True)
class Job:
    """A trial to be trained on some splits."""

    trial: int
    values: Values
    splits: tuple[int, ...]


@dataclass(frozen=True)
class RandomSearch:
    """Every trial, numbered from 0, on every split: what is trained is decided by what is known and nothing else."""

    space: Space
    seed: int
    trials: int
    splits: int

    @property
    def rungs(self) -> list[tuple[int, int]]:
        """How many trials, the best by what is known so far, are trained on how many splits, counted from the first."""
        return [(self.trials, self.splits)]

    @property
    def runs(self) -> int:
        """Runs of the whole search."""
        before = [0, *(splits for _, splits in self.rungs)]
        return sum(trials * (splits - old) for (trials, splits), old in zip(self.rungs, before, strict=False))

    @cached_property
    def drawn(self) -> list[Values]:
        """The values of every trial."""
        return [self.space.draw(self.seed, trial) for trial in range(self.trials)]

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now, also what others `held`; nothing at the end of the search."""
        trials, before = list(range(self.trials)), 0
        for count, splits in self.rungs:
            if before:
                trials = sorted(standing.trial for standing in results.ranking(before, trials)[:count])
            new = tuple(range(before, splits))
            if unknown := [trial for trial in trials if not results.knows(trial, new)]:
                return [Job(trial, self.drawn[trial], new) for trial in unknown]
            before = splits
        return []


@dataclass(frozen=True)
class GridSearch(RandomSearch):
    """Every point of the space on every split; `trials` is their number."""

    @cached_property
    def drawn(self) -> list[Values]:
        return self.space.points()


@dataclass(frozen=True)
class Halving(RandomSearch):
    """All trials on one split, the best third on more, the best third of those on all; of ten splits on 1, 3 and 10.

    No run is trained twice: a trial that stays is trained on further splits only. Trials are compared by their mean
    score on all splits that they were trained on, which are the same ones.
    """

    @property
    def rungs(self) -> list[tuple[int, int]]:
        rungs = [(self.trials, 1)]
        # The last rung has half as many splits again at least: fewer would hardly change the order.
        while 2 * self.splits >= FACTOR * FACTOR * rungs[-1][1]:
            rungs.append((-(-rungs[-1][0] // FACTOR), FACTOR * rungs[-1][1]))
        if rungs[-1][1] < self.splits:
            rungs.append((-(-rungs[-1][0] // FACTOR), self.splits))
        return rungs
