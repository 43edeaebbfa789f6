"""One word for how a figure compares with the published one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import Summary, half_width_of, summarise, verdict

PERCENT = st.floats(0, 100)
HALF = st.floats(0, 20)


def ours(mean: float, half: float) -> Summary:
    return Summary(mean, (mean - half, mean + half), half, (mean,))


@pytest.mark.parametrize(
    ("mean", "half", "paper", "paper_half", "word"),
    [
        # Within 1.5 points however narrow the intervals are.
        (88.50, 0.0, 90.00, 0.0, "reproduced"),
        (88.49, 0.0, 90.00, 0.0, "below"),
        (91.51, 0.0, 90.00, 0.0, "above"),
        # Within the interval of the difference, √(3² + 4²) = 5, though the means differ by more than 1.5.
        (85.0, 3.0, 90.0, 4.0, "reproduced"),
        (84.9, 3.0, 90.0, 4.0, "below"),
        (95.1, 4.0, 90.0, 3.0, "above"),
        # Intervals that touch are not enough.
        (84.0, 3.0, 90.0, 3.0, "below"),
        # Table 1 on Texas: five training nodes.
        (57.23, 10.06, 64.56, 1.84, "reproduced"),
    ],
)
def test_the_rule(mean, half, paper, paper_half, word):
    found = verdict(ours(mean, half), paper, paper_half)
    assert found.word == word
    assert found.difference == pytest.approx(mean - paper)
    assert found.allowed == pytest.approx(max(1.5, math.hypot(half, paper_half)))
    assert found.reason == ""


@given(PERCENT, HALF, PERCENT, HALF)
def test_there_and_back(mean, half, paper, paper_half):
    """Seen from the other side the difference turns round and the rule stays."""
    turned = {"reproduced": "reproduced", "above": "below", "below": "above"}
    here, there = verdict(ours(mean, half), paper, paper_half), verdict(ours(paper, paper_half), mean, half)
    assert there.word == turned[here.word]
    assert there.difference == -here.difference
    assert there.allowed == pytest.approx(here.allowed)


def test_a_skew_interval_counts_with_its_larger_half():
    skew = Summary(80.0, (79.0, 84.0), 2.0, (80.0,))
    assert verdict(skew, 84.0, 0.0).word == verdict(skew, 76.0, 0.0).word == "reproduced"
    assert verdict(skew, 75.9, 0.0).word == "above"


def test_a_reason_is_the_verdict():
    found = verdict(ours(90.0, 1.0), 90.0, 1.0, not_reproducible="The published layer computes another filter.")
    assert (found.word, found.reason) == ("not reproducible", "The published layer computes another filter.")
    assert (found.difference, found.allowed) == (0.0, 1.5)


def test_the_joint_interval_covers_as_often_as_it_says():
    """Two times thirty runs of one method are as far apart as allowed in about 95 of 100 cases."""
    random = np.random.default_rng(0)
    same = 0
    for _ in range(400):
        mine, theirs = (summarise(random.normal(50, 20, 30), resamples=200) for _ in range(2))
        same += verdict(mine, theirs.mean, theirs.half_width).word == "reproduced"
    assert 0.92 <= same / 400 <= 0.98


def test_half_width_of_a_deviation():
    assert half_width_of(2.0, 10) == pytest.approx(1.2396, abs=1e-4)
    runs = np.random.default_rng(1).normal(80, 3, 50)
    # A symmetric sample: the bootstrap's interval is about the normal one.
    assert half_width_of(runs.std(), 50) == pytest.approx(summarise(runs, resamples=20_000).half_width, rel=0.05)


@pytest.mark.parametrize(("mean", "half"), [(float("nan"), 1.0), (80.0, float("inf")), (80.0, -1.0)])
def test_figures_are_figures(mean, half):
    with pytest.raises(PcnetError, match="A published figure must be"):
        verdict(ours(80.0, 1.0), mean, half)


@pytest.mark.parametrize(
    ("std", "runs", "words"), [(-1.0, 10, "deviation"), (math.nan, 10, "deviation"), (1.0, 0, "runs")]
)
def test_deviations_are_deviations(std, runs, words):
    with pytest.raises(PcnetError, match=words):
        half_width_of(std, runs)
