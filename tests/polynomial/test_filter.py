"""The PC-filter: the truncated sum, its limit, and the limit as a Chebyshev expansion."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from pcnet.errors import PcnetError
from pcnet.polynomial import (
    Chebyshev,
    Powers,
    _filter,
    charlier_matrix,
    evaluate_polynomial,
    filter_family,
    limit_expansion,
    limit_filter,
    pc_response,
    poisson_charlier,
    truncated_filter,
)

LAM = np.linspace(0, 2.3, 101)


def operator(size: int = 30, seed: int = 0) -> np.ndarray:
    """(D+I)^-½ (A+I) (D+I)^-½ of a random graph, dense."""
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < 0.15, 1).astype(float)
    A = upper + upper.T + np.eye(size)
    scale = A.sum(1) ** -0.5
    return scale[:, None] * A * scale


def relative_error(K: int, t: float, p: float, basis: Chebyshev, B: np.ndarray) -> float:
    """Largest column-relative error of the expansion on its interval."""
    s = np.linspace(basis.low, basis.high, 1501)
    exact = filter_family(p - 1 - s, K, None, t, mode="limit")
    error = np.abs(evaluate_polynomial(B.T, basis, s).T - exact)
    return float((error.max(axis=0) / np.abs(exact).max(axis=0)).max())


def test_truncated_filter_is_the_papers_sum():
    expected = sum(poisson_charlier(n, 3, 0.7) * (-LAM) ** n / scipy.special.factorial(n) for n in range(6))
    np.testing.assert_allclose(truncated_filter(LAM, 3, 5, 0.7), expected, rtol=1e-12, atol=1e-12)


def test_limit_filter_by_hand():
    assert limit_filter(0.5, 2, 1.0) == pytest.approx(0.25 * np.exp(0.5))
    np.testing.assert_array_equal(limit_filter(LAM, 0, 0.0), np.ones_like(LAM))


@pytest.mark.parametrize("k", [1, 2, 6])
@pytest.mark.parametrize("t", [0.3, 1.7, 3.7])
def test_truncated_tends_to_the_limit(k, t):
    """Beyond λ̃ = 1 too, and without round-off taking over at high order."""
    limit = limit_filter(LAM, k, t)
    scale = np.abs(limit).max()
    errors = [np.abs(truncated_filter(LAM, k, N, t) - limit).max() / scale for N in (12, 24, 40, 60)]
    assert errors[0] > errors[1]
    assert errors[1] < 0.02
    assert errors[2] < 1e-9
    assert errors[3] < 1e-14


def test_time_zero_stops_at_order_k():
    np.testing.assert_allclose(truncated_filter(LAM, 4, 4, 0.0), (1 - LAM) ** 4, atol=1e-12)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("identity", [True, False])
def test_response_combines_the_family(mode, identity):
    theta = np.array([0.7, -1.2, 0.4, 2.0])[0 if identity else 1 :]
    one = {
        "truncated": lambda k: truncated_filter(LAM, k, 5, 0.8),
        "limit": lambda k: limit_filter(LAM, k, 0.8),
    }[mode]
    expected = identity * 0.7 - 1.2 * one(1) + 0.4 * one(2) + 2.0 * one(3)
    np.testing.assert_allclose(pc_response(LAM, theta, 5, 0.8, identity, mode), expected, rtol=1e-12, atol=1e-12)
    stacked = pc_response(LAM.reshape(1, -1), [theta, 2 * theta], 5, 0.8, identity, mode)
    np.testing.assert_allclose(stacked, np.stack([expected, 2 * expected])[:, None], rtol=1e-12, atol=1e-12)


def test_one_polynomial_on_a_dense_graph():
    """Z = Σ_n (Bθ)_n (S − (p−1)I)^n equals θ_0 + Σ_k θ_k Σ_n C_n (−L̃)^n/n!, matrix by matrix."""
    S, p, t, N, theta = operator(), 2.3, 0.9, 4, np.array([0.5, -1.0, 0.3, 0.8])
    minus_L = S - (p - 1) * np.eye(len(S))
    powers = [np.linalg.matrix_power(minus_L, n) for n in range(N + 1)]
    slow = theta[0] * powers[0]
    for k in range(1, 4):
        for n in range(N + 1):
            slow = slow + theta[k] * poisson_charlier(n, k, t) / scipy.special.factorial(n) * powers[n]
    s, U = np.linalg.eigh(S)
    fast = evaluate_polynomial(charlier_matrix(3, N, t) @ theta, Powers(p - 1), s)
    np.testing.assert_allclose(U * fast @ U.T, slow, atol=1e-12)
    np.testing.assert_allclose(fast, pc_response(p - 1 - s, theta, N, t), atol=1e-12)


@pytest.mark.parametrize(("t", "p"), [(0.0, 2.0), (0.7, 2.3), (1.7, 2.7), (3.7, 9.3)])
def test_limit_equals_dense_expm(t, p):
    S = operator(seed=1)
    L = (p - 1) * np.eye(len(S)) - S
    s, U = np.linalg.eigh(S)
    basis, B = limit_expansion(5, t, p, (s[0], s[-1]))
    for k in range(1, 6):
        exact = np.linalg.matrix_power(np.eye(len(S)) - L, k) @ scipy.linalg.expm(t * L)
        got = U * evaluate_polynomial(B[:, k], basis, s) @ U.T
        assert np.abs(got - exact).max() <= 1e-10 * np.abs(exact).max()


@given(st.integers(0, 8), st.floats(0, 4), st.floats(1, 9), st.floats(-4, 1), st.floats(0.11, 5))
def test_expansion_meets_its_tolerance(K, t, p, low, width):
    basis, B = limit_expansion(K, t, p, (low, low + width))
    np.testing.assert_array_equal(B[:, 0], np.eye(len(B))[0])
    assert B.shape[1] == K + 1
    assert relative_error(K, t, p, basis, B) <= 2e-12


@pytest.mark.parametrize(("t", "interval"), [(0.5, (-1, 1)), (2.0, (-0.8, 1)), (2.0, (-27, 27)), (3.0, (-50, 1))])
def test_expansion_wastes_no_order(t, interval):
    """Two rows fewer break the tolerance; a looser tolerance takes fewer rows."""
    basis, B = limit_expansion(6, t, 2.3, interval)
    assert relative_error(6, t, 2.3, basis, B) <= 1.5e-12
    assert relative_error(6, t, 2.3, basis, B[:-2]) > 1e-12
    basis, loose = limit_expansion(6, t, 2.3, interval, tolerance=1e-4)
    assert len(loose) < len(B)
    assert relative_error(6, t, 2.3, basis, loose) <= 1e-4


@pytest.mark.parametrize("K", [1, 4, 20])
def test_expansion_of_a_polynomial_is_that_polynomial(K):
    assert limit_expansion(K, 0.0, 2.0, (-1, 1))[1].shape == (K + 1, K + 1)


@pytest.mark.parametrize("point", [-1.0, 0.0, 0.3, 40.0])
def test_an_interval_of_one_point(point):
    """A graph without edges has S = I: one eigenvalue."""
    basis, B = limit_expansion(4, 1.3, 2.3, (point, point))
    assert basis.low < point < basis.high
    assert relative_error(4, 1.3, 2.3, basis, B) <= 1.5e-12
    got = [evaluate_polynomial(B[:, k], basis, point) for k in range(1, 5)]
    exact = [limit_filter(1.3 - point, k, 1.3) for k in range(1, 5)]
    np.testing.assert_allclose(got, exact, rtol=1e-11, atol=1e-13)


def test_the_cache_cannot_be_written():
    _, B = limit_expansion(3, 1.1, 2.0, [-1, 1])
    B[:] = 7
    assert limit_expansion(3, 1.1, 2.0, (-1.0, 1.0))[1][0, 0] == 1
    before = _filter._limit_matrix.cache_info().hits
    limit_expansion(3, 1.1, 2.0, np.array([-1, 1]))
    assert _filter._limit_matrix.cache_info().hits == before + 1


def test_too_few_nodes_is_said(monkeypatch):
    monkeypatch.setattr(_filter, "_MOST_NODES", 32)
    with pytest.raises(PcnetError, match=r"varies too fast on \(-29, 29\).*smaller t or a larger tolerance"):
        limit_expansion(2, 2.0, 2.0, (-29, 29))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: truncated_filter(LAM, -1, 3, 1.0), "k must be at least 0"),
        (lambda: truncated_filter(LAM, 1, 3, np.inf), "t must be finite"),
        (lambda: limit_filter(LAM, 1.5, 1.0), r"k must be a whole number, not 1\.5"),
        (lambda: filter_family(LAM, 2, None, 1.0), "N must be a whole number, not None"),
        (lambda: pc_response(LAM, [1.0, 2.0], 3, 1.0, mode="limits"), "mode cannot be.*Did you mean 'limit'"),
        (lambda: pc_response(LAM, 1.0, 3, 1.0), "theta must hold K numbers"),
        (lambda: pc_response(LAM, [], 3, 1.0), "theta must hold K numbers"),
        (lambda: limit_expansion(2, 1.0, 2.0, (1, -1)), r"interval must have its low end below.*\(1, -1\)"),
        (lambda: limit_expansion(2, 1.0, 2.0, 3), r"interval must be a pair \(low, high\)"),
        (lambda: limit_expansion(2, 1.0, np.nan, (-1, 1)), "p must be finite"),
        (lambda: limit_expansion(-2, 1.0, 2.0, (-1, 1)), "K must be at least 0"),
        (lambda: limit_expansion(2, 1.0, 2.0, (-1, 1), 1e-20), "tolerance must lie between 1e-13"),
        (lambda: limit_expansion(2, 100.0, 2.0, (-9, 9)), "overflows for t = 100, p = 2 on the interval"),
    ],
)
def test_errors_are_sentences(call, sentence):
    with pytest.raises(PcnetError, match=sentence):
        call()
