"""A mean over runs and how far it can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pcnet.errors import PcnetError

RESAMPLES = 1000
#: The normal quantile of a 95 % interval.
Z = 1.96


@dataclass(frozen=True)
class Summary:
    """Mean of the runs, 95 % bootstrap interval of that mean, and standard deviation between runs (n − 1).

    The interval is about runs, unless `nodes` says how many tested nodes it is about and `unlabelled` to how many
    others it speaks.
    """

    mean: float
    ci95: tuple[float, float]
    std: float
    per_run: tuple[float, ...]
    nodes: int = 0
    unlabelled: int = 0

    @property
    def half_width(self) -> float:
        """The larger half of the interval: the ± of the spectral literature."""
        return max(self.mean - self.ci95[0], self.ci95[1] - self.mean)

    @property
    def tested_part(self) -> float:
        """√(1/n) / √(1/n + 1/m): of an interval for m unlabelled nodes, the part that is due to the n tested ones."""
        return (1 + self.nodes / self.unlabelled) ** -0.5 if self.unlabelled else 1.0

    def as_dict(self) -> dict[str, object]:
        """The mean, its interval and the runs, fit for JSON."""
        return {"mean": self.mean, "ci95": list(self.ci95), "std": self.std, "per_run": list(self.per_run)}


def summarise(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> Summary:
    """Mean, the 2.5th and 97.5th percentile of the means of resampled runs, and the standard deviation.

    >>> summary = summarise([80.0, 82.0, 84.0])
    >>> summary.mean, summary.std, summary.ci95
    (82.0, 2.0, (80.0, 84.0))
    """
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) == 0:
        raise PcnetError("A summary needs at least one value.")
    if not np.isfinite(runs).all():
        raise PcnetError("A run has a score that is no finite number; leave it out or find out why.")
    drawn = np.random.default_rng(seed).integers(0, len(runs), size=(resamples, len(runs)))
    low, high = np.percentile(runs[drawn].mean(axis=1), [2.5, 97.5])
    std = float(runs.std(ddof=1)) if len(runs) > 1 else 0.0
    return Summary(float(runs.mean()), (float(low), float(high)), std, tuple(runs.tolist()))


def wilson(share: float, count: float) -> tuple[float, float]:
    """(s + z²/2n ± z √(s(1−s)/n + z²/4n²)) / (1 + z²/n): Wilson's 95 % interval of a share s of n nodes.

    >>> low, high = wilson(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    square = Z**2 / count
    half = Z * math.sqrt(share * (1 - share) / count + square / (4 * count))
    low, high = ((share + square / 2 + side * half) / (1 + square) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)
