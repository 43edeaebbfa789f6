"""Poisson–Charlier polynomials: the Taylor coefficients of (1 − λ)^γ e^{tλ}."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_array, finite_number, whole_number
from pcnet.errors import PcnetError

# 171! is beyond float64.
_LARGEST_FACTORIAL = 170


def poisson_charlier(n: int, gamma: ArrayLike, t: ArrayLike) -> FloatArray:
    """C_n(γ, t) = Σ_j (n over j) (−t)^j γ(γ−1)⋯(γ−n+j+1), Theorem 1 of PC-Conv.

        >>> from pcnet import poisson_charlier
        >>> poisson_charlier(2, gamma=[1, 2, 3], t=0.5)
        array([-0.75,  0.25,  3.25])

    Args:
        n: order, at most 170 (beyond it, `charlier_series` still holds C_n/n!).
        gamma: any real numbers.
        t: any real numbers that broadcast with `gamma`.

    Returns:
        An array of the broadcast shape of `gamma` and `t`; a scalar for scalars.
    """
    n = whole_number("n", n)
    if n > _LARGEST_FACTORIAL:
        raise PcnetError(f"n must be at most {_LARGEST_FACTORIAL}, not {n}; charlier_series gives C_n/n! instead.")
    value: FloatArray = math.factorial(n) * charlier_series(n, gamma, t)[n]
    return value


def charlier_matrix(K: int, N: int, t: float) -> FloatArray:
    """B[n, k] = C_n(k, t)/n! for k ≥ 1 and e_0 for k = 0: c = Bθ turns θ into coefficients of (−L̃)^n.

        >>> from pcnet import charlier_matrix
        >>> charlier_matrix(K=2, N=2, t=0.5)
        array([[ 1.   ,  1.   ,  1.   ],
               [ 0.   ,  0.5  ,  1.5  ],
               [ 0.   , -0.375,  0.125]])

    Column 0 is the identity map θ_0 X of PC-Conv and not C_n(0, t)/n!.

    Args:
        K: largest smoothing power k.
        N: true order of the truncated sum, n = 0..N.
        t: diffusion time.

    Returns:
        An (N+1) × (K+1) matrix.
    """
    return _charlier_matrix(whole_number("K", K), whole_number("N", N), finite_number("t", t)).copy()


@lru_cache(maxsize=1024)
def _charlier_matrix(K: int, N: int, t: float) -> FloatArray:
    # A search builds thousands of filters of a few hundred kinds.
    matrix = charlier_series(N, np.arange(K + 1), t)
    matrix[:, 0] = 0.0
    matrix[0, 0] = 1.0
    return matrix


def charlier_series(N: int, gamma: ArrayLike, t: ArrayLike) -> FloatArray:
    """C_n(γ, t)/n! for n = 0..N, stacked along the first axis, accurate for every order.

    The recurrence in n is stable up to n = γ. Past a whole γ = k the values fall off like t^n/n!, while
    round-off follows the other, slow solution: at k = 2, t = 0.9 no digit is right by n = 25.
    There the roles of n and k are exchanged, which brings the recurrence back to where it is stable:

        C_n(k, t) = (−t)^{n−k} C_k(n, t).
    """
    N = whole_number("N", N)
    gamma, t = np.broadcast_arrays(finite_array("gamma", gamma), finite_array("t", t))
    series = _recurrence(N, gamma, t)
    for k in range(N):
        here = gamma == k
        if here.any():
            n, time = np.arange(k + 1.0, N + 1)[:, None], t[here]
            # (−t)^{n−k} k!/n!, one factor at a time so that neither power nor factorial overflows.
            decay = np.cumprod(-time / n, axis=0)
            series[k + 1 :, here] = decay * _recurrence(k, n, time)[k]
    return series


def _recurrence(N: int, gamma: Any, t: Any) -> FloatArray:
    """c_n = C_n/n! from C_n = (γ − n − t + 1) C_{n−1} − (n − 1) t C_{n−2}; dividing by n! avoids overflow."""
    gamma, t = np.broadcast_arrays(gamma, t)
    c = np.ones((N + 1, *gamma.shape))
    if N >= 1:
        c[1] = gamma - t
    for n in range(2, N + 1):
        c[n] = ((gamma - n - t + 1) * c[n - 1] - t * c[n - 2]) / n
    return c
