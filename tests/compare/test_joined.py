"""The interval of a difference of two scores that have intervals about nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pcnet.compare import Summary, joined_interval, wilson


def scored(share: float, count: int, runs: tuple[float, ...]) -> Summary:
    """A share with Wilson's interval for so many nodes."""
    return Summary(share, wilson(share, count), 0.0, runs)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((56, 70), (48, 80), (0.0524, 0.3339)), ((9, 10), (3, 10), (0.1705, 0.8090)), ((10, 10), (0, 10), (0.6075, 1.0))],
)
def test_newcombe(first, second, expected):
    """Table II of Newcombe (1998), method 10: where all runs differ alike, nothing is added."""
    one, other = (
        scored(hits / count, count, runs) for (hits, count), runs in ((first, (0.5, 0.5)), (second, (0.4, 0.4)))
    )
    assert joined_interval(one, other) == pytest.approx(expected, abs=1e-4)


@given(st.integers(0, 1000), st.integers(2, 20), st.floats(0.5, 0.999))
def test_runs_add_to_it(seed, runs, level):
    """Variances of independent errors add up; where the nodes' intervals have no width, it is Student's t."""
    first, second = np.random.default_rng(seed).normal(80, 2, (2, runs))
    exact = [Summary(mean, (mean, mean), 0.0, tuple(each)) for mean, each in ((85.0, first), (83.0, second))]
    t = scipy.stats.t.interval(level, runs - 1, loc=2.0, scale=scipy.stats.sem(first - second))
    assert joined_interval(*exact, level) == pytest.approx(t)
    wide = [Summary(85.0, (83.0, 87.0), 0.0, tuple(first)), Summary(83.0, (80.0, 86.0), 0.0, tuple(second))]
    low, high = joined_interval(*wide, level)
    z = scipy.stats.norm.ppf((1 + level) / 2) / 1.96
    half = np.sqrt(z**2 * (4 + 9) + (t[1] - 2.0) ** 2)
    assert (low, high) == pytest.approx((2 - half, 2 + half))
    # No part of the nodes' intervals counts.
    assert joined_interval(*wide, level, width=0.0) == pytest.approx(t)


def test_of_equal_methods_few_are_called_worse():
    """Simulated: six methods that are equally good on all nodes, three splits of 500 of them, as compare meets them."""
    random, called = np.random.default_rng(0), 0
    for _ in range(300):
        logits = random.normal(1, 2, (500, 1)) + random.normal(0, 1.5, (500, 6))
        order = random.permutation(500).reshape(5, 100)[:3]
        runs = np.array(
            [(logits[part] + random.normal(0, 0.45, 6) > random.normal(0, 1, (100, 6))).mean(0) for part in order]
        )
        found = [scored(runs[:, m].mean(), 300, tuple(runs[:, m])) for m in range(6)]
        best = max(found, key=lambda each: each.mean)
        called += any(joined_interval(best, each, 1 - 0.05 / 5)[0] > 0 for each in found if each is not best)
    assert called <= 0.05 * 300
