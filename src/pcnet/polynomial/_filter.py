"""The PC-filter as a function of λ̃, an eigenvalue of L̃ = (p−1)I − S: its limit, what its settings can do, its fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

from pcnet._checks import FloatArray, finite_interval, finite_number, one_of, positive_number, whole_number
from pcnet.errors import PcnetError
from pcnet.polynomial._basis import Chebyshev, Powers, charlier_matrix, charlier_series, evaluate_polynomial

#: "truncated" stops the series at n = N, as the paper trains it; "limit" is what the series tends to.
Mode = Literal["truncated", "limit"]
# y = (2s − high − low)/(high − low) magnifies round-off in s by 2/(high − low): no interval is narrower.
_NARROWEST = 0.1
_FEWEST_NODES, _MOST_NODES = 32, 2**14
_GRID_POINTS = 2001
#: By `truncation_error`, zero is 1 away from the limit: what is as far is no approximation, what is near is one.
_FAR, _NEAR, _LONGEST = 0.9, 0.1, 64
#: Largest values of filters: beyond the first, single precision loses the others; beyond the second, it has none.
_STEEP, _LARGEST = 1e6, float(np.finfo(np.float32).max)


def truncated_filter(lam: ArrayLike, k: int, N: int, t: float) -> FloatArray:
    """g_{k,t}(λ̃) = Σ_{n=0..N} C_n(k, t) (−λ̃)^n / n!."""
    coefficients = charlier_series(N, whole_number("k", k), finite_number("t", t))
    return evaluate_polynomial(coefficients, Powers(), -np.asarray(lam, dtype=np.float64))


def limit_filter(lam: ArrayLike, k: int, t: float) -> FloatArray:
    """g_{k,t}(λ̃) = (1 − λ̃)^k e^{tλ̃}, the truncated filter with N → ∞."""
    k, t, lam = whole_number("k", k), finite_number("t", t), np.asarray(lam, dtype=np.float64)
    return (1 - lam) ** k * np.exp(t * lam)


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


def orthonormal_map(family: Callable[[FloatArray], FloatArray]) -> tuple[FloatArray, FloatArray]:
    """R and R⁻¹ of filters [g_1, …, g_m] = QR, with q_i at right angles to each other and of length one on [−1, 1].

    `family` gives the filters at eigenvalues s of S, along the last axis. A length is √(½ ∫ g² ds), exact up to
    degree 127. Σ_j θ_j g_j = Σ_i φ_i q_i for φ = Rθ: the same filters, whose weights φ are learned alike, however alike
    the g_j are. Where the g_j are dependent, R⁻¹ is the pseudo-inverse.

    >>> R, inverse = orthonormal_map(lambda s: np.stack([np.ones_like(s), s], axis=-1))
    >>> np.abs(R).round(3)
    array([[1.   , 0.   ],
           [0.   , 0.577]])
    """
    points, weights = np.polynomial.legendre.leggauss(64)
    R: FloatArray = np.asarray(np.linalg.qr(np.sqrt(weights / 2)[:, None] * family(points), mode="r"))
    inverse: FloatArray = np.asarray(np.linalg.pinv(R, rcond=1e-12))
    return R, inverse


def pc_response(
    lam: ArrayLike, theta: ArrayLike, N: int | None, t: float, identity: bool = True, mode: Mode = "truncated"
) -> FloatArray:
    """g(λ̃) = θ_0 + Σ_{k=1..K} θ_k g_{k,t}(λ̃), PC-Conv's frequency response at eigenvalues λ̃ = p − 1 − s of L̃.

    θ is (θ_0, …, θ_K), or (θ_1, …, θ_K) without `identity`; leading axes are separate filters.
    """
    theta = np.asarray(theta, dtype=np.float64)
    if theta.ndim == 0 or theta.shape[-1] == 0:
        raise PcnetError(f"theta must hold K numbers along its last axis, and one more for the identity, not {theta}.")
    family = filter_family(lam, theta.shape[-1] - identity, N, t, identity, mode)
    return np.tensordot(theta, family, axes=(-1, -1))


def check_mode(mode: str) -> str:
    """`mode`, if there is such a mode."""
    return one_of("mode", mode, get_args(Mode))


def limit_expansion(
    K: int, t: float, p: float, interval: Sequence[float], tolerance: float = 1e-12
) -> tuple[Chebyshev, FloatArray]:
    """Coefficients B with Σ_m B[m, k] T_m(y(s)) = (1 − λ̃)^k e^{tλ̃}, λ̃ = p − 1 − s, on the spectrum of S.

    As in `charlier_matrix`, column 0 is e_0 and c = Bθ are the coefficients of one polynomial. On one
    interval all t and p share one basis; only B and its number of rows differ.

    The basis is that of (low, high), an interval around all eigenvalues of S; a very narrow one, or a point, is
    widened. B is (M+1) × (K+1) with the least M that is proven, by the sizes of the coefficients left out, to meet the
    tolerance: the largest error on the interval, as a fraction of each column's own largest value there.
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


def heat_kernel(lam: ArrayLike, t: float) -> FloatArray:
    """e^{tλ̃}, the heat kernel of the complementary graph, with eigenvalues λ̃ of L̃ = (p−1)I − S.

    As a Taylor series, in the odd powers that make neighbours differ and the even ones that make them alike:

        e^{tL̃} = Σ_r t^{2r+1} ((p−1)I − S)^{2r+1} / (2r+1)! + t^{2r} (S − (p−1)I)^{2r} / (2r)!

    Every power of L̃ carries its own power of t (in the paper's text t multiplies p − 1 alone).
    """
    return np.exp(finite_number("t", t) * np.asarray(lam, dtype=np.float64))


def heterophilic_energy(lam: ArrayLike, t: float, alpha1: float) -> FloatArray:
    """h₁(λ̃) = e^{−tλ̃} − α₁."""
    return heat_kernel(lam, -finite_number("t", t)) - positive_number("alpha1", alpha1)


def homophilic_energy(lam: ArrayLike) -> FloatArray:
    """h₂(λ̃) = λ̃."""
    return np.asarray(lam, dtype=np.float64)


def heterophilic_step(lam: ArrayLike, t: float, alpha1: float) -> FloatArray:
    """1/(α₁ + h₁(λ̃)). It is the heat kernel e^{tλ̃} whatever α₁ is: α₁ only decides which p are admissible."""
    return 1 / (alpha1 + heterophilic_energy(lam, t, alpha1))


def homophilic_step(lam: ArrayLike, alpha2: float) -> FloatArray:
    """1/(α₂ + h₂(λ̃)), a low-pass filter."""
    denominator = positive_number("alpha2", alpha2) + homophilic_energy(lam)
    if (denominator <= 0).any():
        raise PcnetError(
            f"alpha2 + λ̃ must be positive, but λ̃ reaches {np.min(lam):g} with alpha2 = {alpha2:g}: the "
            "energy has no minimum there. Take p of at least 2, which keeps λ̃ positive, or a larger alpha2."
        )
    return 1 / denominator


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


@dataclass(frozen=True)
class Identifiability:
    """How well the polynomial determines θ.

    Attributes:
        rank, parameters: dimension of the family of filters, and number of θ's.
        condition: largest over smallest singular value of B; infinite when several θ give the same filter.
    """

    rank: int
    parameters: int
    condition: float

    @property
    def identifiable(self) -> bool:
        """Whether different θ always give different filters."""
        return self.rank == self.parameters


def identifiability(K: int, N: int, t: float, identity: bool = True) -> Identifiability:
    """Rank and condition number of B = [e_0 | C_n(k, t)/n!], the map from θ to the polynomial's coefficients.

        >>> from pcnet import identifiability
        >>> found = identifiability(K=4, N=2, t=0.5)
        >>> found.rank, found.parameters, found.identifiable
        (3, 5, False)

    θ has K + 1 entries and the polynomial N + 1, so N < K leaves θ undetermined and K < N leaves most
    polynomials of order N out of reach (the paper's Theorem 2 needs K = N). For K = N, with the Taylor
    polynomial E_K of the exponential,

        det B = E_K(−t) = Σ_{j=0..K} (−t)^j / j!

    which has no zero for even K and a single one, at some t > 0, for odd K (K = 3: t ≈ 1.596). For N > K the
    columns are always independent. Without `identity` (no e_0) they are so as soon as N ≥ K − 1.
    """
    K, N, t = whole_number("K", K, least=0 if identity else 1), whole_number("N", N), finite_number("t", t)
    B = charlier_matrix(K, N, t)[:, 0 if identity else 1 :]
    singular = np.linalg.svd(B, compute_uv=False)
    rank = int((singular > singular[0] * max(B.shape) * np.finfo(np.float64).eps).sum())
    condition = float(singular[0] / singular[-1]) if rank == B.shape[1] else math.inf
    return Identifiability(rank, B.shape[1], condition)


def truncation_error(K: int, N: int, t: float, interval: Sequence[float]) -> FloatArray:
    """max|truncated − limit| / max|limit| over λ̃ in the interval, for each k = 1..K."""
    lam = np.linspace(*finite_interval("interval", interval), _GRID_POINTS)
    limit = filter_family(lam, K, None, t, identity=False, mode="limit")
    truncated = filter_family(lam, K, N, t, identity=False)
    return np.abs(truncated - limit).max(axis=0) / np.abs(limit).max(axis=0)


@lru_cache(maxsize=1024)
def _truncation(K: int, N: int, t: float, p: float) -> tuple[float, int]:
    """The largest truncation error on [p − 2, p]; where it is far, also the first N that is near, or 0 if none is."""

    def error(N: int) -> float:
        with np.errstate(all="ignore"):
            return float(truncation_error(K, N, t, (p - 2, p)).max())

    found = error(N)
    return found, next((n for n in range(N + 1, _LONGEST) if error(n) <= _NEAR), 0) if found > _FAR else 0


def filter_warnings(K: int, N: int, t: float, p: float, identity: bool = True, mode: Mode = "truncated") -> list[str]:
    """Sentences about settings that are legal but probably not what was meant; none for good ones.

    In truncated mode they name a θ that is not identifiable, and a filter that is as far from its limit as zero is, on
    λ̃ ∈ [p − 2, p], the range of η = ½; in every mode a missing heat kernel (t = 0), a p below the range of
    `admissible_p`, and filters so steep that single precision is not enough for them.
    """
    t, p = finite_number("t", t), finite_number("p", p)
    sentences = []
    if check_mode(mode) == "truncated":
        found = identifiability(K, N, t, identity)
        if not found.identifiable:
            sentences.append(
                f"θ is not identifiable: its {found.parameters} entries span only {found.rank} dimensions at "
                f"K = {K}, N = {N}, t = {t:g}. Take N above K, a smaller K, or mode='limit'."
            )
        error, better = _truncation(K, N, t, p)
        if error > _FAR:
            sentences.append(
                f"The filter is truncated far from its limit: at K = {K}, N = {N}, t = {t:g}, p = {p:g} it misses "
                f"(1 − λ̃)^k e^(tλ̃) by up to {error:.1f} times its largest value. Take "
                f"{f'N = {better}, or ' * (better > 0)}mode='limit', unless published settings are meant."
            )
    with np.errstate(over="ignore", invalid="ignore"):
        family = filter_family(np.linspace(p - 2, p, _GRID_POINTS // 10), K, N, t, identity=False, mode=mode)
    reach = float(np.abs(family).max(initial=0.0))
    if not reach <= _STEEP:
        digits = "of which single precision keeps 7 digits" if reach <= _LARGEST else "more than single precision holds"
        sentences.append(
            f"The filters reach {reach:.0e} on the eigenvalues that a graph can have, {digits}: what they let through "
            f"elsewhere is lost. Take a smaller t or K than t = {t:g}, K = {K}."
        )
    if t == 0:
        sentences.append(
            "t = 0 leaves no heat kernel: e^(tλ̃) is 1 and the filters are plain powers (1 − λ̃)^k. Take t > 0."
        )
    if p < 2:
        sentences.append(
            f"p = {p:g} (b = p − 1 = {p - 1:g}) is below 2, so the homophilic energy λ̃ = p − 2 + λ is "
            "negative at low frequencies. Take p of at least 2."
        )
    return sentences
