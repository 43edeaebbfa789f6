"""What is said about a filter follows from its gains over thirds of the graph's eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.show import describe_response

LAM = np.linspace(0, 2, 301)
EVEN = np.ones_like(LAM)

SHAPES = {
    "identity": EVEN,
    "smooth": np.exp(-2 * LAM),
    "rough": LAM,
    "middle": np.exp(-8 * (LAM - 1) ** 2),
    "ends": np.abs(LAM - 1),
    "nothing": 0 * LAM,
}
WORDS = {
    "identity": "almost the identity",
    "smooth": "keeps the smooth part",
    "rough": "sharpens differences",
    "middle": "is a band",
    "ends": "keeps both ends",
    "nothing": "passes nothing",
}


@pytest.mark.parametrize("kind", SHAPES)
def test_every_kind_has_its_shape_and_its_words(kind):
    found = describe_response(LAM, SHAPES[kind], EVEN)
    assert found.kind == kind
    assert WORDS[kind] in found.sentence


@pytest.mark.parametrize("kind", SHAPES)
@given(factor=st.floats(0.01, 100), negative=st.booleans(), seed=st.integers(0, 99))
def test_factors_signs_and_the_order_of_points_do_not_matter(kind, factor, negative, seed):
    order = np.random.default_rng(seed).permutation(len(LAM))
    scaled = SHAPES[kind] * (-factor if negative else factor)
    found = describe_response(LAM[order], scaled[order], EVEN[order])
    assert found.kind == kind
    np.testing.assert_allclose(found.gains, describe_response(LAM, SHAPES[kind], EVEN).gains, atol=1e-9)


def test_gains_are_means_over_thirds_of_the_eigenvalues():
    """g = λ with density ∝ λ on [0, 2]: thirds end where λ² = 4/3 and 8/3, and the mean of λ is ∫λ² / ∫λ there."""
    lam = np.linspace(0, 2, 20001)
    ends = np.sqrt([0, 4 / 3, 8 / 3, 4])
    means = np.diff(ends**3) / 3 / (np.diff(ends**2) / 2)
    np.testing.assert_allclose(describe_response(lam, lam, lam).gains, means / means[-1], atol=1e-3)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3).filter(lambda g: max(map(abs, g)) > 1e-3))
def test_three_frequencies_are_their_own_thirds(gains):
    lam = np.array([0.0, 1.0, 2.0])
    found = describe_response(lam, np.array(gains), np.ones(3))
    largest = max(gains, key=abs)
    np.testing.assert_allclose(found.gains, np.array(gains) / largest, atol=1e-12)


def test_where_no_eigenvalue_is_the_response_does_not_count():
    response = np.where(LAM > 1.5, 50.0, np.exp(-2 * LAM))
    density = np.where(LAM > 1.45, 0.0, 1.0)
    assert describe_response(LAM, response, density).kind == "smooth"


def test_negative_and_small_gains_are_put_into_words():
    assert "turns the sign round" in describe_response(LAM, 1 - LAM, EVEN).sentence
    assert describe_response(LAM, 1.5 + 0.3 * LAM, EVEN).sentence.startswith("To some degree it sharpens")


def test_no_eigenvalues_are_refused():
    with pytest.raises(PcnetError, match="zero everywhere"):
        describe_response(LAM, EVEN, 0 * LAM)
