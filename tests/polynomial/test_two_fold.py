"""Two-fold filtering: closed form, order invariance, admissible p."""

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from pcnet.errors import PcnetError
from pcnet.polynomial import (
    admissible_p,
    heat_kernel,
    heterophilic_energy,
    heterophilic_step,
    homophilic_energy,
    homophilic_step,
    two_fold_filter,
)

T, ALPHA1, ALPHA2, P = 0.4, 0.3, 1.0, 2.5


@pytest.fixture
def laplacian():
    """L̃ of a random symmetric S with spectrum in [−1, 1], and S itself."""
    rng = np.random.default_rng(5)
    S = rng.normal(size=(15, 15))
    S = S + S.T
    S /= np.abs(np.linalg.eigvalsh(S)).max()
    return (P - 1) * np.eye(15) - S, S


def test_order_of_the_two_aggregations_does_not_matter(laplacian):
    """Property 1, with each step solved as a dense linear system."""
    L, _ = laplacian
    eye, x = np.eye(15), np.random.default_rng(6).normal(size=(15, 3))
    first = ALPHA1 * eye + (scipy.linalg.expm(-T * L) - ALPHA1 * eye)
    second = ALPHA2 * eye + L
    hetero_then_homo = np.linalg.solve(second, np.linalg.solve(first, x))
    homo_then_hetero = np.linalg.solve(first, np.linalg.solve(second, x))
    np.testing.assert_allclose(hetero_then_homo, homo_then_hetero, rtol=1e-10, atol=1e-12)
    lam, U = np.linalg.eigh(L)
    closed = U * two_fold_filter(lam, T, ALPHA1, ALPHA2) @ U.T @ x
    np.testing.assert_allclose(closed, hetero_then_homo, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("which", ["heterophilic", "homophilic"])
def test_each_step_minimises_its_energy(which, laplacian):
    """At Z = α(α + h)^{-1}x the gradient 2hZ + 2α(Z − x) vanishes; without the factor α it does not."""
    lam, U = np.linalg.eigh(laplacian[0])
    x = np.random.default_rng(7).normal(size=15)
    if which == "heterophilic":
        alpha, energy, step = ALPHA1, heterophilic_energy(lam, T, ALPHA1), heterophilic_step(lam, T, ALPHA1)
    else:
        alpha, energy, step = 0.8, homophilic_energy(lam), homophilic_step(lam, 0.8)
    h = U * energy @ U.T

    def gradient(Z):
        return 2 * h @ Z + 2 * alpha * (Z - x)

    Z = U * step @ U.T @ x
    np.testing.assert_allclose(gradient(alpha * Z), 0, atol=1e-12)
    assert np.abs(gradient(Z)).max() > 1e-2


@given(st.floats(-2, 4), st.floats(0, 2), st.floats(0.01, 2))
def test_heterophilic_step_is_the_heat_kernel_for_every_alpha(lam, t, alpha1):
    assert heterophilic_step(lam, t, alpha1) == pytest.approx(np.exp(t * lam), rel=1e-10)


def test_factors_by_hand():
    assert homophilic_step(0.5, 1.5) == 0.5
    assert heterophilic_energy(1.0, 1.0, 0.1) == pytest.approx(math.exp(-1) - 0.1)
    assert two_fold_filter(1.0, 2.0, 0.1, 1.0) == pytest.approx(math.exp(2) / 2)


def test_taylor_series_of_the_heat_kernel(laplacian):
    """With t in every power, and not only beside p − 1, as the paper's text has it."""
    L, S = laplacian
    lam, U = np.linalg.eigh(L)
    kernel = U * heat_kernel(lam, T) @ U.T
    np.testing.assert_allclose(kernel, scipy.linalg.expm(T * L), rtol=1e-12, atol=1e-12)

    def series(odd, even):
        power, fact = np.linalg.matrix_power, math.factorial
        return sum(power(odd, 2 * r + 1) / fact(2 * r + 1) + power(even, 2 * r) / fact(2 * r) for r in range(15))

    np.testing.assert_allclose(series(T * L, -T * L), kernel, rtol=1e-12, atol=1e-12)
    misprint = T * (P - 1) * np.eye(15) - S
    assert np.abs(series(misprint, -misprint) - kernel).max() > 0.1


@given(st.floats(0.01, 3), st.floats(1e-6, 0.999))
def test_admissible_p_keeps_both_energies_non_negative(t, alpha1):
    lam = np.linspace(0, 2, 50)
    found = admissible_p(t, alpha1)
    if found is None:
        assert alpha1 > math.exp(-2 * t)
        assert heterophilic_energy(2.0, t, alpha1) < 0
        return
    low, high = found
    assert low == 2
    for p in (low, (low + high) / 2, high):
        assert (heterophilic_energy(p - 2 + lam, t, alpha1) >= -1e-12).all()
        assert (homophilic_energy(p - 2 + lam) >= 0).all()
    assert heterophilic_energy(high + 0.1 - 2 + 2, t, alpha1) < 0
    assert homophilic_energy(low - 0.1 - 2 + 0) < 0


@given(st.floats(1e-9, 20))
def test_the_boundary_is_the_single_point_two(t):
    low, high = admissible_p(t, math.exp(-2 * t))
    assert low == 2
    assert high >= 2
    assert high == pytest.approx(2, rel=1e-6)


def test_admissible_p_facts():
    assert admissible_p(1.0, math.exp(-3)) == (2.0, pytest.approx(3.0))
    assert admissible_p(1.0, 0.2) is None
    assert admissible_p(0.0, 0.5) == (2.0, math.inf)
    assert admissible_p(0.0, 1.0) == (2.0, math.inf)
    assert admissible_p(0.0, 1.1) is None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: admissible_p(-1.0, 0.1), "t must not be negative"),
        (lambda: admissible_p(1.0, 0.0), "alpha1 must be above 0, not 0"),
        (lambda: heterophilic_energy(1.0, 1.0, -0.5), "alpha1 must be above 0"),
        (lambda: homophilic_step(1.0, 0.0), "alpha2 must be above 0"),
        (lambda: homophilic_step([-1.5, 1.0], 1.0), r"λ̃ reaches -1\.5 with alpha2 = 1.*p of at least 2"),
        (lambda: heat_kernel(1.0, np.nan), "t must be finite"),
    ],
)
def test_errors_are_sentences(call, sentence):
    with pytest.raises(PcnetError, match=sentence):
        call()
