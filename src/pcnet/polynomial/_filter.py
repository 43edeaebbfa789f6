"""The PC-filter as a function of λ̃, an eigenvalue of L̃ = (p−1)I − S, in its two modes."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_number, one_of, whole_number
from pcnet.errors import PcnetError
from pcnet.polynomial._basis import Powers, evaluate_polynomial
from pcnet.polynomial._charlier import charlier_matrix, charlier_series

#: "truncated" stops the series at n = N, as the paper trains it; "limit" is what the series tends to.
Mode = Literal["truncated", "limit"]


def truncated_filter(lam: ArrayLike, k: int, N: int, t: float) -> FloatArray:
    """g_{k,t}(λ̃) = Σ_{n=0..N} C_n(k, t) (−λ̃)^n / n!."""
    coefficients = charlier_series(N, whole_number("k", k), finite_number("t", t))
    return evaluate_polynomial(coefficients, Powers(), -np.asarray(lam, dtype=np.float64))


def limit_filter(lam: ArrayLike, k: int, t: float) -> FloatArray:
    """g_{k,t}(λ̃) = (1 − λ̃)^k e^{tλ̃}, the truncated filter with N → ∞."""
    k, t, lam = whole_number("k", k), finite_number("t", t), np.asarray(lam, dtype=np.float64)
    value: FloatArray = (1 - lam) ** k * np.exp(t * lam)
    return value


def filter_family(
    lam: ArrayLike, K: int, N: int | None, t: float, identity: bool = True, mode: Mode = "truncated"
) -> FloatArray:
    """The functions 1, g_{1,t}(λ̃), …, g_{K,t}(λ̃) that θ combines, along the last axis.

    Without `identity` the constant 1 is left out and θ has K entries instead of K + 1.
    """
    lam = np.asarray(lam, dtype=np.float64)
    if check_mode(mode) == "truncated":
        B = charlier_matrix(K, whole_number("N", N), t)
        powers = Powers().evaluate(-lam, len(B) - 1)
        family = np.moveaxis(np.tensordot(B, powers, axes=(0, 0)), 0, -1)
    else:
        filters = [limit_filter(lam, k, t) for k in range(1, whole_number("K", K) + 1)]
        family = np.stack([np.ones_like(lam), *filters], axis=-1)
    return family if identity else family[..., 1:]


def pc_response(
    lam: ArrayLike,
    theta: ArrayLike,
    N: int | None,
    t: float,
    identity: bool = True,
    mode: Mode = "truncated",
) -> FloatArray:
    """g(λ̃) = θ_0 + Σ_{k=1..K} θ_k g_{k,t}(λ̃), PC-Conv's frequency response.

    Args:
        lam: eigenvalues λ̃ = p − 1 − s of L̃.
        theta: (θ_0, …, θ_K), or (θ_1, …, θ_K) without `identity`; leading axes are separate filters.
        N: order of the truncated sum; the limit mode ignores it.
        t: diffusion time.
        identity: whether θ_0 is there.
        mode: "truncated" or "limit".
    """
    theta = np.asarray(theta, dtype=np.float64)
    if theta.ndim == 0 or theta.shape[-1] == 0:
        raise PcnetError(f"theta must hold K numbers along its last axis, and one more for the identity, not {theta}.")
    family = filter_family(lam, theta.shape[-1] - identity, N, t, identity, mode)
    return np.tensordot(theta, family, axes=(-1, -1))


def check_mode(mode: str) -> str:
    """`mode`, if there is such a mode."""
    return one_of("mode", mode, get_args(Mode))
