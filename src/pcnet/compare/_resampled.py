"""A paired test and its interval for splits of one set of nodes, which share most of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pcnet._checks import FloatArray, finite_array, positive_number
from pcnet.compare._paired import DIGITS, LEVEL
from pcnet.errors import PcnetError

Scores = Sequence[float] | FloatArray


def resampled_t(first: Scores, second: Scores, test_per_train: float) -> float:
    """Two-sided p of t = d̄ / √((1/k + n_test/n_train) s²) with k − 1 degrees of freedom, d = first − second.

    k random splits of the same nodes are no independent runs: their training sets overlap, and s²/k is too small a
    variance for d̄. Nadeau and Bengio (2003) put 1/k + n_test/n_train in the place of 1/k; `test_per_train` is that
    second term. The same difference on all splits is p = 0, or p = 1 where it is none.
    """
    # Imported here: half a second that commands which test nothing need not wait for.
    import scipy.stats

    d = _differences(first, second)
    variance = (1 / len(d) + positive_number("n_test / n_train", test_per_train)) * float(np.var(d, ddof=1))
    mean = float(d.mean())
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * float(scipy.stats.t.sf(abs(mean) / math.sqrt(variance), len(d) - 1))


def resampled_half_width(first: Scores, second: Scores, test_per_train: float, level: float = 1 - LEVEL) -> float:
    """t_{k−1} √((1/k + n_test/n_train) s²): d̄ ± this is the interval that holds what `resampled_t` does not refuse."""
    runs = len(_differences(first, second))
    return paired_half_width(first, second, level) * math.sqrt(
        1 + runs * positive_number("n_test / n_train", test_per_train)
    )


def paired_half_width(first: Scores, second: Scores, level: float = 1 - LEVEL) -> float:
    """t_{k−1} s / √k: the same where runs are independent."""
    import scipy.stats

    d = _differences(first, second)
    return float(scipy.stats.t.ppf((1 + level) / 2, len(d) - 1)) * float(np.std(d, ddof=1)) / math.sqrt(len(d))


def _differences(first: Scores, second: Scores) -> FloatArray:
    one, other = finite_array("A method's runs", first), finite_array("A method's runs", second)
    if one.shape != other.shape or one.ndim != 1 or len(one) < 2:
        raise PcnetError("A t-test needs the same number of runs of both methods, on the same splits, and two or more.")
    return np.round(one - other, DIGITS)
