"""What a probe found: how well features, links, and both predict the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pcnet.compare import Metric
from pcnet.inspect._tried import Estimate, Tried, Way, difference, gain

#: Ways to learn, and what they are called.
WAYS: Mapping[Way, str] = {"features": "features only", "graph": "links only", "both": "features and links"}
#: Percent points of any metric below which a gain is not worth a more complicated model.
MATTERS = 2.0


class Gain(NamedTuple):
    """By how much one thing that was tried is better than another."""

    best: Tried
    over: Tried
    by: Estimate

    @staticmethod
    def of_best(these: Sequence[Tried], those: Sequence[Tried], sign: int) -> Gain:
        """The first of these beside the first of those; the interval allows for their having been picked."""
        return Gain(these[0], those[0], gain(these, those, sign))

    @property
    def splits(self) -> int:
        """Those that both had."""
        return min(self.best.splits, self.over.splits)

    def as_dict(self) -> dict[str, Any]:
        return {"best": self.best.name, "over": self.over.name, **self.by.as_dict()}


@dataclass(frozen=True, eq=False)
class Probe:
    """Everything that was tried, test scores by the metric that decides, and a guess that never changes beside it.

    What is clearly worse than another of its way after the first splits has no more of them. `missing` says why a way
    was not tried, `left_out` why a method was not, `skipped` why nothing was, and `note` how the probe was kept short.
    `signal` is by how many points of ROC-AUC the best is above the 50 of a guess; it is asked for where nothing is
    clearly better than a guess by the metric.
    """

    metric: Metric
    tried: tuple[Tried, ...] = ()
    guess: Tried | None = None
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
        return [way for way in WAYS if any(each.way == way for each in self.tried)]

    @property
    def ranked(self) -> list[Tried]:
        """Best first; behind them, in their order, those that were given up after the first splits."""
        return sorted(self.tried, key=lambda each: (each.splits < self.splits, -self.metric.sign * each.score.mean))

    def best(self, *ways: Way) -> Tried | None:
        """The best of these ways."""
        return next(iter(self._of(*ways)), None)

    def difference(self, one: Tried, other: Tried) -> Estimate:
        """By how much one is better than the other, in points of a percentage where the metric is one."""
        return difference(one, other, self.metric.sign)

    @property
    def over_guess(self) -> Gain:
        """The best of all beside the guess."""
        assert self.guess is not None
        return Gain.of_best(self.ranked, [self.guess], self.metric.sign)

    @property
    def features_alone(self) -> Gain | None:
        """What sees nothing but the features beside the guess."""
        return self._gain(self._of("features"), [] if self.guess is None else [self.guess])

    @property
    def links_add(self) -> Gain | None:
        """The best that sees the links beside the best that sees the features alone."""
        return self._gain(self._of("graph", "both"), self._of("features"))

    @property
    def features_add(self) -> Gain | None:
        """The best that sees the features beside the best that sees the links alone."""
        return self._gain(self._of("features", "both"), self._of("graph"))

    def _of(self, *ways: Way) -> list[Tried]:
        """What was tried of these ways, best first."""
        return [each for each in self.ranked if each.way in ways]

    def _gain(self, of: list[Tried], over: list[Tried]) -> Gain | None:
        return Gain.of_best(of, over, self.metric.sign) if of and over else None

    @property
    def matters(self) -> float:
        """The smallest difference that is worth something, in the metric's unit."""
        return MATTERS if self.metric.percent else MATTERS / 100

    def said(self, gain: Estimate) -> str:
        """A difference in words: +2.1 points, 95 % interval [0.4, 3.9]."""
        return f"{self.figures(gain, '+')}{' points' if self.metric.percent else ''} {self.interval(gain)}"

    def figures(self, found: Estimate, plus: str = "") -> str:
        """Its mean."""
        return self._number(found.mean, plus)

    def interval(self, found: Estimate) -> str:
        """Its interval."""
        return f"[{self._number(found.low)}, {self._number(found.high)}]"

    def _number(self, value: float, plus: str = "") -> str:
        return f"{value:{plus}.{1 if self.metric.percent else 3}f}".replace("-", "−")

    def as_dict(self) -> dict[str, Any]:
        """As plain data. Every score has mean, ci95 and per_run, in percent where the metric is a share.

        `features`, `graph` and `both` are the best of each way, `majority` the guess, `tried` all of them, best first;
        `links_add` and `features_add` are the differences that the verdict follows from, and `signal` is one of ROC-AUC
        to 50. What was not tried is in `missing`, `left_out` and `skipped`, with the reasons.
        """

        def scores(found: Tried | None) -> dict[str, Any] | None:
            return None if found is None else found.as_dict()

        return {
            "metric": self.metric.name,
            "splits": self.splits,
            **{way: scores(self.best(way)) for way in WAYS},
            "majority": scores(self.guess),
            "tried": [{"way": each.way, **each.as_dict()} for each in self.ranked],
            "links_add": None if self.links_add is None else self.links_add.as_dict(),
            "features_add": None if self.features_add is None else self.features_add.as_dict(),
            "signal": None if self.signal is None else self.signal.as_dict(),
            "missing": dict(self.missing),
            "left_out": dict(self.left_out),
            "note": self.note or None,
            "skipped": self.skipped or None,
        }
