"""Poisson–Charlier polynomials against exact rational arithmetic."""

from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from pcnet.errors import PcnetError
from pcnet.polynomial import charlier_matrix, charlier_series, poisson_charlier

# Sixteenths are exact in floating point, so nothing is lost before the computation starts.
rationals = st.integers(-96, 192).map(lambda i: Fraction(i, 16))
times = st.integers(0, 64).map(lambda i: Fraction(i, 16))


def terms(n: int, gamma: Fraction, t: Fraction) -> list[Fraction]:
    """The terms of Theorem 1's sum, exactly."""
    falling = [prod((gamma - i for i in range(n - j)), start=Fraction(1)) for j in range(n + 1)]
    return [comb(n, j) * (-t) ** j * falling[j] for j in range(n + 1)]


def explicit(n: int, gamma: Fraction, t: Fraction) -> Fraction:
    return sum(terms(n, gamma, t), start=Fraction(0))


@given(st.integers(0, 14), rationals, times)
def test_recurrence_equals_the_explicit_sum(n, gamma, t):
    size = float(sum(map(abs, terms(n, gamma, t))))
    got = float(poisson_charlier(n, float(gamma), float(t)))
    assert got == pytest.approx(float(explicit(n, gamma, t)), rel=1e-11, abs=1e-14 * size)


@pytest.mark.parametrize(
    ("gamma", "t"),
    [
        (0, 0.9),
        (1, 1.0),
        (2, 0.9),
        (6, 1.7),
        (12, 3.7),
        (30, 20.3),
        (2.5, 0.9),
        (-1.5, 2.2),
        (40.5, 20.3),
        (3, -1.3),
    ],
)
def test_every_digit_survives_to_order_sixty(gamma, t):
    """The plain recurrence in n is wrong by a factor 1e60 at γ = 2: n and k must be exchanged there."""
    series = charlier_series(60, gamma, t)
    exact = [explicit(n, Fraction(gamma), Fraction(t)) / factorial(n) for n in range(61)]
    np.testing.assert_allclose(series, [float(value) for value in exact], rtol=1e-12, atol=0)


@given(st.integers(0, 25), st.integers(0, 25), times)
def test_exchange_of_order_and_argument(n, k, t):
    left, right = (-t) ** k * explicit(n, Fraction(k), t), (-t) ** n * explicit(k, Fraction(n), t)
    assert left == right
    if t:
        got = poisson_charlier(n, k, float(t)) * (-float(t)) ** k
        assert float(got) == pytest.approx(float(left), rel=1e-9, abs=1e-9 * abs(float(t)) ** (n + k) + 1e-300)


@given(st.floats(-5, 8), st.floats(-3, 3), st.floats(-0.5, 0.5))
def test_generating_function(gamma, t, lam):
    """Σ C_n(γ,t) (−λ)^n/n! = (1−λ)^γ e^{tλ}; the series of a real γ converges for |λ| < 1."""
    total = charlier_series(80, gamma, t) @ (-lam) ** np.arange(81)
    assert total == pytest.approx((1 - lam) ** gamma * np.exp(t * lam), rel=1e-10)


def test_equals_laguerre_and_tricomi():
    """C_n(γ,t) = n! L_n^{(γ−n)}(t) = (−1)^n U(−n, γ−n+1, t); SciPy's Laguerre needs γ − n > −1."""
    gamma, t = np.linspace(0.3, 9.3, 7)[:, None], np.linspace(0.1, 4, 5)
    for n in range(9):
        got = poisson_charlier(n, gamma, t)
        np.testing.assert_allclose(got, (-1) ** n * scipy.special.hyperu(-n, gamma - n + 1, t), rtol=1e-9, atol=1e-9)
        allowed = gamma[:, 0] > n - 1
        laguerre = scipy.special.eval_genlaguerre(n, gamma[allowed] - n, t)
        np.testing.assert_allclose(got[allowed], factorial(n) * laguerre, rtol=1e-9, atol=1e-9)


def test_orthogonal_under_the_poisson_distribution():
    t, x = 1.7, np.arange(80)
    weights = np.exp(-t + x * np.log(t) - scipy.special.gammaln(x + 1))
    C = np.stack([poisson_charlier(n, x, t) for n in range(8)])
    expected = np.diag([factorial(n) * t**n for n in range(8)])
    np.testing.assert_allclose(C * weights @ C.T, expected, atol=1e-8)


def test_shapes_and_types():
    assert np.ndim(poisson_charlier(3, 2, 0.5)) == 0
    value = poisson_charlier(2, [[0.0, 1.0], [2.0, 3.5]], 1)
    assert value.shape == (2, 2)
    assert value.dtype == np.float64
    assert poisson_charlier(4, np.arange(6)[:, None], [0.1, 0.2]).shape == (6, 2)
    # Whole and fractional γ in one array, each by its own route.
    mixed = poisson_charlier(9, [2.0, 2.5, 20.0], [0.3, 0.4, 0.5])
    np.testing.assert_array_equal(mixed, [poisson_charlier(9, g, t) for g, t in ((2, 0.3), (2.5, 0.4), (20, 0.5))])


@pytest.mark.parametrize(("K", "N", "t"), [(0, 0, 1.0), (4, 4, 1.0), (6, 9, 0.0), (2, 60, 0.9), (12, 3, 3.7)])
def test_matrix_entries(K, N, t):
    B = charlier_matrix(K, N, t)
    assert B.shape == (N + 1, K + 1)
    assert B.dtype == np.float64
    np.testing.assert_array_equal(B[:, 0], np.eye(N + 1)[0])
    for k in range(1, K + 1):
        exact = [float(explicit(n, Fraction(k), Fraction(t)) / factorial(n)) for n in range(N + 1)]
        np.testing.assert_allclose(B[:, k], exact, rtol=1e-12)


def test_time_zero_is_pascals_triangle():
    B = charlier_matrix(6, 9, 0.0)
    np.testing.assert_array_equal(B[:, 1:], [[comb(k, n) for k in range(1, 7)] for n in range(10)])


def test_large_orders_stay_finite():
    assert np.isfinite(charlier_matrix(12, 400, 4.0)).all()
    assert np.isfinite(charlier_series(400, [0.5, -2.5], 4.0)).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: charlier_matrix(-1, 3, 1.0), "K must be at least 0, not -1"),
        (lambda: charlier_matrix(2, -1, 1.0), "N must be at least 0, not -1"),
        (lambda: charlier_matrix(2, 3.5, 1.0), r"N must be a whole number, not 3\.5"),
        (lambda: charlier_matrix(2, 3, float("nan")), "t must be finite, not nan"),
        (lambda: charlier_matrix(2, 3, "soon"), "t must be one number, not 'soon'"),
        (lambda: poisson_charlier("2", 1, 1), "n must be a whole number"),
        (lambda: poisson_charlier(171, 1, 1), "n must be at most 170.*charlier_series"),
        (lambda: poisson_charlier(2, [1, np.inf], 1), "gamma must be finite"),
        (lambda: poisson_charlier(2, ["a"], 1), "gamma must hold numbers only"),
        (lambda: poisson_charlier(2, 1, [np.nan]), "t must be finite"),
    ],
)
def test_errors_are_sentences(call, sentence):
    with pytest.raises(PcnetError, match=sentence):
        call()
