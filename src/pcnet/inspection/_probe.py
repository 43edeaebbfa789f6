"""What a probe found: how well features, links, and both predict the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pcnet.evaluation import LEVEL, Summary, resampled_t

WAYS = ("features", "graph", "both")
#: The way that learns nothing: it always names the class that is most frequent in training.
GUESS = "guess"
#: Percent points that matter, however sure they are.
POINTS = 1.0

Metric = Literal["accuracy", "macro_f1"]


@dataclass(frozen=True)
class Probe:
    """Test scores in percent of each way over the splits, and of a guess that never changes.

    `metric` is the score that decides: accuracy, or macro-F1 where one class is so frequent that accuracy is blind to
    the others. `missing` says why a way was not tried, `skipped` why none was, `note` how the probe was kept short.
    """

    accuracy: Mapping[str, Summary]
    macro_f1: Mapping[str, Summary]
    missing: Mapping[str, str]
    metric: Metric = "accuracy"
    test_per_train: float = 1 / 3
    note: str = ""
    skipped: str = ""

    @property
    def ways(self) -> list[str]:
        """Those that were tried."""
        return [way for way in WAYS if way in self.accuracy]

    @property
    def splits(self) -> int:
        return len(self.accuracy[GUESS].per_run)

    def difference(self, way: str, other: str) -> float:
        """Percent points between two means of the score that decides."""
        scores = getattr(self, self.metric)
        return float(scores[way].mean - scores[other].mean)

    def gain(self, way: str, other: str) -> float:
        """The difference where it is large enough to matter and no accident; 0 elsewhere.

        No accident: p < 0.05 by a t-test for splits that overlap, one-sided, since the question is what is better.
        """
        scores = getattr(self, self.metric)
        if way not in scores or other not in scores:
            return 0.0
        p = resampled_t(scores[way].per_run, scores[other].per_run, self.test_per_train)
        difference = self.difference(way, other)
        return difference if difference >= POINTS and p / 2 < LEVEL else 0.0

    def as_dict(self) -> dict[str, Any]:
        def scores(way: str) -> dict[str, Any] | None:
            if way not in self.accuracy:
                return None
            return {**self.accuracy[way].as_dict(), "macro_f1": self.macro_f1[way].as_dict()}

        words = {"missing": dict(self.missing), "note": self.note or None, "skipped": self.skipped or None}
        return {**{way: scores(way) for way in WAYS}, "majority": scores(GUESS), "decided_by": self.metric, **words}
