"""Two methods on the same splits: paired tests, their correction, and intervals of the difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcnet._checks import FloatArray, finite_array, positive_number
from pcnet.compare._summary import Summary, Z
from pcnet.errors import PcnetError

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
