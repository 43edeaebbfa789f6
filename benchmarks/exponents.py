"""b in t ≈ a·v^b, from times that were measured in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcnet._checks import FloatArray, finite_array
from pcnet.errors import PcnetError

RESAMPLES = 1000


@dataclass(frozen=True)
class Exponent:
    """The slope of log t against log v, and its 95 % interval."""

    value: float
    ci95: tuple[float, float]

    @staticmethod
    def of(row: dict[str, Any]) -> Exponent:
        """That of a report's row."""
        low, high = row["exponent"]["ci95"]
        return Exponent(row["exponent"]["value"], (low, high))

    def __str__(self) -> str:
        # Adding 0.0 turns −0.00 into 0.00.
        value, low, high = (f"{round(number, 2) + 0.0:.2f}" for number in (self.value, *self.ci95))
        return f"{value} [{low}, {high}]"


def fit_exponent(sizes: Sequence[float], rounds: Sequence[Sequence[float]], *, seed: int = 0) -> Exponent:
    """argmin_b min_a Σ_i (log t_i − a − b log v_i)², t_i the median over rounds of the times at size v_i.

    Rounds, each with one time for every size, are drawn again with replacement: the interval holds 95 % of the slopes
    that result. It tells how far the clock can be trusted, not how straight the line is.

    Args:
        sizes: v_i, at least two different ones.
        rounds: rounds[r][i], the time at size v_i in round r.
        seed: of the resampling.
    """
    v, times = finite_array("sizes", sizes), finite_array("rounds", rounds)
    if times.ndim != 2 or times.shape[1] != len(v) or len(times) == 0:
        raise PcnetError(f"There must be one time for each of {len(v)} sizes in every round.")
    if len(set(v.tolist())) < 2 or (v <= 0).any() or (times <= 0).any():
        raise PcnetError("An exponent needs two different sizes, and sizes and times above 0.")
    drawn = np.random.default_rng(seed).integers(len(times), size=(RESAMPLES, len(times)))
    slopes = _slopes(v, np.median(times[drawn], axis=1))
    low, high = np.percentile(slopes, [2.5, 97.5])
    return Exponent(float(_slopes(v, np.median(times, axis=0))), (float(low), float(high)))


def _slopes(v: FloatArray, times: FloatArray) -> FloatArray:
    """Slopes of the rows of `times`."""
    centred = np.log(v) - np.log(v).mean()
    slopes: FloatArray = np.log(times) @ centred / (centred @ centred)
    return slopes
