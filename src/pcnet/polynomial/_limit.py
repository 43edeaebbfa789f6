"""The limit filter as a polynomial in S: a Chebyshev expansion that is exact to round-off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy.fft

from pcnet._checks import FloatArray, finite_interval, finite_number, whole_number
from pcnet.errors import PcnetError
from pcnet.polynomial._basis import Chebyshev
from pcnet.polynomial._filter import filter_family

# y = (2s − high − low)/(high − low) magnifies round-off in s by 2/(high − low): no interval is narrower.
_NARROWEST = 0.1
_FEWEST_NODES, _MOST_NODES = 32, 2**14


def limit_expansion(
    K: int, t: float, p: float, interval: Sequence[float], tolerance: float = 1e-12
) -> tuple[Chebyshev, FloatArray]:
    """Coefficients B with Σ_m B[m, k] T_m(y(s)) = (1 − λ̃)^k e^{tλ̃}, λ̃ = p − 1 − s, on the spectrum of S.

    As in `charlier_matrix`, column 0 is e_0 and c = Bθ are the coefficients of one polynomial. On one
    interval all t and p share one basis; only B and its number of rows differ.

    Args:
        K: largest smoothing power k.
        t: diffusion time.
        p: self-loop weight of the complementary graph.
        interval: (low, high) around all eigenvalues of S. A very narrow one, or a point, is widened.
        tolerance: largest error on the interval, as a fraction of each column's own largest value there.

    Returns:
        The basis on the (possibly widened) interval, and B, (M+1) × (K+1), with the least M that is proven to
        meet the tolerance by the sizes of the coefficients left out.
    """
    low, high = finite_interval("interval", interval, may_be_a_point=True)
    tolerance = finite_number("tolerance", tolerance)
    if not 1e-13 <= tolerance < 1:
        raise PcnetError(f"tolerance must lie between 1e-13, which float64 can reach, and 1, not {tolerance:g}.")
    K, t, p = whole_number("K", K), finite_number("t", t), finite_number("p", p)
    missing = _NARROWEST * max(1.0, abs(low), abs(high)) - (high - low)
    if missing > 0:
        low, high = low - missing / 2, high + missing / 2
    # A copy, so that a caller who writes into B does not write into the cache.
    return Chebyshev(low, high), _limit_matrix(K, t, p, low, high, tolerance).copy()


@lru_cache(maxsize=256)
def _limit_matrix(K: int, t: float, p: float, low: float, high: float, tolerance: float) -> FloatArray:
    degree = _FEWEST_NODES
    while degree <= _MOST_NODES:
        # Interpolation at y_j = cos(πj/degree) by a cosine transform.
        y = np.cos(np.pi * np.arange(degree + 1) / degree)
        s = (low + high) / 2 + (high - low) / 2 * y
        with np.errstate(over="ignore", invalid="ignore"):
            values = filter_family(p - 1 - s, K, None, t, mode="limit")
        if not np.isfinite(values).all():
            raise PcnetError(
                f"(1 − λ̃)^k e^(tλ̃) overflows for t = {t:g}, p = {p:g} on the interval ({low:g}, {high:g}); "
                "take a smaller t or p, or a normalisation η nearer to 1/2."
            )
        B: FloatArray = scipy.fft.dct(values, type=1, axis=0) / degree
        B[[0, -1]] /= 2
        B[:, 0] = np.eye(degree + 1)[0]
        # |T_m| ≤ 1, so cutting after row m costs at most the sum of the sizes of the later rows.
        later = np.cumsum(np.abs(B[:0:-1]), axis=0)[::-1]
        fits = (later <= tolerance * np.abs(values).max(axis=0)).all(axis=1)
        # Only a tail that starts well inside the transform shows that the nodes resolve the function.
        if fits[degree // 2]:
            return B[: np.argmax(fits) + 1]
        degree *= 2
    raise PcnetError(
        f"e^(tλ̃) varies too fast on ({low:g}, {high:g}) for t = {t:g}; take a smaller t or a larger tolerance."
    )
