"""Methods by their scores on the same splits: who is best, and which others cannot be told from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pcnet.compare._metrics import Metric
from pcnet.compare._ranks import CriticalDifference, critical_difference
from pcnet.compare._summary import Summary
from pcnet.compare._tests import LEVEL, Scores, difference_interval, least_p, paired, runs_of

BEST, WORSE, PERHAPS, UNKNOWN = "best", "worse", "may be as good", "cannot tell"


@dataclass(frozen=True)
class Lead:
    """By how much one method is better than another, in the metric's unit; no interval where splits cannot give one."""

    value: float
    interval: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        """About the other method."""
        if self.interval is None:
            return UNKNOWN
        return WORSE if self.interval[0] > 0 else PERHAPS


@dataclass(frozen=True)
class Standing:
    """A method's place: its average rank, how far it is behind the best, and Wilcoxon's p; None for the best itself."""

    method: str
    rank: float
    behind: Lead | None = None
    p: float | None = None
    corrected: float | None = None

    @property
    def verdict(self) -> str:
        """One of "best", "worse", "may be as good" and "cannot tell"."""
        return BEST if self.behind is None else self.behind.verdict


@dataclass(frozen=True, eq=False)
class Comparison:
    """The scores of methods by one metric; run i of each is on split i, which has n_test / n_train = test_per_train[i].

    >>> from pcnet.compare import metric_named, summarise
    >>> scores = {"mlp": summarise([70.0, 72.0, 71.0]), "gcn": summarise([80.0, 83.0, 81.0])}
    >>> compared = Comparison(scores, metric_named("accuracy"), [1 / 3] * 3)
    >>> [(each.method, each.verdict) for each in compared.standings]
    [('gcn', 'best'), ('mlp', 'worse')]
    """

    scores: Mapping[str, Summary]
    metric: Metric
    test_per_train: Sequence[float]

    @cached_property
    def order(self) -> list[str]:
        """Names of the methods, best first."""
        return sorted(self.scores, key=lambda method: -self.metric.sign * self.scores[method].mean)

    @cached_property
    def ranks(self) -> CriticalDifference:
        """All against all by ranks; differences are better − other."""
        return critical_difference(self._gains)

    def lead(self, method: str, other: str) -> Lead:
        """By how much one is better; the intervals of all methods to the best together hold at 95 % (Bonferroni)."""
        pair = (method, other) if self.metric.sign > 0 else (other, method)
        first, second = (self.scores[each] for each in pair)
        level = 1 - LEVEL / (len(self.scores) - 1)
        return Lead(first.mean - second.mean, difference_interval(first, second, self.test_per_train, level))

    @cached_property
    def standings(self) -> list[Standing]:
        """Best first."""
        best, *others = self.order
        ranks = self.ranks.ranks
        return [Standing(best, ranks[best])] + [
            Standing(pair.second, ranks[pair.second], self.lead(best, pair.second), pair.p, pair.corrected)
            for pair in paired(runs_of(self._gains), [(best, other) for other in others])
        ]

    @property
    def least(self) -> float:
        """The lowest corrected p that the standings can have; above 0.05 ranks tell nothing apart."""
        return least_p(len(self.test_per_train), len(self.scores) - 1)

    @cached_property
    def _gains(self) -> dict[str, list[float]]:
        """The scores of every run with the sign that makes more of them better, the best method first."""
        return {method: [self.metric.sign * score for score in self.scores[method].per_run] for method in self.order}


@dataclass(frozen=True)
class Rival:
    """A method that is not the best: `difference` is best − its mean, `corrected` its p after Holm."""

    method: str
    difference: float
    p: float
    corrected: float
    indistinguishable: bool


@dataclass(frozen=True)
class Winners:
    """The method with the best mean and every other, nearest first.

    `note` is "too few runs to tell" and why, where no outcome whatever could have told the methods apart.
    """

    best: str
    runs: int
    rivals: tuple[Rival, ...]
    note: str = ""

    @property
    def winners(self) -> tuple[str, ...]:
        """The best method and those indistinguishable from it."""
        return (self.best, *(rival.method for rival in self.rivals if rival.indistinguishable))


def winners(per_run: Mapping[str, Scores]) -> Winners:
    """The method with the highest mean, and which others cannot be told from it at 0.05; run i is split i for all.

    Each other method is compared with the best by Wilcoxon's signed-rank test on the pairs, and their p are corrected
    together by Holm. n pairs cannot give a p below 2 / 2ⁿ, nor m comparisons a corrected one below 2m / 2ⁿ: ten runs
    can tell 14 methods apart (0.0254), five not even two (0.0625), and `note` then says so.

    Two things make "worse" come too easily: the best is picked by the very runs it is tested on (of 14 equal methods
    over ten runs one is told apart in 9 % of cases, not 5 %), and random splits of one graph share most of their nodes.

    >>> found = winners({"gcn": [80.0, 82.0, 84.0], "mlp": [75.0, 76.0, 77.0]})
    >>> found.best, found.note[:20]
    ('gcn', 'too few runs to tell')
    """
    scores = runs_of(per_run)
    best, *others = sorted(scores, key=lambda method: -scores[method].mean())
    rivals = tuple(
        Rival(pair.second, pair.difference, pair.p, pair.corrected, pair.corrected > LEVEL)
        for pair in paired(scores, [(best, other) for other in others])
    )
    runs = len(scores[best])
    least = least_p(runs, len(others))
    few = (
        f"too few runs to tell: with n = {runs} no p among {len(scores)} methods can fall below {least:.3g} after "
        "Holm's correction"
    )
    return Winners(best, runs, rivals, few if least > LEVEL else "")
