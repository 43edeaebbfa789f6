"""Who predicts together, against plain loops and an optimiser."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import torch

from pcnet.compare import METRICS, metric_named
from pcnet.tune._select import greedy, mean_of_best, standing


def answers(trials: int, nodes: int, classes: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities that know something of the labels, each trial something else."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, nodes)
    logits = random.standard_normal((trials, nodes, classes)) + 0.8 * np.eye(classes)[labels]
    powers = np.exp(logits)
    return torch.from_numpy(powers / powers.sum(-1, keepdims=True)), torch.from_numpy(labels)


def mean(probabilities: torch.Tensor, counts: list[int]) -> torch.Tensor:
    return sum(count * own for count, own in zip(counts, probabilities, strict=True)) / sum(counts)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_together_they_are_no_worse_than_the_best_alone(metric, seed):
    probabilities, labels = answers(12, 60, 3, seed)
    own = metric_named(metric)
    alone = min(standing(probabilities, labels, own))
    for choose in (greedy, mean_of_best):
        counts = choose(probabilities, labels, own)
        assert standing(mean(probabilities, counts)[None], labels, own)[0] <= alone
        value = own.sign * own.share(mean(probabilities, counts).log(), labels)
        assert -standing(mean(probabilities, counts)[None], labels, own)[0][0] == pytest.approx(value)


def test_log_loss_comes_near_the_best_weights_there_are():
    """The loss is convex in the weights: an optimiser finds the minimum."""
    probabilities, labels = answers(4, 80, 3, 1)
    at_label = probabilities[:, torch.arange(80), labels].numpy()

    def loss(weights: np.ndarray) -> float:
        return float(-np.log(weights @ at_label).mean())

    found = scipy.optimize.minimize(
        loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: w.sum() - 1}
    )
    counts = np.array(greedy(probabilities, labels, metric_named("log_loss")))
    assert loss(counts / counts.sum()) == pytest.approx(found.fun, abs=2e-4)


def test_the_plain_loop():
    """Of equals by the metric, the lower log loss joins."""
    probabilities, labels = answers(5, 30, 2, 2)
    metric, joined, best = metric_named("accuracy"), list[int](), None
    for _ in range(50):
        means = [probabilities[[*joined, trial]].mean(0) for trial in range(5)]
        found = standing(torch.stack(means), labels, metric)
        joined.append(found.index(min(found)))
        if best is None or min(found) < best[0]:
            best = min(found), len(joined)
    assert greedy(probabilities, labels, metric) == [joined[: best[1]].count(m) for m in range(5)]


def test_the_means_of_the_best():
    probabilities, labels = answers(30, 40, 3, 3)
    metric = metric_named("macro_f1")
    counts = mean_of_best(probabilities, labels, metric)
    order = sorted(range(30), key=standing(probabilities, labels, metric).__getitem__)
    assert {*np.flatnonzero(counts)} == {*order[: sum(counts)]}
    assert sum(counts) in (1, 3, 5, 10, 25)


def test_probabilities_of_nothing_are_no_trouble():
    sure = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    assert greedy(sure, torch.tensor([0, 1]), metric_named("log_loss")) == [1, 0]
