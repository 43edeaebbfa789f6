"""All methods against all others on the same splits: ranks, and groups that the splits cannot tell apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcnet._checks import FloatArray, finite_array
from pcnet.compare._paired import DIGITS, LEVEL, holm, signed_rank
from pcnet.compare._ranks import average_ranks


@dataclass(frozen=True)
class Pair:
    """Two methods, the better ranked first: `difference` is first − second of the means, `corrected` its p by Holm."""

    first: str
    second: str
    difference: float
    p: float
    corrected: float


@dataclass(frozen=True)
class CriticalDifference:
    """What a critical-difference picture shows: average ranks, best first, and the groups that its bars join."""

    runs: int
    ranks: Mapping[str, float]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def least(self) -> float:
        """The lowest p that so many runs can give so many pairs, whatever their outcome; above 0.05 nothing differs."""
        return min(1.0, 2 * len(self.pairs) / 2**self.runs)


def critical_difference(per_run: Mapping[str, Sequence[float] | FloatArray]) -> CriticalDifference:
    """Average ranks over runs, and every largest group without a pair that differs at 0.05; run i is split i for all.

    The picture is Demšar's (2006). Its one distance for all pairs, Nemenyi's, depends on which other methods happen to
    be compared; the pairs are told apart here by Wilcoxon's signed-rank test instead, all of them corrected together by
    Holm, as Benavoli, Corani and Mangili (2016) advise. m methods are m(m − 1)/2 pairs and n runs give no p below
    2 / 2ⁿ: ten runs can tell 7 methods apart, not 8.
    """
    scores = {method: finite_array(f"The runs of {method}", each) for method, each in per_run.items()}
    ranks = average_ranks({method: np.round(each, DIGITS).tolist() for method, each in scores.items()})
    order = sorted(ranks, key=lambda method: ranks[method])
    both = list(itertools.combinations(order, 2))
    raw = [signed_rank(scores[first], scores[second]) for first, second in both]
    pairs = tuple(
        Pair(first, second, float(np.mean(scores[first] - scores[second])), p, corrected)
        for (first, second), p, corrected in zip(both, raw, holm(raw), strict=True)
    )
    alike = {method: set[str]() for method in order}
    for pair in pairs:
        if pair.corrected > LEVEL:
            alike[pair.first].add(pair.second)
            alike[pair.second].add(pair.first)
    groups = [tuple(sorted(group, key=order.index)) for group in _largest(set(), set(order), set(), alike)]
    joined = sorted((group for group in groups if len(group) > 1), key=lambda group: [order.index(m) for m in group])
    return CriticalDifference(len(scores[order[0]]), {method: ranks[method] for method in order}, pairs, tuple(joined))


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
