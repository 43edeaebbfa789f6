"""Methods on the same splits: signed ranks, Holm's correction, and who can be told from the best."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import holm, signed_rank, winners

#: Few different steps: zeros and ties are the rule, as on small test sets.
STEPS = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
CHANCES = st.lists(st.floats(0, 1), min_size=0, max_size=12)


def by_enumeration(differences: list[int]) -> float:
    """The share of all 2ⁿ signs under which the smaller sum of ranks is no larger than it is."""
    left = [each for each in differences if each != 0]
    if not left:
        return 1.0
    ranks = scipy.stats.rankdata(np.abs(left))
    observed = np.sum(ranks * np.sign(left))
    sums = np.array(list(itertools.product([-1, 1], repeat=len(left)))) @ ranks
    return float(np.mean(np.abs(sums) >= abs(observed)))


@given(STEPS)
def test_exact_with_zeros_and_ties(differences):
    assert signed_rank(differences, np.zeros(len(differences))) == pytest.approx(by_enumeration(differences))


@given(st.integers(0, 10_000), st.integers(1, 25))
def test_against_scipy_where_it_is_exact(seed, n):
    first, second = np.random.default_rng(seed).normal(size=(2, n))
    assert signed_rank(first, second) == pytest.approx(scipy.stats.wilcoxon(first, second, method="exact").pvalue)


@given(STEPS, st.integers(0, 61))
def test_equal_steps_of_accuracy_tie(steps, base):
    """k of 61 right is 100 k / 61 percent: equal steps are not equal floats, and must be."""
    first = [100.0 * float(np.float64(base + place + step) / 61) for place, step in enumerate(steps)]
    second = [100.0 * float(np.float64(base + place) / 61) for place in range(len(steps))]
    assert signed_rank(first, second) == pytest.approx(by_enumeration(steps))


@pytest.mark.parametrize(("n", "least"), [(5, 0.0625), (10, 2 / 1024)])
def test_the_smallest_p(n, least):
    assert signed_rank(np.arange(n) + 1.0, np.zeros(n)) == least
    assert signed_rank(np.full(n, 80.0), np.full(n, 81.0)) == least


def test_no_difference_is_no_evidence():
    assert signed_rank([80.0, 81.0], [80.0, 81.0]) == 1.0


@given(CHANCES)
def test_holm_is_closed_testing(p):
    """Holm by its origin: a hypothesis falls when Bonferroni rejects every family of hypotheses that holds it."""
    p = p[:8]
    places = range(len(p))
    families = [family for size in places for family in itertools.combinations(places, size + 1)]
    bonferroni = {family: min(1.0, len(family) * min(p[i] for i in family)) for family in families}
    expected = [max(bonferroni[family] for family in families if i in family) for i in places]
    assert holm(p) == pytest.approx(expected)


@given(CHANCES, st.randoms(use_true_random=False))
def test_holm_keeps_order_and_never_lowers(p, random):
    corrected = holm(p)
    assert all(raw <= after <= 1 for raw, after in zip(p, corrected, strict=True))
    pairs = sorted(zip(p, corrected, strict=True))
    assert all(earlier[1] <= later[1] for earlier, later in itertools.pairwise(pairs))
    # Neither the order of the hypotheses nor one more of them helps any.
    shuffled = random.sample(range(len(p)), len(p))
    assert holm([p[i] for i in shuffled]) == tuple(corrected[i] for i in shuffled)
    assert all(more >= less for more, less in zip(holm([*p, 0.5]), corrected, strict=False))


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == ()


def test_ten_runs_can_tell_fourteen_methods_apart():
    splits = np.linspace(70, 90, 10)
    best = splits + np.linspace(1, 2, 10)
    table = {"best": best, **{f"other {i}": splits - 0.1 * i for i in range(13)}}
    comparison = winners(table)
    assert (comparison.best, comparison.runs, comparison.note) == ("best", 10, "")
    assert comparison.winners == ("best",)
    assert {rival.p for rival in comparison.rivals} == {2 / 1024}
    assert [rival.corrected for rival in comparison.rivals] == pytest.approx([13 * 2 / 1024] * 13)
    assert [rival.method for rival in comparison.rivals] == [f"other {i}" for i in range(13)]
    assert [rival.difference for rival in comparison.rivals] == pytest.approx([1.5 + 0.1 * i for i in range(13)])


def test_what_picking_the_best_by_the_same_runs_costs():
    """Fourteen methods that are one: the share of cases in which some are told apart, 9 % as the docstring says."""
    random = np.random.default_rng(0)
    trials = [{str(i): runs for i, runs in enumerate(random.normal(size=(14, 10)))} for _ in range(400)]
    apart = sum(len(winners(trial).winners) < 14 for trial in trials) / 400
    assert 0.05 <= apart <= 0.13


def test_one_near_and_one_far():
    splits = np.array([80.0, 82, 79, 85, 81, 83, 80, 84, 82, 81])
    near = splits + np.array([1, -1, 1, -1, 1, -1, 1, -1, -1, -1])
    far = splits - np.arange(1, 11)
    comparison = winners({"far": far, "near": near, "best": splits})
    assert comparison.best == "best"
    assert comparison.winners == ("best", "near")
    rivals = {rival.method: rival for rival in comparison.rivals}
    assert rivals["far"].corrected == pytest.approx(2 * 2 / 1024)
    assert not rivals["far"].indistinguishable
    assert rivals["near"].p == pytest.approx(by_enumeration([1, 1, 1, 1, -1, -1, -1, -1, 1, 1]))
    assert rivals["near"].difference == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("runs", "others", "few"), [(5, 1, True), (6, 1, False), (6, 2, True), (10, 25, False), (10, 26, True)]
)
def test_too_few_runs_are_called_so(runs, others, few):
    """However clear the outcome: all others are worse on every split."""
    table = {f"method {i}": np.arange(runs) - 10.0 * i for i in range(others + 1)}
    comparison = winners(table)
    assert comparison.note.startswith("too few runs to tell") == few
    assert comparison.winners == (tuple(table) if few else ("method 0",))


def test_the_same_everywhere():
    comparison = winners({"a": [80.0] * 10, "b": [80.0] * 10})
    assert comparison.best == "a"
    assert comparison.winners == ("a", "b")
    assert comparison.rivals[0].p == comparison.rivals[0].corrected == 1.0


def test_alone():
    comparison = winners({"only": [80.0, 81.0]})
    assert (comparison.winners, comparison.rivals, comparison.note) == (("only",), (), "")


@pytest.mark.parametrize(
    "table", [{}, {"a": []}, {"a": [1.0, 2.0], "b": [1.0]}, {"a": [[1.0]], "b": [[2.0]]}, {"a": [1.0], "b": [[1.0]]}]
)
def test_pairs_are_pairs(table):
    with pytest.raises(PcnetError, match="the same number of runs"):
        winners(table)


def test_scores_are_numbers():
    with pytest.raises(PcnetError, match="The runs of b must be finite"):
        winners({"a": [1.0], "b": [float("nan")]})
    with pytest.raises(PcnetError, match="the same number of runs"):
        signed_rank([1.0, 2.0], [1.0])


@pytest.mark.parametrize("p", [[-0.1], [1.1], [[0.5]]])
def test_chances_are_chances(p):
    with pytest.raises(PcnetError, match="between 0 and 1"):
        holm(p)
