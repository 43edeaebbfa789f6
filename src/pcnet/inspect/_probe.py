"""What a probe found: test scores of what was trained, how sure a difference is, and what features and links add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.compare import Metric

#: What may be looked at.
Way = Literal["features", "graph", "both", "guess"]
#: How often test nodes are drawn again for an interval.
RESAMPLES = 500
#: Numbers that are scored at a time.
AT_ONCE = 2**22
#: Ways to learn, and what they are called.
WAYS: Mapping[Way, str] = {"features": "features only", "graph": "links only", "both": "features and links"}
#: Percent points of any metric below which a gain is not worth a more complicated model.
MATTERS = 2.0


class Estimate(NamedTuple):
    """A mean over splits and its 95 % interval, or the same of a difference, in which more is better."""

    mean: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "ci95": [self.low, self.high]}


@dataclass(frozen=True, eq=False)
class Attempt:
    """A candidate that was trained: what it may look at, and its test scores, one for each split, as reports have them.

    `draws[i, r]` is the score on split i when its test nodes are drawn again with replacement for the r-th time; they
    are the same nodes for all attempts. `method` and `settings` are empty where no command trains the like; `logits`
    are what it answers on the test nodes.
    """

    way: Way
    name: str
    per_run: FloatArray
    draws: FloatArray
    method: str = ""
    settings: tuple[str, ...] = ()
    logits: tuple[Tensor, ...] = ()

    @property
    def splits(self) -> int:
        return len(self.per_run)

    @property
    def score(self) -> Estimate:
        return _estimate(self.per_run, self.draws)

    def joined(self, more: Attempt) -> Attempt:
        """With the scores on further splits."""
        per_run, draws = (np.concatenate(pair) for pair in ((self.per_run, more.per_run), (self.draws, more.draws)))
        return replace(self, per_run=per_run, draws=draws, logits=self.logits + more.logits)

    def as_dict(self) -> dict[str, Any]:
        named = {"name": self.name, "method": self.method or None, "settings": list(self.settings)}
        return {**named, **self.score.as_dict(), "per_run": self.per_run.tolist()}


class Gain(NamedTuple):
    """By how much one attempt is better than another."""

    best: Attempt
    over: Attempt
    by: Estimate

    @property
    def splits(self) -> int:
        """Those that both had."""
        return min(self.best.splits, self.over.splits)

    def as_dict(self) -> dict[str, Any]:
        return {"best": self.best.name, "over": self.over.name, **self.by.as_dict()}


def difference(one: Attempt, other: Attempt, sign: int = 1) -> Estimate:
    """By how much `one` is better than `other` on the splits that both had; `sign` is the metric's."""
    both = min(one.splits, other.splits)
    return _estimate(sign * (one.per_run[:both] - other.per_run[:both]), sign * (one.draws[:both] - other.draws[:both]))


def gain(of: Sequence[Attempt], over: Sequence[Attempt], sign: int = 1) -> Gain:
    """By how much the first, best, of these is better than the first of those, though both were picked as the best.

    On other nodes and splits another might have been: the mean of the best, picked again among the resampled means,
    lies above what it should be, and the ends of the interval lie lower and higher by as much.
    """
    both = min(of[0].splits, over[0].splits)
    first, second = (
        [sign * _resampled(each.draws[:both]) for each in some if each.splits >= both] for some in (of, over)
    )
    one, other = (sign * float(some[0].per_run[:both].mean()) for some in (of, over))
    rise = np.max(first, axis=0) - second[0] - (one - other)
    fall = np.max(second, axis=0) - first[0] - (other - one)
    return Gain(of[0], over[0], Estimate(one - other, one - other - _most(rise), one - other + _most(fall)))


def _estimate(per_run: FloatArray, draws: FloatArray) -> Estimate:
    """Mean, and the middle 95 % of the resampled ones."""
    means = _resampled(draws)
    return Estimate(float(per_run.mean()), -_most(-means), _most(means))


def _most(values: FloatArray) -> float:
    """The 97.5th percentile; a ranking metric is undefined where all nodes of a draw are of one class."""
    return float(np.nanpercentile(values, 97.5)) if np.isfinite(values).any() else np.nan


def _resampled(draws: FloatArray) -> FloatArray:
    """Means over splits that are drawn again, each with test nodes that are drawn again; the same splits for all.

    Nodes alone would leave out what a split's training set and seed do, and two to five splits alone say too little of
    their own spread for a t-interval. Drawing both counts the spread of test nodes twice: it errs on the wide side,
    as it must, since the training sets of the splits overlap (Nadeau and Bengio 2003).
    """
    splits, resamples = draws.shape
    chosen = np.random.default_rng(0).integers(0, splits, size=(splits, resamples))
    return draws[chosen, np.arange(resamples)].mean(axis=0)


def redrawn(metric: Metric, logits: Tensor, labels: Tensor, seed: int) -> FloatArray:
    """`RESAMPLES` scores, each on n nodes drawn with replacement from n; the same draws for the same seed."""
    nodes, classes = logits.shape
    drawn = torch.from_numpy(np.random.default_rng(seed).integers(0, nodes, (RESAMPLES, nodes)))
    parts = drawn.split(max(1, AT_ONCE // (nodes * classes)))
    found = torch.cat(
        [metric.of(logits[part], labels[part], torch.ones_like(part, dtype=torch.bool)) for part in parts]
    )
    return metric.scale * found.double().numpy()


@dataclass(frozen=True, eq=False)
class Probe:
    """All attempts, with test scores by the metric that decides, and a guess that never changes.

    What is clearly worse than another of its way after the first splits has no more of them. `missing` says why a way
    was not tried, `left_out` why a method was not, `skipped` why nothing was, and `note` how the probe was kept short.
    `signal` is by how many points of ROC-AUC the best is above the 50 of a guess; it is there where nothing is clearly
    better than a guess by the metric.
    """

    metric: Metric
    attempts: tuple[Attempt, ...] = ()
    guess: Attempt | None = None
    missing: Mapping[Way, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    signal: Estimate | None = None
    note: str = ""
    skipped: str = ""

    @property
    def splits(self) -> int:
        return 0 if self.guess is None else self.guess.splits

    @property
    def ways(self) -> list[Way]:
        """Those that were tried."""
        return [way for way in WAYS if self._of(way)]

    @property
    def ranked(self) -> list[Attempt]:
        """Best first; behind them, in their order, those that were given up after the first splits."""
        return sorted(self.attempts, key=lambda each: (each.splits < self.splits, -self.metric.sign * each.score.mean))

    def best(self, way: Way) -> Attempt | None:
        """The best of a way."""
        return next(iter(self._of(way)), None)

    def difference(self, one: Attempt, other: Attempt) -> Estimate:
        """By how much one is better than the other, in points of a percentage where the metric is one."""
        return difference(one, other, self.metric.sign)

    @property
    def over_guess(self) -> Gain:
        """The best of all over the guess."""
        assert self.guess is not None
        return gain(self.ranked, [self.guess], self.metric.sign)

    @property
    def features_alone(self) -> Gain | None:
        """What sees nothing but the features over the guess."""
        return self._gain(self._of("features"), [] if self.guess is None else [self.guess])

    @property
    def links_add(self) -> Gain | None:
        """The best that sees the links over the best that sees the features alone."""
        return self._gain(self._of("graph", "both"), self._of("features"))

    @property
    def features_add(self) -> Gain | None:
        """The best that sees the features over the best that sees the links alone."""
        return self._gain(self._of("features", "both"), self._of("graph"))

    def _of(self, *ways: Way) -> list[Attempt]:
        return [each for each in self.ranked if each.way in ways]

    def _gain(self, of: list[Attempt], over: list[Attempt]) -> Gain | None:
        return gain(of, over, self.metric.sign) if of and over else None

    @property
    def matters(self) -> float:
        """The smallest difference that is worth something, in the metric's unit."""
        return MATTERS * self.metric.scale / 100

    def number(self, value: float, plus: str = "") -> str:
        """A score or a difference as it is printed."""
        return f"{value:{plus}.{self.metric.digits}f}".replace("-", "−")

    def interval(self, found: Estimate) -> str:
        return f"[{self.number(found.low)}, {self.number(found.high)}]"

    def points(self, by: Estimate) -> str:
        """A difference in words: +2.1 points [0.4, 3.9]."""
        return f"{self.number(by.mean, '+')}{' points' if self.metric.percent else ''} {self.interval(by)}"

    def as_dict(self) -> dict[str, Any]:
        """As plain data. Every score has mean, ci95 and per_run, in percent where the metric is a share.

        `features`, `graph` and `both` are the best of each way, `majority` the guess, `tried` all of them, best first;
        `links_add` and `features_add` are the differences that the verdict follows from, and `signal` is one of ROC-AUC
        to 50. What was not tried is in `missing`, `left_out` and `skipped`, with the reasons.
        """

        def plain(found: Attempt | Gain | Estimate | None) -> dict[str, Any] | None:
            return None if found is None else found.as_dict()

        return {
            "metric": self.metric.name,
            "splits": self.splits,
            **{way: plain(self.best(way)) for way in WAYS},
            "majority": plain(self.guess),
            "tried": [{"way": each.way, **each.as_dict()} for each in self.ranked],
            "links_add": plain(self.links_add),
            "features_add": plain(self.features_add),
            "signal": plain(self.signal),
            "missing": dict(self.missing),
            "left_out": dict(self.left_out),
            "note": self.note or None,
            "skipped": self.skipped or None,
        }
