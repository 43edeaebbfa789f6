"""What a probe found: how well features, links, and both predict the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pcnet.compare import Metric
from pcnet.inspect._scores import Attempt, Estimate, Gain, Way, difference, gain

#: Ways to learn, and what they are called.
WAYS: Mapping[Way, str] = {"features": "features only", "graph": "links only", "both": "features and links"}
#: Percent points of any metric below which a gain is not worth a more complicated model.
MATTERS = 2.0


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
        return MATTERS if self.metric.percent else MATTERS / 100

    def number(self, value: float, plus: str = "") -> str:
        """A score or a difference as it is printed."""
        return f"{value:{plus}.{1 if self.metric.percent else 3}f}".replace("-", "−")

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
