"""All methods against all others: ranks, pairs and groups, a test for overlapping splits, and the picture of it."""

from __future__ import annotations

import itertools
import struct

import matplotlib.image
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import LEVEL, CriticalDifference, critical_difference, holm, resampled_half_width
from pcnet.show import plot_critical_difference

SPLITS = np.linspace(70, 90, 12)
WORSE = {"a": SPLITS, "b": SPLITS - np.arange(1, 13), "c": SPLITS - 10 - np.arange(1, 13)}


def drawn(seed: int, methods: int, runs: int) -> dict[str, np.ndarray]:
    """Some methods better than others, by steps that tie now and then."""
    random = np.random.default_rng(seed)
    return {f"m{i}": np.round(random.normal(80 - i, 1.5, runs), 1) for i in range(methods)}


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(1, 14))
def test_ranks_and_pairs_against_scipy(seed, methods, runs):
    table = drawn(seed, methods, runs)
    compared = critical_difference(table)
    ranks = scipy.stats.rankdata(-np.array(list(table.values())), axis=0).mean(axis=1)
    assert compared.ranks == pytest.approx(dict(zip(table, ranks, strict=True)))
    assert list(compared.ranks.values()) == sorted(compared.ranks.values())
    assert [(pair.first, pair.second) for pair in compared.pairs] == list(itertools.combinations(compared.ranks, 2))
    for pair in compared.pairs:
        difference = np.round(table[pair.first] - table[pair.second], 9)
        assert pair.difference == pytest.approx(difference.mean())
        # SciPy is exact where nothing ties and nothing is zero.
        if len(np.unique(np.abs(difference))) == runs and (difference != 0).all():
            assert pair.p == pytest.approx(scipy.stats.wilcoxon(difference, method="exact").pvalue)
    assert tuple(pair.corrected for pair in compared.pairs) == holm([pair.p for pair in compared.pairs])


@given(st.integers(0, 1000), st.integers(1, 7), st.sampled_from([3, 8, 14]))
def test_groups_are_all_largest_sets_without_a_different_pair(seed, methods, runs):
    """By enumeration of all sets."""
    compared = critical_difference(drawn(seed, methods, runs))
    apart = {frozenset((pair.first, pair.second)) for pair in compared.pairs if pair.corrected <= LEVEL}
    order = list(compared.ranks)
    sets = [set(each) for size in range(2, methods + 1) for each in itertools.combinations(order, size)]
    alike = [each for each in sets if not any(pair <= each for pair in apart)]
    largest = [each for each in alike if not any(each < other for other in alike)]
    assert sorted(map(sorted, compared.groups)) == sorted(map(sorted, largest))
    for group in compared.groups:
        assert list(group) == sorted(group, key=order.index)


def test_by_hand():
    compared = critical_difference(WORSE)
    assert compared.ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert [pair.difference for pair in compared.pairs] == pytest.approx([6.5, 16.5, 10.0])
    assert [pair.p for pair in compared.pairs] == [2 / 2**12] * 3
    assert [pair.corrected for pair in compared.pairs] == pytest.approx([6 / 2**12] * 3)
    assert compared.groups == ()


def test_alike_without_being_neighbours():
    """The noisy one is second in rank and alike to the third, which is unlike the first."""
    noise = np.array([9.0, 8, 7, 6, 5, 4, 3, -9, -8, -7, -6, -5, -4, 2])
    near, far = np.linspace(0.1, 0.2, 14), np.linspace(0.5, 0.9, 14)
    compared = critical_difference({"best": np.full(14, 80.0), "noisy": 80 + noise, "near": 80 - near, "far": 80 - far})
    assert {frozenset(group) for group in compared.groups} == {
        frozenset({"best", "noisy"}),
        frozenset({"noisy", "near"}),
        frozenset({"noisy", "far"}),
    }
    assert list(compared.ranks) == ["best", "noisy", "near", "far"]


@pytest.mark.parametrize(("methods", "runs", "least"), [(2, 5, 0.0625), (7, 10, 42 / 1024), (8, 10, 56 / 1024)])
def test_the_lowest_p_that_can_be(methods, runs, least):
    """Every method worse than the one before on every split."""
    compared = critical_difference({f"m{i}": np.arange(runs) - 10.0 * i for i in range(methods)})
    assert compared.least == pytest.approx(least)
    assert min(pair.corrected for pair in compared.pairs) == pytest.approx(least)
    assert (compared.groups == ()) == (least <= LEVEL)


def test_equal_and_alone():
    compared = critical_difference({"a": [80.0] * 10, "b": [80.0] * 10, "c": [80.0 + 1e-12] * 10})
    assert compared.ranks == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert compared.groups == (("a", "b", "c"),)
    assert critical_difference({"only": [80.0]}) == CriticalDifference(1, {"only": 1.0}, (), ())


@pytest.mark.parametrize("table", [{}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": [1.0], "b": [float("nan")]}])
def test_refused(table):
    with pytest.raises(PcnetError):
        critical_difference(table)


@given(st.integers(0, 1000), st.integers(2, 30), st.floats(0.01, 40), st.floats(0.5, 0.999))
def test_the_interval_is_students_with_a_larger_variance(seed, runs, ratio, level):
    first, second = np.round(np.random.default_rng(seed).normal(80, 2, (2, runs)), 2)
    scale = np.sqrt((1 / runs + ratio) * np.var(first - second, ddof=1))
    _, high = scipy.stats.t.interval(level, runs - 1, scale=scale)
    half = resampled_half_width(first, second, ratio, level)
    assert half == pytest.approx(high, rel=1e-6)
    assert half == pytest.approx(resampled_half_width(second, first, ratio, level))
    # Independent runs would be surer.
    independent = scipy.stats.ttest_rel(first, second).confidence_interval(level)
    assert 2 * half >= (independent.high - independent.low) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("first", "second", "ratio"), [([1.0], [2.0], 0.3), ([1.0, 2.0], [1.0], 0.3), ([1.0, 2.0], [2.0, 1.0], 0.0)]
)
def test_the_interval_is_refused(first, second, ratio):
    with pytest.raises(PcnetError):
        resampled_half_width(first, second, ratio)


@pytest.mark.parametrize("methods", [1, 2, 5, 12])
def test_picture(methods, tmp_path):
    names = {f"m{i}": "a long name " * (i % 4) + f"H₂GCN $x_{i}$" for i in range(methods)}
    paths = [tmp_path / "new" / f"picture.{kind}" for kind in ("svg", "png")]
    plot_critical_difference(critical_difference(drawn(0, methods, 14)), paths, names=names, title="words " * 30)
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["picture.png", "picture.svg"]
    assert b"<svg" in paths[0].read_bytes()[:1000]
    width, height = struct.unpack(">II", paths[1].read_bytes()[16:24])
    assert 700 < width < 2500
    assert 200 < height < 900
    ink = (matplotlib.image.imread(paths[1])[..., :3] < 0.9).any(axis=2)
    # Nothing is cut off: the border is empty.
    ink[5:-5, 5:-5] = False
    assert not ink.any()


def test_same_comparison_same_picture(tmp_path):
    for name in ("a.svg", "b.svg"):
        plot_critical_difference(critical_difference(WORSE), [tmp_path / name])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
