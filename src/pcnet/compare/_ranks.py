"""Ranks of methods over datasets or splits, and groups that the splits cannot tell apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcnet.compare._tests import DIGITS, LEVEL, Pair, Scores, least_p, mid_ranks, paired, runs_of
from pcnet.errors import PcnetError


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
    alike = {method: set[str]() for method in order}
    for pair in pairs:
        if pair.corrected > LEVEL:
            alike[pair.first].add(pair.second)
            alike[pair.second].add(pair.first)
    groups = [sorted(order.index(method) for method in group) for group in _largest(set(), set(order), set(), alike)]
    joined = tuple(tuple(order[place] for place in group) for group in sorted(groups) if len(group) > 1)
    return CriticalDifference(len(runs[order[0]]), {method: ranks[method] for method in order}, pairs, joined)


def _largest(
    group: set[str], candidates: set[str], done: set[str], alike: Mapping[str, set[str]]
) -> Iterator[set[str]]:
    """Every group of methods that are all alike and that no other method is alike to all of (Bron and Kerbosch 1973).

    A group need not be neighbours in rank: the first and the third may be alike, and the second unlike both.
    """
    if not candidates and not done:
        yield group
    for method in sorted(candidates):
        yield from _largest(group | {method}, candidates & alike[method], done & alike[method], alike)
        candidates = candidates - {method}
        done = done | {method}
