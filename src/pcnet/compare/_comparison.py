"""Methods by their scores on the same splits: paired tests, intervals of differences, ranks, and who is best."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pcnet._checks import FloatArray, finite_array, positive_number
from pcnet.compare._metrics import Metric
from pcnet.compare._summary import Summary, Z
from pcnet.errors import PcnetError

BEST, WORSE, PERHAPS, UNKNOWN = "best", "worse", "may be as good", "cannot tell"
LEVEL = 0.05
#: Equal steps of accuracy (1/61 on Texas) differ in their last bits; as ranks they must tie.
DIGITS = 9

Scores = Sequence[float] | FloatArray


def mid_ranks(values: FloatArray) -> FloatArray:
    """#{smaller} + (#{equal} + 1) / 2: ranks from 1 for the smallest; equal values share the mean of their places."""
    smaller = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return smaller + (equal + 1) / 2


def signed_rank(first: Scores, second: Scores) -> float:
    """Wilcoxon's two-sided p for pairs: 2 P(W ≤ min(W₊, W₋)), each sign of a difference being a fair coin.

    W₊ and W₋ add up the ranks of |first − second| over positive and negative differences. Pairs without a difference
    are left out, equal differences share their ranks, and the distribution of W is that of the very ranks at hand:
    exact for every n, with ties as without. No difference anywhere is p = 1.

    >>> signed_rank([82.0, 81.0, 84.0, 83.0, 80.0], [81.0, 79.0, 81.0, 79.0, 75.0])
    0.0625
    """
    differences = _differences(first, second)
    differences = differences[differences != 0]
    # Twice a shared rank is whole, so that sums of ranks are places in an array.
    doubled = (2 * mid_ranks(np.abs(differences))).astype(np.int64)
    chances = np.zeros(doubled.sum() + 1)
    chances[0] = 1.0
    for rank in doubled:
        chances[rank:] += chances[:-rank]
        chances /= 2
    positive = doubled[differences > 0].sum()
    return min(1.0, 2 * float(chances[: min(positive, doubled.sum() - positive) + 1].sum()))


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down correction: of p₍₁₎ ≤ … ≤ p₍ₘ₎ the i-th becomes min(1, max over j ≤ i of (m − j + 1) p₍ⱼ₎).

    >>> holm([0.25, 0.75])
    (0.5, 0.75)
    """
    raw = finite_array("p", p)
    if raw.ndim != 1 or ((raw < 0) | (raw > 1)).any():
        raise PcnetError("Holm's correction takes a list of p between 0 and 1.")
    order = np.argsort(raw, kind="stable")
    steps = np.arange(len(raw), 0, -1) * raw[order]
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return tuple(corrected.tolist())


@dataclass(frozen=True)
class Pair:
    """Two methods, the better ranked first: `difference` is first − second of the means, `corrected` its p by Holm."""

    first: str
    second: str
    difference: float
    p: float
    corrected: float


def paired(runs: Mapping[str, FloatArray], pairs: Iterable[tuple[str, str]]) -> tuple[Pair, ...]:
    """Wilcoxon's test of each pair of methods, their p corrected together by Holm."""
    pairs = list(pairs)
    raw = [signed_rank(runs[first], runs[second]) for first, second in pairs]
    return tuple(
        Pair(first, second, float(runs[first].mean() - runs[second].mean()), p, corrected)
        for (first, second), p, corrected in zip(pairs, raw, holm(raw), strict=True)
    )


def runs_of(per_run: Mapping[str, Scores], least: int = 1) -> dict[str, FloatArray]:
    """The scores of one method or more, run i of each on split i, and at least so many."""
    runs = {method: finite_array(f"The runs of {method}", each) for method, each in per_run.items()}
    shapes = {each.shape for each in runs.values()}
    if len(shapes) != 1 or any(len(shape) != 1 or shape[0] < least for shape in shapes):
        more = f", and at least {least}," if least > 1 else ""
        raise PcnetError(f"A paired test needs the same number of runs, on the same splits{more} of every method.")
    return runs


def least_p(runs: int, comparisons: int) -> float:
    """min(1, 2m / 2ⁿ): no p of Wilcoxon's test over n runs, corrected by Holm over m comparisons, can be lower."""
    return min(1.0, 2 * comparisons / 2**runs)


def resampled_half_width(first: Scores, second: Scores, test_per_train: float, level: float = 1 - LEVEL) -> float:
    """t_{k−1} √((1/k + n_test/n_train) s²) around d̄, where s² is the variance of d = first − second over k splits.

    k random splits of the same nodes are no independent runs: their training sets overlap, and s²/k is too small a
    variance for d̄. Nadeau and Bengio (2003) put 1/k + n_test/n_train in the place of 1/k; `test_per_train` is that
    second term.
    """
    scale = 1 + len(first) * positive_number("n_test / n_train", test_per_train)
    return _paired_half_width(first, second, level) * math.sqrt(scale)


def _paired_half_width(first: Scores, second: Scores, level: float) -> float:
    """t_{k−1} s / √k: the same where runs are independent."""
    # Imported here: half a second that commands which test nothing need not wait for.
    import scipy.stats

    d = _differences(first, second, least=2)
    return float(scipy.stats.t.ppf((1 + level) / 2, len(d) - 1)) * float(np.std(d, ddof=1)) / math.sqrt(len(d))


def joined_interval(
    first: Summary, second: Summary, level: float = 1 - LEVEL, *, width: float = 1.0
) -> tuple[float, float]:
    """d − √((a − l_a)² + (u_b − b)² + r²) to d + √((u_a − a)² + (b − l_b)² + r²) for d = a − b, r = t_{k−1} s / √k.

    a and b are two scores, and [l, u] their 95 % intervals, which are about nodes: Newcombe's (1998) way to join them,
    scaled to another `level`, and by `width`, the part of them that counts. It takes the nodes of both scores for
    different ones and so is too wide for the same nodes. s is the standard deviation of the differences of k ≥ 2 runs:
    what splits and seeds do comes on top.
    """
    import scipy.stats

    scale = width * float(scipy.stats.norm.ppf((1 + level) / 2)) / Z
    runs = _paired_half_width(first.per_run, second.per_run, level)
    (low, high), (other_low, other_high) = first.ci95, second.ci95
    below = math.hypot(scale * (first.mean - low), scale * (other_high - second.mean), runs)
    above = math.hypot(scale * (high - first.mean), scale * (second.mean - other_low), runs)
    difference = first.mean - second.mean
    return difference - below, difference + above


def difference_interval(
    first: Summary, second: Summary, test_per_train: Sequence[float], level: float = 1 - LEVEL
) -> tuple[float, float] | None:
    """For first − second; `test_per_train` is n_test / n_train of each split.

    None where a single split, or the very same difference on all, cannot say how sure it is. Scores with intervals
    about nodes are joined; of means over runs, the runs are paired and allowed to share nodes.
    """
    if len(test_per_train) < 2:
        return None
    if first.nodes:
        return joined_interval(first, second, level, width=first.tested_part)
    value, ratio = first.mean - second.mean, float(np.mean(test_per_train))
    half = resampled_half_width(first.per_run, second.per_run, ratio, level)
    return (value - half, value + half) if half > 0 else None


def _differences(first: Scores, second: Scores, least: int = 1) -> FloatArray:
    one, other = runs_of({"one method": first, "the other": second}, least).values()
    return np.round(one - other, DIGITS)


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
