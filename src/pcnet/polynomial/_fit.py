"""Filters fitted to a wanted response, and the responses that the paper fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_interval, finite_number, whole_number
from pcnet.errors import PcnetError
from pcnet.polynomial._filter import Mode, filter_family, pc_response


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted filter and how far it is from its target on the points it was fitted to.

    Attributes:
        theta: (θ_0, …, θ_K), or (θ_1, …, θ_K) without `identity`.
        rmse: root of the mean squared difference.
        max_error: largest difference.
        response: the filter at frequencies λ, the variable of the target.
    """

    theta: FloatArray
    rmse: float
    max_error: float
    response: Callable[[ArrayLike], FloatArray]


def fit_response(
    target: Callable[[FloatArray], ArrayLike],
    K: int,
    N: int | None,
    t: float,
    p: float = 2.0,
    interval: Sequence[float] = (0.0, 2.0),
    identity: bool = True,
    mode: Mode = "truncated",
    points: int = 2001,
    ridge: float = 0.0,
) -> Fit:
    """argmin_θ mean_i (θ_0 + Σ_k θ_k g_{k,t}(λ̃_i) − target(λ_i))² + ridge·‖θ‖², with λ̃ = p − 2 + λ.

        >>> import numpy as np
        >>> from pcnet import fit_response
        >>> fit = fit_response(lambda lam: np.exp(-lam), K=4, N=4, t=0.5)
        >>> fit.theta.shape, fit.rmse < 1e-3
        ((5,), True)

    λ = 1 − s is an eigenvalue of L = I − S, so that one target serves every p; at p = 2, λ̃ = λ. Where several
    θ fit equally well, the shortest is taken, each θ_k measured by the size of its filter.

    Args:
        target: wanted response, called once with all points λ.
        K: largest smoothing power k.
        N: order of the truncated sum; the limit mode ignores it.
        t: diffusion time.
        p: self-loop weight of the complementary graph.
        interval: range of λ; [0, 2] holds every spectrum of η = ½.
        identity: whether θ_0 is there.
        mode: "truncated" or "limit".
        points: number of equally spaced λ.
        ridge: weight of the penalty on θ.

    Raises:
        PcnetError: where a number is out of range or the target is not finite.
    """
    p, ridge = finite_number("p", p), finite_number("ridge", ridge)
    if ridge < 0:
        raise PcnetError(f"ridge must not be negative, not {ridge:g}.")
    K = whole_number("K", K, least=0 if identity else 1)
    lam = np.linspace(*finite_interval("interval", interval), whole_number("points", points, least=2))
    wanted = np.asarray(target(lam), dtype=np.float64)
    if wanted.shape != lam.shape or not np.isfinite(wanted).all():
        raise PcnetError("target must return one finite number for each λ that it is given.")
    family = filter_family(lam + p - 2, K, N, t, identity, mode)
    # Powers and exponentials differ by orders of magnitude; columns of length one keep the small ones from
    # being taken for round-off.
    scale = np.linalg.norm(family, axis=0)
    penalty = np.diag(np.sqrt(ridge * len(lam)) / scale)
    rows, values = np.vstack([family / scale, penalty]), np.concatenate([wanted, np.zeros(len(scale))])
    theta = np.linalg.lstsq(rows, values, rcond=None)[0] / scale
    error = family @ theta - wanted

    def response(lam: ArrayLike) -> FloatArray:
        return pc_response(np.asarray(lam, dtype=np.float64) + p - 2, theta, N, t, identity, mode)

    return Fit(theta, float(np.sqrt(np.mean(error**2))), float(np.abs(error).max()), response)


def comb(lam: ArrayLike) -> FloatArray:
    """|sin(πλ)|, two teeth on λ ∈ [0, 2] (p = 2 and η = ½, where λ̃ = λ)."""
    return np.abs(np.sin(np.pi * np.asarray(lam, dtype=np.float64)))


def low_band_pass(lam: ArrayLike) -> FloatArray:
    """1 on [0, ½], e^{−100(λ−½)²} on (½, 1), e^{−50(λ−3/2)²} on [1, 2], 0 elsewhere.

    λ ∈ [0, 2] as for `comb`: it lets the low quarter of the spectrum through, and a band around 3/2.
    """
    lam = np.asarray(lam, dtype=np.float64)
    low, band = np.exp(-100 * (lam - 0.5) ** 2), np.exp(-50 * (lam - 1.5) ** 2)
    where = [(lam >= 0) & (lam <= 0.5), (lam > 0.5) & (lam < 1), (lam >= 1) & (lam <= 2)]
    return np.select(where, [np.ones_like(lam), low, band], default=0.0)
