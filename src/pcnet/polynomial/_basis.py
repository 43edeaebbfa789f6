"""Polynomial bases by three-term recurrences; Poisson–Charlier polynomials, Taylor coefficients of (1 − λ)^γ e^{tλ}."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_array, finite_interval, finite_number, whole_number
from pcnet.errors import PcnetError

# 171! is beyond float64.
_LARGEST_FACTORIAL = 170


class Basis(ABC):
    """Polynomials with P_0 = 1, P_1(s) = a_0 s + b_0 and P_{n+1}(s) = (a_n s + b_n) P_n(s) − c_n P_{n−1}(s).

    c_0 multiplies nothing and is 0. A basis may differ between G groups of columns, each of which is filtered
    on its own; then every coefficient array has a leading axis of length G. Bases are hashable values.
    """

    @abstractmethod
    def recurrence(self, order: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The coefficients a, b, c of the steps 0..order−1, each (order,), or (G, order) for G groups."""

    def evaluate(self, s: ArrayLike, order: int) -> FloatArray:
        """P_0(s), …, P_order(s): (order+1, *s.shape), or (G, order+1, *s.shape) for G groups."""
        s = np.asarray(s, dtype=np.float64)
        # The order comes first while it is stepped along.
        steps = [np.moveaxis(each, -1, 0) for each in self.recurrence(whole_number("order", order))]
        groups = steps[0].shape[1:]
        a, b, c = (step.reshape(*step.shape, *(1,) * s.ndim) for step in steps)
        P = [np.ones((*groups, *s.shape))]
        for n in range(order):
            P.append((a[n] * s + b[n]) * P[n] - (c[n] * P[n - 1] if n else 0.0))
        return np.stack(P, axis=len(groups))


@dataclass(frozen=True)
class Powers(Basis):
    """P_n(s) = (s − shift)^n, with one shift for all columns or a tuple of one shift per column group.

    `Powers(p − 1)` is PC-Conv's basis, because (−L̃)^n = (S − (p−1)I)^n.
    """

    shift: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.shift, Iterable):
            object.__setattr__(self, "shift", finite_number("The shift of Powers", self.shift))
            return
        object.__setattr__(self, "shift", tuple(finite_number("Each shift of Powers", each) for each in self.shift))
        if not self.shift:
            raise PcnetError("Powers needs at least one shift; give a number, or one number per column group.")

    def recurrence(self, order: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        b = np.repeat(-np.asarray(self.shift, dtype=np.float64)[..., None], order, axis=-1)
        return np.ones_like(b), b, np.zeros_like(b)


@dataclass(frozen=True)
class Chebyshev(Basis):
    """P_n(s) = T_n(y), y = (2s − high − low)/(high − low): first kind, moved from [−1, 1] to [low, high]."""

    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low, high = finite_interval("The interval of Chebyshev", (self.low, self.high))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def recurrence(self, order: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        # T_1 = y and T_{n+1} = 2y T_n − T_{n−1}.
        times_y, minus = np.full(order, 2.0), np.ones(order)
        times_y[:1], minus[:1] = 1.0, 0.0
        width = self.high - self.low
        return times_y * 2 / width, -times_y * (self.high + self.low) / width, minus


@dataclass(frozen=True)
class Jacobi(Basis):
    """P_n(s) = P_n^{(a,b)}(s), orthogonal on [−1, 1] under (1−s)^a (1+s)^b for a, b > −1.

    One of a and b may be −1: the weight is then not integrable, but the polynomials are there.
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, finite_number(f"{name} of Jacobi", getattr(self, name), least=-1))
        if self.a + self.b == -2:
            raise PcnetError("a and b of Jacobi cannot both be -1: the recurrence divides by a + b + 2.")

    def recurrence(self, order: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        a, b = self.a, self.b
        # The general step divides by n+a+b+1 and 2n+a+b: positive from n = 1 on, possibly zero at n = 0.
        n = np.arange(1.0, order)
        q = 2 * n + a + b
        norm = 2 * (n + 1) * (n + a + b + 1)
        slope = (q + 1) * (q + 2) / norm
        offset = (a**2 - b**2) * (q + 1) / (norm * q)
        back = 2 * (n + a) * (n + b) * (q + 2) / (norm * q)
        first = (a + b + 2) / 2, (a - b) / 2, 0.0
        slope, offset, back = (np.append(*each)[:order] for each in zip(first, (slope, offset, back), strict=True))
        return slope, offset, back


@dataclass(frozen=True)
class Recurrence(Basis):
    """Any other basis, by its own a, b and c; it reaches the order that they have entries for."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("a", "b", "c"):
            values = finite_array(f"{name} of Recurrence", getattr(self, name))
            if values.ndim != 1:
                raise PcnetError(f"{name} of Recurrence must be one flat list of numbers.")
            object.__setattr__(self, name, tuple(values.tolist()))
        if not len(self.a) == len(self.b) == len(self.c):
            lengths = f"{len(self.a)}, {len(self.b)} and {len(self.c)}"
            raise PcnetError(f"a, b and c of Recurrence must have one entry per step each, not {lengths}.")

    def recurrence(self, order: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        if order > len(self.a):
            raise PcnetError(
                f"This Recurrence has {len(self.a)} steps, so its order cannot be {order}; extend a, b, c."
            )
        return np.array(self.a[:order], float), np.array(self.b[:order], float), np.array(self.c[:order], float)


def evaluate_polynomial(coefficients: ArrayLike, basis: Basis, s: ArrayLike) -> FloatArray:
    """Σ_n c_n P_n(s) at every point of s, an array of any shape.

    c is (N+1,), or (G, N+1) with one row per column group; with groups of either kind the result is (G, *s.shape).
    """
    c, s = np.asarray(coefficients, dtype=np.float64), np.asarray(s, dtype=np.float64)
    if c.ndim not in (1, 2) or c.shape[-1] == 0:
        raise PcnetError(f"coefficients must be (N+1,) or (G, N+1) with N at least 0, not of shape {c.shape}.")
    P = basis.evaluate(s.ravel(), c.shape[-1] - 1)
    if c.ndim == 2 and P.ndim == 3 and len(c) != len(P):
        raise PcnetError(f"coefficients have {len(c)} groups but the basis has {len(P)}; give one row per group.")
    values = np.einsum("...n,...ns->...s", c, P)
    return values.reshape((*values.shape[:-1], *s.shape))


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
    return math.factorial(n) * charlier_series(n, gamma, t)[n]


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

    Raises:
        PcnetError: for numbers that are none, or so large a t that coefficients are.
    """
    return _charlier_matrix(whole_number("K", K), whole_number("N", N), finite_number("t", t)).copy()


@lru_cache(maxsize=1024)
def _charlier_matrix(K: int, N: int, t: float) -> FloatArray:
    # A search builds thousands of filters of a few hundred kinds.
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = charlier_series(N, np.arange(K + 1), t)
    if not np.isfinite(matrix).all():
        raise PcnetError(f"The coefficients C_n(k, t)/n! overflow for K = {K}, N = {N}, t = {t:g}; take a smaller t.")
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
