"""Where the eigenvalues of a large symmetric matrix lie, without computing them all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import linalg

#: Below this size all eigenvalues are cheaper than a Lanczos iteration.
DENSE_LIMIT = 64
#: Random signs of a density, over all vectors.
PROBE_SIGNS = 2**20


def spectral_interval(matrix: scipy.sparse.csr_matrix) -> tuple[float, float]:
    """[λ_min, λ_max] of a symmetric matrix by Lanczos, widened by 1e-6 of its length.

    Lanczos approaches both ends from inside; the widening makes every eigenvalue lie within, and costs a Chebyshev
    series on the interval nothing. Where Lanczos does not converge, Gershgorin's discs bound the spectrum.
    """
    n = matrix.shape[0]
    if n <= DENSE_LIMIT:
        eigenvalues = scipy.linalg.eigvalsh(matrix.toarray())
        return float(eigenvalues[0]), float(eigenvalues[-1])
    start = np.random.default_rng(0).standard_normal(n)
    # ARPACK measures its error by the eigenvalue itself and misses one that is zero: both ends are moved away from it.
    shift = float(abs(matrix).sum(axis=1).max())
    eye = scipy.sparse.eye(n, format="csr")
    try:
        low, high = (
            float(linalg.eigsh(matrix + c * eye, k=1, which=end, v0=start, tol=1e-8, return_eigenvectors=False)[0]) - c
            for c, end in ((-shift, "SA"), (shift, "LA"))
        )
    except linalg.ArpackError:
        radius = np.asarray(abs(matrix).sum(axis=1)).ravel() - abs(matrix.diagonal())
        return float((matrix.diagonal() - radius).min()), float((matrix.diagonal() + radius).max())
    margin = 1e-6 * (high - low)
    return low - margin, high + margin


def spectral_density(
    matrix: scipy.sparse.csr_matrix,
    interval: tuple[float, float],
    at: NDArray[np.float64],
    *,
    moments: int = 120,
    signals: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Density of the eigenvalues of a symmetric matrix at the points `at`, by the kernel polynomial method.

    ρ(y) = (w_0 + 2 Σ_m w_m μ_m T_m(y)) / (π √(1−y²)), y the point scaled from the interval to [−1, 1], μ_m the mean of
    zᵀT_m(S)z / zᵀz over random sign vectors z, w_m Jackson's weights, which keep the series from ringing. With
    `signals`, columns that take the place of z, it is how their energy lies over the eigenvalues.
    """
    low, high = interval
    centre, half = (high + low) / 2, max((high - low) / 2, 1e-12)
    # The series is singular at both ends; a margin keeps the spectrum's own ends away from them.
    half *= 1.02

    def scaled(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (matrix @ x - centre * x) / half

    n = matrix.shape[0]
    # The error falls with the square root of all drawn signs together: of a large graph, few vectors are enough.
    vectors = min(16, max(2, PROBE_SIGNS // n))
    z = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, vectors)) if signals is None else signals
    mu = _moments(scaled, z, moments)
    order = np.arange(moments)
    q = np.pi / (moments + 1)
    jackson = ((moments - order + 1) * np.cos(q * order) + np.sin(q * order) / np.tan(q)) / (moments + 1)
    y = np.clip((np.asarray(at) - centre) / half, -0.999999, 0.999999)
    terms = np.cos(np.outer(np.arccos(y), order)) * jackson * mu
    series = 2 * terms.sum(axis=1) - terms[:, 0]
    return np.maximum(series, 0.0) / (np.pi * half * np.sqrt(1 - y**2))


def _moments(
    scaled: Callable[[NDArray[np.float64]], NDArray[np.float64]], z: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """μ_m = zᵀT_m z / zᵀz for m < count, from half as many products: T_2m = 2 T_m² − 1, T_2m+1 = 2 T_m+1 T_m − T_1."""
    energy = float(np.sum(z * z))
    previous, current = z, scaled(z)
    mu = np.empty(max(2, count + count % 2))
    mu[0], mu[1] = 1.0, np.sum(z * current) / energy
    for m in range(1, len(mu) // 2):
        mu[2 * m] = 2 * np.sum(current * current) / energy - 1.0
        previous, current = current, 2 * scaled(current) - previous
        mu[2 * m + 1] = 2 * np.sum(previous * current) / energy - mu[1]
    return mu[:count]
