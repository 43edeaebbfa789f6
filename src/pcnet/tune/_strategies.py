"""What validation says about the trials of a search, and which of them are trained on which splits next."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from pcnet.compare import Metric
from pcnet.errors import PcnetError
from pcnet.training import Outcome, Targets
from pcnet.tune._space import Axis, Space, Values

if TYPE_CHECKING:
    import optuna

#: Halving keeps one trial of this many, and goes on with this many times the splits.
FACTOR = 3
#: Optuna's name of each sampler, and how it is asked for; the first is the one that is used when none is named.
SAMPLERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    # A round is asked for before any of it is known: a liar keeps its trials apart from each other.
    "tpe": ("TPESampler", {"multivariate": True, "constant_liar": True}),
    "gp": ("GPSampler", {}),
    "random": ("RandomSampler", {}),
}


@dataclass(frozen=True)
class Score:
    """A run on validation nodes at its best epoch: gain, loss, and epochs trained.

    The gain is the metric as a share, with a minus where lower is better: more of it always is.
    """

    gain: float
    loss: float
    epochs: int
    #: Of training.
    seconds: float = 0.0

    @staticmethod
    def of(outcome: Outcome, targets: Targets, metric: Metric) -> Score:
        """A run that diverged scores worst; a search has other trials."""
        if outcome.diverged:
            return Score(-math.inf, math.inf, outcome.epochs, outcome.seconds)
        gain = metric.sign * metric.share(outcome.logits[targets.val], targets.val_labels)
        return Score(gain, float(outcome.val_loss[outcome.best_epoch]), outcome.epochs, outcome.seconds)


def reported(metric: Metric, gain: float) -> float:
    """A gain as reports have the metric: in percent where it is a share, without the sign."""
    return metric.sign * metric.scale * gain


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
    #: Seconds of training of each trial, added over all workers; of all, and of all when a trial's last run was known.
    seconds_of: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    seconds: float = 0.0
    ended: dict[int, float] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Runs that are trained."""
        return sum(map(len, self.scores.values()))

    def knows(self, trial: int, splits: Iterable[int]) -> bool:
        """Whether a trial was trained on all of these splits."""
        return trial in self.scores and all(split in self.scores[trial] for split in splits)

    def ranking(self, splits: int, among: Iterable[int] | None = None) -> list[Standing]:
        """Trials that were trained on the first `splits` splits: higher gain first, then lower loss, then by number."""
        return self.ranking_on(range(splits), among)

    def ranking_on(self, splits: Sequence[int], among: Iterable[int] | None = None) -> list[Standing]:
        """Trials that were trained on all of these splits, in the same order."""
        standings = []
        for trial in self.scores if among is None else among:
            if self.knows(trial, splits):
                scores = [self.scores[trial][split] for split in splits]
                # Exact sums: trials with the same scores on other splits are a tie, whatever the order of adding.
                gain, loss = (
                    math.fsum(each) / len(splits) for each in ([s.gain for s in scores], [s.loss for s in scores])
                )
                standings.append(Standing(trial, gain, loss))
        return sorted(standings, key=lambda standing: (-standing.gain, standing.loss, standing.trial))

    def numbered(self, trials: range, split: int) -> Results:
        """These trials on a split, as if it were the only one and they were numbered from 0."""
        known = [trial for trial in trials if trial in self.values]
        values = {trial - trials.start: self.values[trial] for trial in known}
        trained = [trial for trial in known if self.knows(trial, [split])]
        return Results(values, {trial - trials.start: {0: self.scores[trial][split]} for trial in trained})


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
        return next_jobs(range(self.trials), self.rungs, results, self.drawn.__getitem__)


def next_jobs(
    trials: Sequence[int], rungs: Sequence[tuple[int, int]], results: Results, values: Callable[[int], Values]
) -> list[Job]:
    """What is not known yet on the first rung that is not complete; nothing where all are.

    A rung is how many of the trials go on, and on how many splits, counted from the first, they are then trained.
    """
    before = 0
    for count, splits in rungs:
        if before:
            trials = sorted(standing.trial for standing in results.ranking(before, trials)[:count])
        new = tuple(range(before, splits))
        if unknown := [trial for trial in trials if not results.knows(trial, new)]:
            return [Job(trial, values(trial), new) for trial in unknown]
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


@dataclass(frozen=True)
class OptunaSearch(RandomSearch):
    """Trials are asked for in rounds of `batch`, trained side by side on every split, and told their mean gain.

    A study is made from what is known whenever a round is asked for, and a sampler for each trial, with a seed of its
    own: a search that was killed asks for what it would have asked for.
    """

    batch: int
    sampler: str
    #: The gain of a trial that diverged, and of one that is even worse.
    worst: float

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        asked = {trial: results.values[trial] for trial in sorted(results.values) if trial >= 0}
        gains = {standing.trial: standing.gain for standing in results.ranking(self.splits, asked)}
        unknown = {trial: values for trial, values in asked.items() if trial not in gains}
        # The next round is asked for when nothing of the ones before is free.
        if len(asked) < self.trials and {*unknown} <= {*held}:
            unknown |= self._ask(asked, gains)
        return [Job(trial, values, tuple(range(self.splits))) for trial, values in unknown.items()]

    def _ask(self, asked: dict[int, Values], gains: dict[int, float]) -> dict[int, Values]:
        """A round of trials, after those that were asked for; one without a gain is under way."""
        import optuna
        from optuna.trial import TrialState, create_trial

        distributions = {name: _distribution(axis) for name, axis in self.space.axes.items()}
        sampler, options = SAMPLERS[self.sampler]
        new: dict[int, Values] = {}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(direction="maximize")
            for trial, values in asked.items():
                told = {"value": max(gains[trial], self.worst)} if trial in gains else {"state": TrialState.RUNNING}
                study.add_trial(create_trial(params=values, distributions=distributions, **told))
            for trial in range(len(asked), min(self.trials, len(asked) + self.batch)):
                seed = int(np.random.SeedSequence([self.seed, trial]).generate_state(1)[0])
                study.sampler = getattr(optuna.samplers, sampler)(seed=seed, **options)
                params = study.ask(distributions).params
                new[trial] = {name: _value(axis, params[name]) for name, axis in self.space.axes.items()}
        return new


def _distribution(axis: Axis) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.between:
        low, high = axis.values
        return FloatDistribution(low, high, log=axis.between == "log")
    if axis.step is None:
        return CategoricalDistribution(axis.values)
    kind: Any = IntDistribution if isinstance(axis.values[0], int) else FloatDistribution
    return kind(axis.values[0], axis.values[-1], step=axis.step)


def _value(axis: Axis, parameter: Any) -> Any:
    """A value on an evenly spaced grid, which arithmetic with steps misses by a rounding error, or any other."""
    return parameter if axis.step is None else min(axis.values, key=lambda own: abs(own - parameter))


def check_installed() -> None:
    """Optuna is an extra."""
    if find_spec("optuna") is None:
        raise PcnetError(
            "The strategy optuna needs Optuna, which is not installed; pip install 'pcnet[optuna]' brings it, and the "
            "strategies evolve, halving and random do without."
        )
