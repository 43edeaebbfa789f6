"""Methods trained on the same splits: how they stand to the best, and what has to be known to read that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pcnet._checks import FloatArray
from pcnet.compare import (
    LEVEL,
    CriticalDifference,
    Metric,
    Summary,
    critical_difference,
    holm,
    signed_rank,
)
from pcnet.data import Split
from pcnet.experiment import DEFAULT_METHOD, Basis, Experiment, Result, difference_interval
from pcnet.graph import Graph

Interval = tuple[float, float]

BEST, WORSE, PERHAPS, UNKNOWN = "best", "worse", "may be as good", "cannot tell"


@dataclass(frozen=True)
class Trained:
    """What is kept of a method's runs, all of it by the metric that methods are compared by."""

    method: str
    experiment: Experiment
    test: Summary
    val: Summary
    #: What the interval of `test` is about.
    basis: Basis
    epochs: tuple[int, ...]
    seconds: float
    #: The day and the machine.
    made: Mapping[str, str]

    @staticmethod
    def of(method: str, result: Result, made: Mapping[str, str]) -> Trained:
        metric = result.experiment.metric
        test, val = result.test[metric], result.val[metric]
        epochs = tuple(outcome.epochs for outcome in result.outcomes)
        return Trained(method, result.experiment, test, val, Basis.of(test), epochs, result.seconds, made)

    @property
    def score(self) -> float:
        """What is shown of the method, and what orders methods."""
        return self.test.mean

    @property
    def interval(self) -> Interval | None:
        """None where a single run says nothing about it."""
        return self.test.ci95 if self.basis.nodes or len(self.test.per_run) > 1 else None

    @property
    def title(self) -> str:
        return self.experiment.title

    @property
    def metric(self) -> Metric:
        return self.experiment.scored_by

    @property
    def scored(self) -> str:
        """82.10 % [80.05, 84.10]."""
        unit = " %" if self.metric.percent else ""
        return f"{self.metric.text(self.score)}{unit} {spread(self.metric, self.interval)}".rstrip()

    @property
    def gains(self) -> FloatArray:
        """The score of each run with the sign that makes more of it better."""
        return self.metric.sign * np.array(self.test.per_run)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return {
            "method": self.method,
            "title": self.title,
            "settings": {**self.experiment.settings, "source": self.experiment.source},
            "score": self.score,
            "interval": self.interval and list(self.interval),
            "basis": asdict(self.basis),
            # What else an estimate knows is for `pcnet train` to tell.
            "test": Summary.as_dict(self.test),
            "val": self.val.as_dict(),
            "epochs": list(self.epochs),
            "seconds": self.seconds,
            **self.made,
        }

    @staticmethod
    def from_dict(experiment: Experiment, kept: Mapping[str, Any]) -> Trained:
        """What `as_dict` made of the runs of this experiment."""
        test, val = (
            Summary(part["mean"], tuple(part["ci95"]), part["std"], tuple(part["per_run"]))
            for part in (kept["test"], kept["val"])
        )
        made = {key: kept[key] for key in ("date", "machine")}
        basis, epochs = Basis(**kept["basis"]), tuple(kept["epochs"])
        return Trained(kept["method"], experiment, test, val, basis, epochs, kept["seconds"], made)


@dataclass(frozen=True)
class Lead:
    """By how much one method is better than another, in the metric's unit; no interval where splits cannot give one."""

    value: float
    interval: Interval | None

    @property
    def verdict(self) -> str:
        """About the other method."""
        if self.interval is None:
            return UNKNOWN
        return WORSE if self.interval[0] > 0 else PERHAPS


@dataclass(frozen=True)
class Standing:
    """A method's place: its average rank, how far it is behind the best, and Wilcoxon's p; None for the best itself."""

    trained: Trained
    rank: float
    behind: Lead | None = None
    p: float | None = None
    corrected: float | None = None

    @property
    def verdict(self) -> str:
        return BEST if self.behind is None else self.behind.verdict


@dataclass(frozen=True, eq=False)
class Contest:
    """Methods trained on the same splits of a graph; those that could not be, by title with the reason."""

    graph: Graph
    splits: Sequence[Split]
    trained: Sequence[Trained]
    left_out: Mapping[str, str]

    @property
    def metric(self) -> Metric:
        return self.trained[0].metric

    @cached_property
    def order(self) -> list[Trained]:
        """Best first."""
        return sorted(self.trained, key=lambda each: -self.metric.sign * each.score)

    @cached_property
    def ranks(self) -> CriticalDifference:
        """All against all by ranks; differences are better − other."""
        return critical_difference({each.method: each.gains for each in self.order})

    def lead(self, one: Trained, other: Trained) -> Lead:
        """By how much one is better; the intervals of all methods to the best together hold at 95 % (Bonferroni)."""
        first, second = (one.test, other.test) if self.metric.sign > 0 else (other.test, one.test)
        level = 1 - LEVEL / (len(self.trained) - 1)
        interval = difference_interval(first, second, self.splits, one.basis, level)
        return Lead(first.mean - second.mean, interval)

    @cached_property
    def standings(self) -> list[Standing]:
        """Best first."""
        best, *others = self.order
        raw = [signed_rank(best.gains, other.gains) for other in others]
        return [Standing(best, self.ranks.ranks[best.method])] + [
            Standing(other, self.ranks.ranks[other.method], self.lead(best, other), p, corrected)
            for other, p, corrected in zip(others, raw, holm(raw), strict=True)
        ]

    @property
    def sentence(self) -> str:
        """The outcome in plain words."""
        best, *others = self.standings
        highest = "highest" if self.metric.sign > 0 else "lowest"
        lead = f"{best.trained.title} has the {highest} {self.metric.title}, {best.trained.scored}"
        if not others:
            return f"{lead}, but there is no other to compare it with."
        words = {WORSE: "Worse", PERHAPS: "Perhaps as good", UNKNOWN: "Behind it"}
        parts = [f"{lead}."]
        for verdict, word in words.items():
            group = [each for each in others if each.verdict == verdict]
            if group:
                names = [f"{each.trained.title} (behind by {self.distance(each)})" for each in group]
                parts.append(f"{word}: {listed(names)}.")
        if any(each.verdict == UNKNOWN for each in others):
            few = "one split cannot say" if len(self.splits) == 1 else "these splits cannot say"
            parts.append(f"How sure that is, {few}; more --runs can.")
        return " ".join(parts)

    def distance(self, standing: Standing) -> str:
        """3.20 [0.51, 6.13]; nothing of the best."""
        behind = standing.behind
        if behind is None:
            return ""
        return f"{self.metric.text(behind.value)} {spread(self.metric, behind.interval)}".rstrip()

    @property
    def meaning(self) -> list[str]:
        """What the scores and differences are, in sentences."""
        unit = f"{self.metric.title}{' in percent' if self.metric.percent else ', lower is better'}"
        basis = self.trained[0].basis
        if basis.nodes:
            others = f"the {basis.unlabelled:,} without a label" if basis.unlabelled else "nodes like them"
            what = f"what {basis.nodes:,} tested nodes say of {others}, with its 95 % interval"
            chance = "with an interval for what nodes (Newcombe 1998), splits and seeds do by chance"
        else:
            what = "mean over the splits' test nodes; its 95 % interval is a bootstrap over splits"
            chance = "with an interval that allows for the nodes that splits share (Nadeau and Bengio 2003)"
        score = f"Score: {unit}, {what}."
        behind = (
            f"Behind the best: in the same unit, {chance}; all of these intervals together hold at 95 %. Above 0 "
            "throughout means worse."
        )
        return [score, behind] if len(self.trained) > 1 else [score]

    @property
    def meaning_of_ranks(self) -> list[str]:
        """What ranks and their test are."""
        if len(self.trained) < 2:
            return []
        least = 2 * (len(self.trained) - 1) / 2 ** len(self.splits)
        ranks = (
            "Rank: mean over splits, 1 is best. p: Wilcoxon's signed-rank test against the best, corrected by Holm; it "
            "takes splits for independent and is too low."
        )
        few = (
            f"With n = {len(self.splits)} no p among {len(self.trained)} methods can fall below {min(1.0, least):.3g}: "
            "ranks of so few runs tell nothing apart."
        )
        return [ranks, few] if least > LEVEL else [ranks]

    @property
    def notes(self) -> list[str]:
        """What else has to be known to read the figures."""
        return [*self.graph.notes, *dict.fromkeys(note for split in self.splits for note in split.notes), *self._own()]

    def _own(self) -> Iterator[str]:
        different = len({split.hash for split in self.splits})
        if different < len(self.splits):
            yield f"There are {different} splits for {len(self.splits)} runs; runs on one split share its luck."
        plain = [each.title for each in self.trained if not each.experiment.source]
        tuned = [f"{each.title} ({each.experiment.source})" for each in self.trained if each.experiment.source]
        if tuned:
            others = f"; defaults: {listed(plain)}. --defaults treats all alike" if plain else ""
            yield f"Settings for this graph: {listed(tuned)}{others}."
        else:
            yield "Every method has its defaults, which nobody tuned for this graph; `pcnet tune` may change the order."
        if any(each.method == DEFAULT_METHOD and each.experiment.source for each in self.trained):
            yield "The published settings of PCNet were chosen by its authors by test scores."


def spread(metric: Metric, interval: Interval | None) -> str:
    """Its interval: [80.05, 84.10], or nothing."""
    return "" if interval is None else f"[{metric.text(interval[0])}, {metric.text(interval[1])}]"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
