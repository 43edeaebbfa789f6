"""Fitting θ to a wanted response."""

import numpy as np
import pytest

from pcnet.errors import PcnetError
from pcnet.polynomial import comb, fit_response, low_band_pass, pc_response

LAM = np.linspace(0, 2, 2001)

# Root mean squared error of the fit on [0, 2] with K = N, t = 1, p = 2.
GOLDEN = {
    comb: {2: 0.298, 4: 0.152, 6: 0.0816, 8: 0.0536, 10: 0.0391},
    low_band_pass: {2: 0.326, 4: 0.221, 6: 0.146, 8: 0.146, 10: 0.101},
}
CASES = [(target, K, error) for target, errors in GOLDEN.items() for K, error in errors.items()]


@pytest.mark.parametrize(("target", "K", "error"), CASES)
def test_figure_two(target, K, error):
    """K = N reaches exactly the best polynomial of order N, found here in another basis by NumPy."""
    fit = fit_response(target, K, K, 1.0)
    assert fit.rmse == pytest.approx(error, rel=0.02)
    best = np.polynomial.Chebyshev.fit(LAM, target(LAM), K)
    assert fit.rmse == pytest.approx(np.sqrt(np.mean((best(LAM) - target(LAM)) ** 2)), rel=1e-6)
    np.testing.assert_allclose(fit.response(LAM), best(LAM), atol=1e-4)


@pytest.mark.parametrize("target", GOLDEN)
@pytest.mark.parametrize("mode", ["truncated", "limit"])
def test_more_filters_fit_better(target, mode):
    errors = [fit_response(target, K, K, 1.0, mode=mode).rmse for K in (2, 4, 6, 8, 10)]
    assert (np.diff(errors) < 0).all()


def test_higher_order_alone_does_not_help():
    """Order without filters: K = 2 stays far from the best polynomial of order 10, against Corollary 2."""
    assert fit_response(comb, 2, 10, 1.0).rmse > 5 * fit_response(comb, 10, 10, 1.0).rmse


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("identity", [True, False])
@pytest.mark.parametrize("p", [2.0, 2.6])
def test_recovers_a_member_of_the_family(mode, identity, p):
    theta = np.array([0.4, -1.0, 2.0, 0.3, -0.7])[: 4 + identity]

    def target(lam):
        return pc_response(lam + p - 2, theta, 5, 0.8, identity, mode)

    fit = fit_response(target, 4, 5, 0.8, p=p, identity=identity, mode=mode)
    np.testing.assert_allclose(fit.theta, theta, atol=1e-9)
    assert fit.max_error < 1e-10
    assert fit.rmse <= fit.max_error
    np.testing.assert_allclose(fit.response([[0.3, 1.7]]), target(np.array([[0.3, 1.7]])), atol=1e-10)


def test_an_undetermined_theta_still_fits():
    """K = 6 filters of order 3: the cubic is found, and θ stays small instead of running off."""
    fit = fit_response(lambda lam: lam**3 - lam, 6, 3, 1.5)
    assert fit.max_error < 1e-10
    assert np.abs(fit.theta).max() < 20


def test_errors_are_those_of_the_response():
    fit = fit_response(comb, 3, 4, 0.5, p=2.2, interval=(0.2, 1.4), points=301)
    lam = np.linspace(0.2, 1.4, 301)
    error = fit.response(lam) - comb(lam)
    assert fit.rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    assert fit.max_error == pytest.approx(np.abs(error).max())


def test_ridge_solves_the_penalised_normal_equations():
    ridge, K, N, t = 0.03, 3, 4, 0.9
    fit = fit_response(comb, K, N, t, ridge=ridge)
    A = np.stack([pc_response(LAM, e, N, t) for e in np.eye(K + 1)], axis=1)
    expected = np.linalg.solve(A.T @ A / len(LAM) + ridge * np.eye(K + 1), A.T @ comb(LAM) / len(LAM))
    np.testing.assert_allclose(fit.theta, expected, rtol=1e-9)
    assert np.linalg.norm(fit.theta) < np.linalg.norm(fit_response(comb, K, N, t).theta)


def test_targets_by_hand():
    np.testing.assert_allclose(comb([0, 0.5, 1, 1.5, 1.75]), [0, 1, 0, 1, np.sqrt(0.5)], atol=1e-15)
    lam = [-0.1, 0, 0.5, 0.6, 1.0, 1.5, 1.7, 2.0, 2.1]
    expected = [0, 1, 1, np.exp(-1), np.exp(-12.5), 1, np.exp(-2), np.exp(-12.5), 0]
    np.testing.assert_allclose(low_band_pass(lam), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ridge": -1.0}, "ridge must not be negative"),
        ({"points": 1}, "points must be at least 2"),
        ({"interval": (2, 0)}, "low end below its high end"),
        ({"p": np.nan}, "p must be finite"),
        ({"N": None}, "N must be a whole number"),
        ({"K": 0, "identity": False}, "K must be at least 1"),
        ({"mode": "trunc"}, "mode cannot be"),
        ({"target": lambda lam: 1.0}, "one finite number for each λ"),
        ({"target": lambda lam: lam * np.nan}, "one finite number for each λ"),
    ],
)
def test_errors_are_sentences(change, sentence):
    with pytest.raises(PcnetError, match=sentence):
        fit_response(**{"target": comb, "K": 3, "N": 3, "t": 1.0} | change)
