"""The estimate of a training describes nodes whose labels nobody knew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics
import torch

from pcnet import Split, csbm, make_split
from pcnet.compare import METRICS, Summary, wilson
from pcnet.experiment import MEMBERS, Estimate, resolve, run_experiment
from pcnet.experiment._estimate import Pooled, estimates, gain_of_members
from pcnet.graph import Graph

QUICK = resolve(csbm(60, 0.5, features=3, seed=0), "gcn", overrides=["epochs=30", "hidden=8"], runs=5)


@pytest.fixture(scope="module")
def hidden() -> tuple[Graph, torch.Tensor]:
    """A graph with 150 of 400 labels hidden, and its true labels."""
    graph = csbm(400, 0.4, features=20, seed=1)
    known = torch.from_numpy(np.random.default_rng(0).permutation(400) < 250)
    return replace(graph, y=torch.where(known, graph.y, -1), classes=tuple("abcde")[: graph.num_classes]), graph.y


def test_each_labelled_node_is_tested_by_runs_that_did_not_know_it(hidden):
    graph, _ = hidden
    result = run_experiment(graph, QUICK)
    pooled = result.pooled
    assert torch.equal(pooled.nodes, (graph.y >= 0).nonzero().flatten())
    for node in pooled.nodes[::20].tolist():
        place = int((pooled.nodes == node).nonzero())
        (run,) = [number for number, split in enumerate(result.splits) if node in split.test]
        logits, heat = result.outcomes[run].logits[node].double(), pooled.temperatures[run]
        torch.testing.assert_close(pooled.probabilities[place], torch.softmax(logits / heat, 0))
    answers = pooled.probabilities.argmax(1)
    estimate = result.headline
    assert isinstance(estimate, Estimate)
    assert estimate.mean == pytest.approx(100 * sklearn.metrics.accuracy_score(pooled.labels, answers))
    assert (estimate.nodes, estimate.unlabelled) == (250, 150)
    assert estimate.ci95 == tuple(100 * end for end in wilson(estimate.mean / 100, 1 / (1 / 250 + 1 / 150)))


def test_members_know_every_label_and_leave_another_fifth_out(hidden):
    graph, truth = hidden
    result = run_experiment(graph, QUICK, members=MEMBERS)
    labelled = (graph.y >= 0).nonzero().flatten()
    left_out = [run.targets.val for run, _ in result.members]
    for run, _ in result.members:
        assert torch.equal(torch.cat([run.targets.train, run.targets.val]).sort().values, labelled)
    assert torch.equal(torch.cat(left_out).sort().values, labelled)
    # The members change nothing of what is measured, only what is expected beyond it.
    alone = run_experiment(graph, QUICK).headline
    assert (alone.measured, alone.gain) == (result.headline.measured, 0)
    assert result.headline.gain >= 0
    votes = sum(torch.softmax(outcome.logits, 1) for _, outcome in result.members)
    score = METRICS["accuracy"].score(votes[graph.y < 0], truth[graph.y < 0])
    low, high = result.headline.ci95
    assert low <= score <= high


def test_the_papers_protocols_are_summed_up_as_in_the_paper(hidden):
    graph, _ = hidden
    result = run_experiment(graph, replace(QUICK, protocol="random-60-20-20"))
    assert type(result.headline) is Summary
    assert result.headline.mean == pytest.approx(np.mean(result.headline.per_run))


def answers(n: int, skill: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels of two classes, one three times as frequent, and logits that know something of them."""
    random = np.random.default_rng(seed)
    labels = torch.from_numpy((random.random(n) < 0.25).astype(np.int64))
    margin = torch.from_numpy(random.normal(skill * (2 * labels.numpy() - 1), 1.0))
    return torch.stack([-margin, margin], dim=1), labels


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "roc_auc", "average_precision", "log_loss"])
def test_intervals_hold_the_score_of_nodes_that_were_not_seen(name):
    """Of 200 draws of tested and unlabelled nodes, about 95 % have the second score in the interval of the first."""
    inside = 0
    for seed in range(200):
        logits, labels = answers(300, 0.7, seed)
        everything, tested = torch.arange(300), slice(0, 200)
        per_run = {metric: Summary(0.0, (0.0, 0.0), 0.0, (0.0,)) for metric in METRICS}
        once = torch.ones(200)
        pooled = Pooled(everything[tested], once, torch.softmax(logits[tested], 1), labels[tested], (1.0,))
        low, high = estimates(pooled, per_run, unlabelled=100)[name].ci95
        inside += low <= METRICS[name].score(logits[200:], labels[200:]) <= high
    assert 180 <= inside <= 199


def test_the_gain_of_members_by_hand():
    everything = torch.arange(4)
    pooled = Pooled(everything, torch.tensor([2.0, 2, 2, 2]), torch.full((4, 2), 0.5), everything % 2, (1.0,))

    def gain(metric: str, single: float, measured: float, val: float, members: list[float]) -> float:
        test, known = (Summary(mean, (mean, mean), 0.0, (mean, mean)) for mean in (single, val))
        return gain_of_members(METRICS[metric], measured, pooled, test, known, members)

    # Two models are 2 points better than one, so 4 than none: five are 2 · 0.6 better than two. Labels add 1.
    assert gain("accuracy", 70, 72, 80, [80.5, 81.5]) == pytest.approx(1 + 0)
    assert gain("accuracy", 70, 72, 80, [81] * 5) == pytest.approx(1 + 4 * (1 / 2 - 1 / 5))
    assert gain("accuracy", 70, 69, 80, [78] * 5) == 0
    assert gain("roc_auc", 70, 72, 80, [81, float("nan")]) == 0
    assert gain("log_loss", 0.8, 0.7, 0.9, [0.85] * 5) == pytest.approx(-0.05 - 0.2 * 0.3)


def test_nothing_wrong_is_not_certain():
    logits, labels = answers(40, 50.0, 0)
    split = Split(train=torch.arange(0, 20), val=torch.arange(20, 30), test=torch.arange(30, 40), labels=labels)
    per_run = {metric: Summary(0.0, (0.0, 0.0), 0.0, (0.0,)) for metric in METRICS}
    found = estimates(Pooled.of([split], [logits]), per_run, unlabelled=0)
    for name in ("accuracy", "roc_auc"):
        assert found[name].mean == 100
        assert found[name].ci95 == (pytest.approx(72.2, abs=0.1), 100)


def test_a_metric_that_cannot_be_had(hidden):
    graph, _ = hidden
    lonely = replace(graph, y=torch.where(graph.y == 0, 0, -1))
    lonely.y[:8] = 1
    with pytest.raises(ValueError, match=r"all of one class, where ROC-AUC says nothing"):
        run_experiment(lonely, replace(QUICK.with_metric("roc_auc"), protocol="random-60-20-20"))
    assert make_split(lonely, "stratified-60-20-20", 0).sizes[2] > 0
