"""Means, their intervals and the spread between runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import summarise

RUNS = st.lists(st.floats(0, 100), min_size=1, max_size=20)


@given(RUNS)
def test_mean_std_and_order(runs):
    summary = summarise(runs)
    low, high = summary.ci95
    assert summary.mean == pytest.approx(np.mean(runs))
    assert summary.std == pytest.approx(np.std(runs, ddof=1) if len(runs) > 1 else 0.0)
    slack = 1e-9
    assert min(runs) - slack <= low <= high <= max(runs) + slack
    assert summary.half_width == pytest.approx(max(summary.mean - low, high - summary.mean))
    assert summary.per_run == tuple(runs)
    assert summary.as_dict() == {
        "mean": summary.mean,
        "ci95": [low, high],
        "std": summary.std,
        "per_run": list(runs),
    }


@given(RUNS)
def test_same_numbers_twice(runs):
    assert summarise(runs) == summarise(runs)
    assert summarise(runs, seed=0) == summarise(runs)


def test_another_seed_resamples_anew():
    runs = np.random.default_rng(0).normal(80, 2, 10)
    assert summarise(runs, seed=1).ci95 != summarise(runs, seed=2).ci95


@given(RUNS, st.floats(-5, 5), st.floats(0.1, 10))
def test_shift_and_scale(runs, shift, scale):
    moved = summarise([shift + scale * run for run in runs])
    summary = summarise(runs)
    for here, there in zip((summary.mean, *summary.ci95), (moved.mean, *moved.ci95), strict=True):
        assert there == pytest.approx(shift + scale * here, abs=1e-6)
    assert moved.std == pytest.approx(scale * summary.std, abs=1e-6)


@pytest.mark.parametrize("n", [5, 10, 30])
def test_against_scipy(n):
    runs = np.random.default_rng(n).normal(80, 2, n)
    low, high = summarise(runs, resamples=20_000).ci95
    theirs = scipy.stats.bootstrap(
        (runs,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low == pytest.approx(theirs.low, abs=0.03 * width)
    assert high == pytest.approx(theirs.high, abs=0.03 * width)


def test_the_interval_covers_the_mean_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    inside = 0
    for trial in range(400):
        low, high = summarise(random.normal(50, 3, 30), resamples=400, seed=trial).ci95
        inside += low <= 50 <= high
    # A percentile interval of 30 runs is a little short: 93 to 94 %.
    assert 0.89 <= inside / 400 <= 0.97


def test_refused():
    with pytest.raises(PcnetError, match="at least one value"):
        summarise([])
    with pytest.raises(PcnetError, match="no finite number"):
        summarise([80.0, float("nan")])
