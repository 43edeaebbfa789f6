"""Methods compared on the same splits, run by run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcnet._checks import FloatArray, finite_array
from pcnet.compare._ranks import mid_ranks
from pcnet.errors import PcnetError

LEVEL = 0.05
#: Equal steps of accuracy (1/61 on Texas) differ in their last bits; as ranks they must tie.
DIGITS = 9


@dataclass(frozen=True)
class Rival:
    """A method beside the best one: `difference` is best − its mean, `corrected` its p after Holm."""

    method: str
    difference: float
    p: float
    corrected: float
    indistinguishable: bool


@dataclass(frozen=True)
class Comparison:
    """The method with the best mean and every other beside it, nearest first.

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


def winners(per_run: Mapping[str, Sequence[float] | FloatArray]) -> Comparison:
    """The method with the highest mean, and which others cannot be told from it at 0.05; run i is split i for all.

    Each other method is compared with the best by Wilcoxon's signed-rank test on the pairs, and their p are corrected
    together by Holm. n pairs cannot give a p below 2 / 2ⁿ, nor m comparisons a corrected one below 2m / 2ⁿ: ten runs
    can tell 14 methods apart (0.0254), five not even two (0.0625), and `note` then says so.

    Two things make "worse" come too easily: the best is picked by the very runs it is tested on (of 14 equal methods
    over ten runs one is told apart in 9 % of cases, not 5 %), and random splits of one graph share most of their nodes.
    """
    scores = {method: finite_array(f"The runs of {method}", each) for method, each in per_run.items()}
    runs = _pairs(*scores.values())
    means = {method: float(each.mean()) for method, each in scores.items()}
    best, *others = sorted(means, key=lambda method: -means[method])
    raw = [signed_rank(scores[best], scores[method]) for method in others]
    rivals = tuple(
        Rival(method, means[best] - means[method], p, corrected, corrected > LEVEL)
        for method, p, corrected in zip(others, raw, holm(raw), strict=True)
    )
    return Comparison(best, runs, rivals, _too_few(runs, len(others)))


def signed_rank(first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray) -> float:
    """Wilcoxon's two-sided p for pairs: 2 P(W ≤ min(W₊, W₋)), each sign of a difference being a fair coin.

    W₊ and W₋ add up the ranks of |first − second| over positive and negative differences. Pairs without a difference
    are left out, equal differences share their ranks, and the distribution of W is that of the very ranks at hand:
    exact for every n, with ties as without. No difference anywhere is p = 1.
    """
    pair = finite_array("A method's runs", first), finite_array("A method's runs", second)
    _pairs(*pair)
    differences = np.round(pair[0] - pair[1], DIGITS)
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
    """Holm's step-down correction: of p₍₁₎ ≤ … ≤ p₍ₘ₎ the i-th becomes min(1, max over j ≤ i of (m − j + 1) p₍ⱼ₎)."""
    raw = finite_array("p", p)
    if raw.ndim != 1 or ((raw < 0) | (raw > 1)).any():
        raise PcnetError("Holm's correction takes a list of p between 0 and 1.")
    order = np.argsort(raw, kind="stable")
    steps = np.arange(len(raw), 0, -1) * raw[order]
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return tuple(corrected.tolist())


def _pairs(*scores: FloatArray) -> int:
    """How many runs the methods have in common: all of each."""
    if len({each.shape for each in scores}) != 1 or scores[0].ndim != 1 or len(scores[0]) == 0:
        raise PcnetError("A paired comparison needs the same number of runs, on the same splits, of every method.")
    return len(scores[0])


def _too_few(runs: int, comparisons: int) -> str:
    least = 2 * comparisons / 2**runs
    if least <= LEVEL:
        return ""
    return (
        f"too few runs to tell: with n = {runs} no p among {comparisons + 1} methods can fall below "
        f"{min(1.0, least):.3g} after Holm's correction"
    )
