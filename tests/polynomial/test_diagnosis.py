"""What K, N and t can express: the paper's theory with its errata, as facts."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from pcnet import errors
from pcnet.errors import PcnetError, PcnetWarning, warn_once
from pcnet.polynomial import (
    Identifiability,
    charlier_matrix,
    filter_warnings,
    identifiability,
    truncation_error,
)


def taylor_of_exp(K: int, x: float) -> float:
    return sum(x**j / math.factorial(j) for j in range(K + 1))


def exact_matrix(K: int, N: int, t: Fraction, identity: bool) -> list[list[Fraction]]:
    """[e_0 | C_n(k,t)/n!] in rationals, by the three-term recurrence."""
    columns = [[Fraction(int(n == 0)) for n in range(N + 1)]] if identity else []
    for k in range(1, K + 1):
        c = [Fraction(1), k - t]
        for n in range(2, N + 1):
            c.append(((k - n - t + 1) * c[-1] - t * c[-2]) / n)
        columns.append(c[: N + 1])
    return [list(row) for row in zip(*columns, strict=True)]


def exact_rank_and_determinant(rows: list[list[Fraction]]) -> tuple[int, Fraction]:
    """By Gaussian elimination; the determinant means something for a square matrix only."""
    rank, determinant = 0, Fraction(1)
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            determinant = Fraction(0)
            continue
        if pivot != rank:
            rows[rank], rows[pivot], determinant = rows[pivot], rows[rank], -determinant
        determinant *= rows[rank][column]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank, determinant


@given(st.integers(1, 7), st.fractions(-3, 6, max_denominator=12))
def test_determinant_is_a_truncated_exponential(K, t):
    """det [e_0 | C_n(k,t)/n!] = Σ_{j≤K} (−t)^j/j! for K = N: the true excluded set of Theorem 2."""
    _, determinant = exact_rank_and_determinant(exact_matrix(K, K, t, identity=True))
    assert determinant == sum(((-t) ** j / math.factorial(j) for j in range(K + 1)), start=Fraction(0))


@given(st.integers(1, 6), st.integers(0, 9), st.fractions(0, 4, max_denominator=8), st.booleans())
def test_rank_law(K, N, t, identity):
    """Exact rank, the law in the docstring, and the computed rank agree."""
    exact, _ = exact_rank_and_determinant(exact_matrix(K, N, t, identity))
    parameters = K + identity
    if not identity:
        law = N >= K - 1
    elif N == K:
        law = sum(((-t) ** j / math.factorial(j) for j in range(K + 1)), start=Fraction(0)) != 0
    else:
        law = N > K
    found = identifiability(K, N, float(t), identity)
    assert (exact == parameters) == law
    assert (found.rank, found.parameters, found.identifiable) == (exact, parameters, law)


@pytest.mark.parametrize(("t", "condition"), [(1.0, 46.05), (2.0, 26.78)])
def test_integer_t_is_regular(t, condition):
    """The paper excludes t ∈ {1, …, K}; nothing happens there."""
    found = identifiability(4, 4, t)
    assert found.identifiable
    assert found.condition == pytest.approx(condition, abs=0.01)


@pytest.mark.parametrize(("K", "expected"), [(1, 1.0), (3, 1.596), (5, 2.181)])
def test_odd_square_families_are_singular_at_one_t(K, expected):
    root = scipy.optimize.brentq(lambda t: taylor_of_exp(K, -t), 0.1, 6, xtol=1e-15)
    assert root == pytest.approx(expected, abs=1e-3)
    assert np.linalg.det(charlier_matrix(K, K, root)) == pytest.approx(0, abs=1e-12)
    assert identifiability(K, K, root) == Identifiability(rank=K, parameters=K + 1, condition=math.inf)
    assert identifiability(K, K, root + 0.1).identifiable
    assert identifiability(K, K + 1, root).identifiable
    assert identifiability(K, K - 1, root, identity=False).identifiable


def test_order_n_polynomials_need_k_equal_to_n():
    """For K < N the rank K + 1 is below the N + 1 dimensions of order-N polynomials (Corollary 2)."""
    for K in range(1, 6):
        for N in range(K + 1, 9):
            assert identifiability(K, N, 0.7).rank == K + 1 < N + 1
    monomial = np.eye(7)[6]
    B = charlier_matrix(3, 6, 0.7)
    assert np.linalg.norm(B @ np.linalg.lstsq(B, monomial, rcond=None)[0] - monomial) > 0.5


def test_condition_grows_to_a_hundred_thousand():
    conditions = [identifiability(K, K, 1.0).condition for K in (4, 6, 8, 10)]
    assert conditions == sorted(conditions)
    assert conditions[-1] == pytest.approx(1e5, rel=0.1)


# (table, dataset): K, n_poly, t, rank as published; N = n_poly − 1.
PUBLISHED = {
    ("1", "Cora"): (6, 10, 0.0, 7),
    ("1", "Citeseer"): (4, 10, 0.2, 5),
    ("1", "Actor"): (6, 4, 1.5, 4),
    ("1", "Texas"): (6, 6, 1.1, 6),
    ("2", "Cora"): (5, 4, 0.9, 4),
    ("2", "Citeseer"): (4, 5, 0.4, 5),
    ("2", "Pubmed"): (4, 4, 1.0, 4),
    ("2", "Texas"): (4, 10, 0.1, 5),
    ("3", "Citeseer"): (6, 6, 1.2, 6),
    ("3", "Actor"): (6, 6, 0.0, 6),
    ("3", "Cornell"): (4, 4, 3.7, 4),
    ("3", "Wisconsin"): (5, 4, 1.6, 4),
    ("3", "Penn94"): (6, 4, 2.0, 4),
}


@pytest.mark.parametrize("setting", PUBLISHED.values(), ids=map("-".join, PUBLISHED))
def test_published_settings(setting):
    """min(K+1, N+1) everywhere: seven entries of θ share four dimensions in the widest case."""
    K, n_poly, t, rank = setting
    found = identifiability(K, n_poly - 1, t)
    assert found.rank == rank == min(K + 1, n_poly)
    assert found.identifiable == (n_poly > K)
    assert math.isinf(found.condition) == (n_poly <= K)


def test_truncation_error():
    assert truncation_error(6, 3, 1.7, (0.1, 2.1)).min() > 0.5
    errors = np.stack([truncation_error(4, N, 1.0, (0, 2.2)) for N in (3, 8, 16, 40)])
    assert errors.shape == (4, 4)
    assert (np.diff(errors, axis=0) < 0).all()
    assert (errors[-1] < 1e-12).all()
    # By hand: k = 1, N = 1, t = 0 has no error; with t = 1 the truncated filter is the constant 1.
    assert truncation_error(1, 1, 0.0, (0, 2)) == pytest.approx(0, abs=1e-15)
    assert truncation_error(1, 1, 1.0, (0, 2)) == pytest.approx((1 + math.e**2) / math.e**2)


GOOD = {"K": 4, "N": 8, "t": 0.5, "p": 2.3}


def test_good_settings_are_silent():
    assert filter_warnings(**GOOD) == []
    assert filter_warnings(**GOOD, mode="limit") == []
    assert filter_warnings(**GOOD | {"p": 2.0}) == []


def test_coefficients_that_overflow_are_refused():
    with pytest.raises(PcnetError, match="overflow for K = 4, N = 9, t = 1e\\+308; take a smaller t"):
        filter_warnings(4, 9, 1e308, 2.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"N": 3}, ["5 entries span only 4 dimensions at K = 4, N = 3, t = 0.5", "truncated far"]),
        ({"N": 3, "mode": "limit"}, []),
        ({"N": 3, "identity": False}, ["truncated far from its limit: at K = 4, N = 3, t = 0.5, p = 2.3"]),
        ({"N": 2, "identity": False}, ["4 entries span only 3 dimensions", "truncated far"]),
        ({"t": 0.0}, ["no heat kernel"]),
        ({"t": 0.0, "mode": "limit"}, ["no heat kernel"]),
        ({"p": 1.9}, ["p = 1.9 (b = p − 1 = 0.9) is below 2"]),
        ({"K": 30, "N": 60, "t": 20.0, "p": 2.0}, ["truncated far", "reach 2e+17"]),
        ({"K": 1, "N": 9, "t": 1e6}, ["not identifiable", "more than single precision holds"]),
        ({"N": 3, "t": 0.0, "p": 1.0}, ["not identifiable", "no heat kernel", "below 2"]),
        ({"N": 5, "t": 30.0}, ["truncated far", "reach"]),
    ],
)
def test_warnings_in_words(change, words):
    sentences = filter_warnings(**GOOD | change)
    assert len(sentences) == len(words)
    for sentence, part in zip(sentences, words, strict=True):
        assert part in sentence
        assert "Take" in sentence


@given(st.integers(1, 6), st.integers(0, 12), st.floats(0, 2), st.floats(2, 4))
def test_a_filter_that_is_as_far_from_its_limit_as_zero_is_named(K, N, t, p):
    """With the error in one digit, and an N that ends it."""
    error = truncation_error(K, N, t, (p - 2, p)).max()
    said = [sentence for sentence in filter_warnings(K, N, t, p) if "truncated far" in sentence]
    assert len(said) == (error > 0.9)
    for sentence in said:
        assert f"by up to {error:.1f} times" in sentence
        better = int(sentence.partition("Take N = ")[2].partition(",")[0])
        assert truncation_error(K, better, t, (p - 2, p)).max() <= 0.1
        assert not [each for each in filter_warnings(K, better, t, p) if "truncated far" in each]


def test_each_sentence_is_said_once(monkeypatch):
    monkeypatch.setattr(errors, "_already_said", set())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_once(["One.", "Two.", "One."])
        warn_once(["Two.", "Three."])
    assert [str(warning.message) for warning in heard] == ["One.", "Two.", "Three."]
    assert {warning.category for warning in heard} == {PcnetWarning}
    with pytest.warns(PcnetWarning, match="Four") as here:
        (lambda: warn_once(["Four."]))()
    assert here[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: identifiability(0, 3, 1.0, identity=False), "K must be at least 1"),
        (lambda: identifiability(2, -3, 1.0), "N must be at least 0"),
        (lambda: truncation_error(2, 3, 1.0, (1, 1)), r"interval must have its low end below.*\(1, 1\)"),
        (lambda: filter_warnings(2, 3, np.nan, 2.0), "t must be finite"),
        (lambda: filter_warnings(2, 3, 1.0, np.inf), "p must be finite"),
        (lambda: filter_warnings(2, 3, 1.0, 2.0, mode="exact"), "mode cannot be 'exact'; choose from truncated, limit"),
    ],
)
def test_errors_are_sentences(call, sentence):
    with pytest.raises(PcnetError, match=sentence):
        call()
