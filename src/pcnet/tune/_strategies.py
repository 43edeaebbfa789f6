"""Which trials are trained on which splits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pcnet.tune._results import Results
from pcnet.tune._space import Space, Values

#: Halving keeps one trial of this many, and goes on with this many times the splits.
FACTOR = 3


@dataclass(frozen=True)
class Job:
    """A trial to be trained on some splits."""

    trial: int
    values: Values
    splits: tuple[int, ...]


class Strategy(Protocol):
    """Decides what is trained, from what is known and nothing else. Its trials are numbered from 0."""

    @property
    def runs(self) -> int:
        """Runs of the whole search."""

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now, also what others `held`; nothing at the end of the search."""


@dataclass(frozen=True)
class RandomSearch:
    """Every trial on every split."""

    space: Space
    seed: int
    trials: int
    splits: int

    @property
    def runs(self) -> int:
        return self.trials * self.splits

    @cached_property
    def drawn(self) -> list[Values]:
        """The values of every trial."""
        return [self.space.draw(self.seed, trial) for trial in range(self.trials)]

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        return self._unknown(range(self.trials), range(self.splits), results)

    def _unknown(self, trials: Iterable[int], splits: range, results: Results) -> list[Job]:
        return [Job(trial, self.drawn[trial], tuple(splits)) for trial in trials if not results.knows(trial, splits)]


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
        """(trials, splits) of each rung, splits counted from the first."""
        splits = [1]
        # The last rung has half as many splits again at least: fewer would hardly change the order.
        while 2 * self.splits >= FACTOR * FACTOR * splits[-1]:
            splits.append(FACTOR * splits[-1])
        if splits[-1] < self.splits:
            splits.append(self.splits)
        trials = [self.trials]
        for _ in splits[1:]:
            trials.append(-(-trials[-1] // FACTOR))
        return list(zip(trials, splits, strict=True))

    @property
    def runs(self) -> int:
        before = [0, *(splits for _, splits in self.rungs)]
        return sum(trials * (splits - old) for (trials, splits), old in zip(self.rungs, before, strict=False))

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        trials, before = list(range(self.trials)), 0
        for count, splits in self.rungs:
            if before:
                standings = [results.standing(trial, range(before)) for trial in trials]
                best = sorted(standings, key=lambda standing: standing.order)[:count]
                trials = sorted(standing.trial for standing in best)
            jobs = self._unknown(trials, range(before, splits), results)
            if jobs:
                return jobs
            before = splits
        return []
