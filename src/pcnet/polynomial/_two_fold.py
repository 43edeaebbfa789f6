"""Two-fold filtering in closed form: heterophilic and homophilic aggregation, and the p that both allow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_number, positive_number
from pcnet.errors import PcnetError


def heat_kernel(lam: ArrayLike, t: float) -> FloatArray:
    """e^{tλ̃}, the heat kernel of the complementary graph, with eigenvalues λ̃ of L̃ = (p−1)I − S.

    As a Taylor series, in the odd powers that make neighbours differ and the even ones that make them alike:

        e^{tL̃} = Σ_r t^{2r+1} ((p−1)I − S)^{2r+1} / (2r+1)! + t^{2r} (S − (p−1)I)^{2r} / (2r)!

    Every power of L̃ carries its own power of t (in the paper's text t multiplies p − 1 alone).
    """
    value: FloatArray = np.exp(finite_number("t", t) * np.asarray(lam, dtype=np.float64))
    return value


def heterophilic_energy(lam: ArrayLike, t: float, alpha1: float) -> FloatArray:
    """h₁(λ̃) = e^{−tλ̃} − α₁."""
    return heat_kernel(lam, -finite_number("t", t)) - positive_number("alpha1", alpha1)


def homophilic_energy(lam: ArrayLike) -> FloatArray:
    """h₂(λ̃) = λ̃."""
    return np.asarray(lam, dtype=np.float64)


def heterophilic_step(lam: ArrayLike, t: float, alpha1: float) -> FloatArray:
    """1/(α₁ + h₁(λ̃)). It is the heat kernel e^{tλ̃} whatever α₁ is: α₁ only decides which p are admissible."""
    value: FloatArray = 1 / (alpha1 + heterophilic_energy(lam, t, alpha1))
    return value


def homophilic_step(lam: ArrayLike, alpha2: float) -> FloatArray:
    """1/(α₂ + h₂(λ̃)), a low-pass filter."""
    denominator = positive_number("alpha2", alpha2) + homophilic_energy(lam)
    if (denominator <= 0).any():
        raise PcnetError(
            f"alpha2 + λ̃ must be positive, but λ̃ reaches {np.min(lam):g} with alpha2 = {alpha2:g}: the "
            "energy has no minimum there. Take p of at least 2, which keeps λ̃ positive, or a larger alpha2."
        )
    value: FloatArray = 1 / denominator
    return value


def two_fold_filter(lam: ArrayLike, t: float, alpha1: float, alpha2: float) -> FloatArray:
    """[(α₁ + h₁(λ̃)) (α₂ + h₂(λ̃))]^{−1}: both aggregations, in either order (Property 1).

    Each factor is the minimiser Z of tr(Zᵀ h Z) + α‖Z − X‖² up to the constant α, which the paper leaves out
    and a learned θ absorbs: the exact minimiser is α(α + h)^{−1}X.
    """
    return heterophilic_step(lam, t, alpha1) * homophilic_step(lam, alpha2)


def admissible_p(t: float, alpha1: float) -> tuple[float, float] | None:
    """The interval [2, −ln(α₁)/t] of p for which h₁ ≥ 0 and h₂ ≥ 0 at every λ̃ = p − 2 + λ, λ ∈ [0, 2).

    It is empty, and the answer None, when α₁ > e^{−2t}. At t = 0 the first energy is 1 − α₁ for every p.
    The range of λ is that of η = ½; other normalisations have other spectra.
    """
    t, alpha1 = finite_number("t", t), positive_number("alpha1", alpha1)
    if t < 0:
        raise PcnetError(f"t must not be negative for admissible_p, not {t:g}.")
    reach = -math.log(alpha1)
    # α₁ = e^{−2t}, the single point p = 2, must survive the rounding of exp and log.
    if reach < 2 * t - 4 * np.finfo(np.float64).eps * max(1.0, 2 * t):
        return None
    return 2.0, max(2.0, reach / t) if t > 0 else math.inf
