"""How sure the difference is between two scores of the same nodes."""

from __future__ import annotations

import math

from pcnet.compare._intervals import Summary, Z
from pcnet.compare._paired import LEVEL
from pcnet.compare._resampled import paired_half_width


def joined_interval(
    first: Summary, second: Summary, level: float = 1 - LEVEL, *, width: float = 1.0
) -> tuple[float, float]:
    """d − √((a − l_a)² + (u_b − b)² + r²) to d + √((u_a − a)² + (b − l_b)² + r²) for d = a − b, r = t_{k−1} s / √k.

    a and b are two scores, and [l, u] their 95 % intervals, which are about nodes: Newcombe's (1998) way to join them,
    scaled to another `level`, and by `width`, the part of them that counts. It takes the nodes of both scores for
    different ones and so is too wide for the same nodes. s is the standard deviation of the differences of k ≥ 2 runs:
    what splits and seeds do comes on top.
    """
    # Imported here: half a second that commands which test nothing need not wait for.
    import scipy.stats

    scale = width * float(scipy.stats.norm.ppf((1 + level) / 2)) / Z
    runs = paired_half_width(first.per_run, second.per_run, level)
    (low, high), (other_low, other_high) = first.ci95, second.ci95
    below = math.hypot(scale * (first.mean - low), scale * (other_high - second.mean), runs)
    above = math.hypot(scale * (high - first.mean), scale * (second.mean - other_low), runs)
    difference = first.mean - second.mean
    return difference - below, difference + above
