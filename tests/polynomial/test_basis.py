"""Bases against SciPy's polynomials, on points and on matrices."""

import math

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from pcnet.errors import PcnetError
from pcnet.polynomial import Chebyshev, Jacobi, Powers, Recurrence, evaluate_polynomial

ORDER = 9
S = np.linspace(-1, 1, 23)
LEGENDRE = Recurrence(
    a=[(2 * n + 1) / (n + 1) for n in range(ORDER)], b=[0.0] * ORDER, c=[n / (n + 1) for n in range(ORDER)]
)
BASES = [
    Powers(),
    Powers(1.3),
    Powers((0.5, 1.0, 2.0)),
    Chebyshev(),
    Chebyshev(-2.5, 0.7),
    Jacobi(1.0, 1.0),
    Jacobi(-0.5, -0.5),
    LEGENDRE,
]


def test_powers():
    for n, P in enumerate(Powers(0.3).evaluate(S, ORDER)):
        np.testing.assert_allclose(P, (S - 0.3) ** n, atol=1e-13)


def test_grouped_powers_are_separate_powers():
    shifts = (0.5, 1.0, 2.5)
    points = S[:12].reshape(3, 4)
    together = Powers(shifts).evaluate(points, ORDER)
    assert together.shape == (3, ORDER + 1, 3, 4)
    for group, shift in enumerate(shifts):
        np.testing.assert_array_equal(together[group], Powers(shift).evaluate(points, ORDER))
    assert all(step.shape == (3, 5) for step in Powers(shifts).recurrence(5))


@given(st.floats(-5, 5), st.floats(0.1, 6))
def test_chebyshev_on_an_interval(low, width):
    basis = Chebyshev(low, low + width)
    s = np.linspace(basis.low, basis.high, 31)
    y = (2 * s - basis.low - basis.high) / (basis.high - basis.low)
    expected = [scipy.special.eval_chebyt(n, y) for n in range(ORDER + 1)]
    np.testing.assert_allclose(basis.evaluate(s, ORDER), expected, atol=1e-9)


@pytest.mark.parametrize("a", [-0.9, -0.5, 0.0, 0.5, 1.0, 2.3])
@pytest.mark.parametrize("b", [-0.5, -0.1, 0.0, 1.0, 3.0])
def test_jacobi(a, b):
    """a + b = −1 and a + b = 0 make the general formula divide by zero at its first step."""
    expected = [scipy.special.eval_jacobi(n, a, b, S) for n in range(ORDER + 1)]
    np.testing.assert_allclose(Jacobi(a, b).evaluate(S, ORDER), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("a", "b"), [(-1.0, 0.5), (-1.0, 0.0), (0.25, -1.0), (-0.5, 0.5)])
def test_jacobi_at_the_end_of_its_range(a, b):
    """The explicit sum, which is a polynomial of a and b, goes on where SciPy stops."""

    def binomial(x: float, j: int) -> float:
        return math.prod((x - i) / (i + 1) for i in range(j))

    half = (S - 1) / 2
    for n, P in enumerate(Jacobi(a, b).evaluate(S, ORDER)):
        weights = [binomial(n + a, n - j) * binomial(n + b, j) for j in range(n + 1)]
        expected = sum(weight * half**j * (half + 1) ** (n - j) for j, weight in enumerate(weights))
        np.testing.assert_allclose(P, expected, rtol=1e-11, atol=1e-11)


def test_a_recurrence_of_ones_own():
    expected = [scipy.special.eval_legendre(n, S) for n in range(ORDER + 1)]
    np.testing.assert_allclose(LEGENDRE.evaluate(S, ORDER), expected, atol=1e-13)


@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_contract(basis):
    """What a propagation engine relies on: float64 steps, prefixes, a first c of zero, hashing, order 0."""
    long, short = basis.recurrence(ORDER), basis.recurrence(4)
    for whole, part in zip(long, short, strict=True):
        assert whole.dtype == np.float64
        assert whole.shape[-1] == ORDER
        np.testing.assert_array_equal(whole[..., :4], part)
    assert (long[2][..., 0] == 0).all()
    assert all(step.shape[-1] == 0 for step in basis.recurrence(0))
    np.testing.assert_array_equal(basis.evaluate(S, 0), np.ones_like(basis.evaluate(S, 0)))
    assert {basis: "kept"}[basis] == "kept"


@pytest.mark.parametrize("basis", [basis for basis in BASES if basis != Powers((0.5, 1.0, 2.0))], ids=repr)
def test_recurrence_on_a_matrix(basis):
    """The recurrence with S a matrix equals U P_n(Λ) Uᵀ."""
    rng = np.random.default_rng(3)
    U, s, x = ortho_group.rvs(12, random_state=4), rng.uniform(-1, 1, 12), rng.normal(size=12)
    matrix = U * s @ U.T
    a, b, c = basis.recurrence(ORDER)
    before, now = np.zeros(12), x
    for n, P in enumerate(basis.evaluate(s, ORDER)):
        np.testing.assert_allclose(now, U @ (P * (U.T @ x)), rtol=1e-10, atol=1e-10)
        if n < ORDER:
            before, now = now, a[n] * (matrix @ now) + b[n] * now - c[n] * before


def test_equal_bases_hash_alike():
    assert hash(Powers([1, 2])) == hash(Powers((1.0, 2.0)))
    assert Powers(np.float32(0.5)) == Powers(0.5)
    assert Recurrence([1], [0], [0]) == Recurrence((1.0,), (0.0,), (0.0,))
    assert Chebyshev(-1, 1) != Chebyshev(-1, 2)


def test_evaluate_polynomial():
    c = np.random.default_rng(0).normal(size=(3, 6))
    points = S[:6].reshape(2, 3)
    one = evaluate_polynomial(c[0], Chebyshev(), points)
    np.testing.assert_allclose(one, np.polynomial.chebyshev.chebval(points, c[0]), atol=1e-13)
    shared_basis = evaluate_polynomial(c, Chebyshev(), points)
    np.testing.assert_allclose(shared_basis, np.polynomial.chebyshev.chebval(points, c.T), atol=1e-13)
    shifts = (0.0, 1.0, -2.0)
    grouped = evaluate_polynomial(c, Powers(shifts), points)
    shared_c = evaluate_polynomial(c[0], Powers(shifts), points)
    for group, shift in enumerate(shifts):
        expected = np.polynomial.polynomial.polyval(points - shift, c[group])
        np.testing.assert_allclose(grouped[group], expected, rtol=1e-12, atol=1e-12)
        expected = np.polynomial.polynomial.polyval(points - shift, c[0])
        np.testing.assert_allclose(shared_c[group], expected, rtol=1e-12, atol=1e-12)
    assert evaluate_polynomial([2.0], Jacobi(1, 1), 0.3) == 2.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Chebyshev(1, 1), r"interval of Chebyshev must have its low end below.*\(1, 1\)"),
        (lambda: Chebyshev(2, 1), "low end below its high end"),
        (lambda: Chebyshev(0, np.inf), "high end must be finite"),
        (lambda: Jacobi(-1.1, 0), "a of Jacobi must be at least -1"),
        (lambda: Jacobi(0, -2), "b of Jacobi must be at least -1"),
        (lambda: Jacobi(-1, -1), "a and b of Jacobi cannot both be -1"),
        (lambda: Powers(np.nan), "shift of Powers must be finite"),
        (lambda: Powers((0.0, "x")), "Each shift of Powers must be one number, not 'x'"),
        (lambda: Powers(()), "at least one shift"),
        (lambda: Recurrence((1.0,), (0.0,), ()), "one entry per step each, not 1, 1 and 0"),
        (lambda: Recurrence(((1.0,),), (0.0,), (0.0,)), "a of Recurrence must be one flat list"),
        (lambda: Recurrence((1.0,), (0.0,), (0.0,)).evaluate(S, 2), "has 1 steps, so its order cannot be 2"),
        (lambda: Powers().evaluate(S, -1), "order must be at least 0"),
        (lambda: evaluate_polynomial([], Powers(), S), "coefficients must be"),
        (lambda: evaluate_polynomial(np.ones((2, 3)), Powers((1, 2, 3)), S), "2 groups but the basis has 3"),
    ],
)
def test_errors_are_sentences(call, sentence):
    with pytest.raises(PcnetError, match=sentence):
        call()
