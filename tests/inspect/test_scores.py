"""Intervals of scores and of differences, against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from probes import tried
from sklearn.metrics import roc_auc_score

from pcnet.compare import METRICS
from pcnet.inspect import Attempt, _probe
from pcnet.inspect._probe import difference, gain, redrawn


def answers(truth: np.ndarray, right: np.ndarray) -> torch.Tensor:
    """Logits that name the class where `right`, and the other one elsewhere."""
    named = torch.from_numpy(np.where(right, truth, 1 - truth))
    return torch.nn.functional.one_hot(named, 2).double()


def test_redrawn_accuracy_spreads_as_a_binomial_share():
    random = np.random.default_rng(0)
    truth, right = random.integers(0, 2, size=400), random.random(400) < 0.8
    found = redrawn(METRICS["accuracy"], answers(truth, right), torch.from_numpy(truth), 0)
    share = right.mean()
    assert found.mean() == pytest.approx(100 * share, abs=0.3)
    assert found.std() == pytest.approx(100 * np.sqrt(share * (1 - share) / 400), rel=0.1)


@pytest.mark.parametrize("at_once", [2**22, 1000])
def test_redrawn_scores_are_those_of_the_drawn_nodes(at_once, monkeypatch):
    """The same nodes for the same seed, however many are drawn at a time: scikit-learn scores them alike."""
    monkeypatch.setattr(_probe, "AT_ONCE", at_once)
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, size=50)
    logits = torch.from_numpy(random.standard_normal((50, 2)))
    found = redrawn(METRICS["roc_auc"], logits, torch.from_numpy(truth), 7)
    same = np.random.default_rng(7)
    margin = (logits[:, 1] - logits[:, 0]).numpy()
    for value in found[:20]:
        picks = same.integers(0, 50, size=(1, 50))[0]
        assert value == pytest.approx(100 * roc_auc_score(truth[picks], margin[picks]))


def test_intervals_of_equally_good_answers_hold_zero():
    """Two models that are right on 70 % of the nodes each, by chance: the interval is wrong about that in few cases."""
    random = np.random.default_rng(0)
    misses = 0
    for _ in range(100):
        both = []
        for _ in range(2):
            parts = []
            for split in range(5):
                truth = np.random.default_rng(split).integers(0, 2, size=40)
                logits = answers(truth, random.random(40) < 0.7)
                parts.append((METRICS["accuracy"].score(logits, torch.from_numpy(truth)), logits, truth, split))
            draws = [
                redrawn(METRICS["accuracy"], own, torch.from_numpy(truth), split) for _, own, truth, split in parts
            ]
            both.append(Attempt("both", "", np.array([score for score, *_ in parts]), np.stack(draws)))
        found = difference(*both)
        misses += not found.low <= 0 <= found.high
    assert misses <= 5


def test_the_best_of_many_guesses_is_no_gain():
    """Eight that are right on half of the nodes, the best of which is picked: the interval knows that it was."""
    random = np.random.default_rng(0)
    misses = 0
    for _ in range(60):
        many = []
        for _ in range(8):
            parts = []
            for split in range(2):
                truth = np.random.default_rng(split).integers(0, 2, size=60)
                logits = answers(truth, random.random(60) < 0.5)
                parts.append((METRICS["accuracy"].score(logits, torch.from_numpy(truth)), logits, truth, split))
            draws = [
                redrawn(METRICS["accuracy"], own, torch.from_numpy(truth), split) for _, own, truth, split in parts
            ]
            many.append(Attempt("both", "", np.array([score for score, *_ in parts]), np.stack(draws)))
        many.sort(key=lambda each: -each.score.mean)
        half = Attempt("guess", "", np.full(2, 50.0), np.full(many[0].draws.shape, 50.0))
        misses += gain(many, [half]).by.low > 0
        assert gain(many, [half]).by.low <= gain(many[:1], [half]).by.low
    assert misses <= 3


def test_of_one_and_one_a_gain_is_their_difference():
    one, other = tried("both", 80, 2.0), tried("graph", 70, 2.0)
    direct, picked = difference(one, other), gain([one], [other]).by
    assert picked.mean == direct.mean == 10
    assert (picked.low, picked.high) == (pytest.approx(direct.low, abs=0.3), pytest.approx(direct.high, abs=0.3))
    assert gain([other], [one], sign=-1).by.mean == 10


def test_only_splits_that_both_had_count():
    long, short = tried("both", 80, splits=5), tried("both", 70, splits=2)
    long.per_run[2:] = 0
    assert difference(long, short).mean == pytest.approx(10)
    assert difference(short, long, sign=-1).mean == pytest.approx(10)


def test_joined_scores_are_those_of_all_splits():
    first, more = tried("graph", 80, splits=2, name="gcn"), tried("graph", 70, splits=3, name="gcn")
    joined = first.joined(more)
    assert joined.per_run.tolist() == [80, 80, 70, 70, 70]
    assert joined.as_dict()["mean"] == 74
    assert (joined.splits, joined.method, joined.way) == (5, "gcn", "graph")


def test_draws_on_which_a_metric_is_undefined_do_not_count():
    """One positive node of twenty: a third of the draws have none, and no ROC-AUC."""
    truth = torch.zeros(20, dtype=torch.int64)
    truth[0] = 1
    logits = torch.zeros(20, 2)
    logits[0, 1] = 1.0
    draws = redrawn(METRICS["roc_auc"], logits, truth, 0)
    assert 0.2 < np.isnan(draws).mean() < 0.5
    score = Attempt("both", "", np.array([100.0]), draws[None]).score
    assert (score.low, score.high) == (100.0, 100.0)
