"""Methods by their scores on the same splits: ranks, who is best, and which others cannot be told from it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pcnet.compare._metrics import Metric
from pcnet.compare._summary import Summary
from pcnet.compare._tests import DIGITS, LEVEL, Pair, Scores, difference_interval, least_p, mid_ranks, paired, runs_of
from pcnet.errors import PcnetError

BEST, WORSE, PERHAPS, UNKNOWN = "best", "worse", "may be as good", "cannot tell"


def average_ranks(means: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Mean over datasets of each method's rank, 1 for the highest mean; `means` has one row a method.

    Equal means share the mean of their places. A method without a figure on a dataset (None: out of memory) takes the
    last place there, and several of them share the last places; leaving such a dataset out for them instead would pay
    for failing on it. These are the rules behind the column Avg.Rank of the paper's Table 3, which they reproduce. A
    dataset on which no method has a figure ranks nobody and is left out.

    >>> average_ranks({"gcn": [80.0, 70.0], "mlp": [75.0, 72.0], "gat": [75.0, None]})
    {'gcn': 1.5, 'mlp': 1.75, 'gat': 2.75}
    """
    if len({len(row) for row in means.values()}) != 1:
        raise PcnetError("Ranks need one or more methods, each with a mean or None for every dataset.")
    if not all(mean is None or np.isfinite(mean) for row in means.values() for mean in row):
        raise PcnetError("A mean is no finite number; ranks take None where a method has none.")
    scores = np.array([[-np.inf if mean is None else mean for mean in row] for row in means.values()])
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    if scores.shape[1] == 0:
        raise PcnetError("Ranks need at least one dataset on which a method has a mean.")
    ranks = np.mean([mid_ranks(-column) for column in scores.T], axis=0)
    return dict(zip(means, ranks.tolist(), strict=True))


@dataclass(frozen=True)
class CriticalDifference:
    """What a critical-difference picture shows: average ranks, best first, and the groups that its bars join."""

    runs: int
    ranks: Mapping[str, float]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def least(self) -> float:
        """The lowest corrected p that a pair can have, whatever the outcome; above 0.05 nothing differs."""
        return least_p(self.runs, len(self.pairs))


def critical_difference(per_run: Mapping[str, Scores]) -> CriticalDifference:
    """Average ranks over runs, and every largest group without a pair that differs at 0.05; run i is split i for all.

    The picture is Demšar's (2006). Its one distance for all pairs, Nemenyi's, depends on which other methods happen to
    be compared; the pairs are told apart here by Wilcoxon's signed-rank test instead, all of them corrected together by
    Holm, as Benavoli, Corani and Mangili (2016) advise. m methods are m(m − 1)/2 pairs and n runs give no p below
    2 / 2ⁿ: ten runs can tell 7 methods apart, not 8.

    >>> critical_difference({"gcn": [80.0, 82.0, 84.0], "mlp": [75.0, 76.0, 77.0]}).groups
    (('gcn', 'mlp'),)
    """
    runs = runs_of(per_run)
    ranks = average_ranks({method: np.round(each, DIGITS).tolist() for method, each in runs.items()})
    order = sorted(ranks, key=lambda method: ranks[method])
    pairs = paired(runs, itertools.combinations(order, 2))
    groups = {frozenset(order)}
    for pair in pairs:
        if pair.corrected <= LEVEL:
            # No group may have both. Groups need not be neighbours in rank: the first and the third may be alike.
            both = {pair.first, pair.second}
            parts = {group - {one} if both <= group else group for group in groups for one in both}
            groups = {part for part in parts if not any(part < other for other in parts)}
    places = sorted(sorted(order.index(method) for method in group) for group in groups)
    joined = tuple(tuple(order[place] for place in group) for group in places if len(group) > 1)
    return CriticalDifference(len(runs[order[0]]), {method: ranks[method] for method in order}, pairs, joined)


@dataclass(frozen=True)
class Lead:
    """By how much one method is better than another, in the metric's unit; no interval where splits cannot give one."""

    value: float
    interval: tuple[float, float] | None


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
        if self.behind is None:
            return BEST
        if self.behind.interval is None:
            return UNKNOWN
        return WORSE if self.behind.interval[0] > 0 else PERHAPS


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
