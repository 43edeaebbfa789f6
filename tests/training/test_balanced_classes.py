"""Classes of any size count alike where that is asked for, in the training loss and on validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from pcnet import Graph, PcnetError, PCNetSettings, Run, Split, Targets, TrainingSettings, csbm, train
from pcnet.training._labels import Scored, StackedLabels
from pcnet.training._losses import CrossEntropy, balanced_shares


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.booleans(), st.integers(0, 99))
def test_losses_and_accuracies_are_those_of_torch_and_sklearn(labels, balanced, seed):
    y = torch.tensor(labels)
    logits = torch.randn(1, len(y), 4, generator=torch.Generator().manual_seed(seed))
    shares = balanced_shares(y.numpy()) if balanced else np.ones(len(y))
    stacked = StackedLabels([Scored(0, torch.arange(len(y)), y, shares)], 1)
    count = torch.bincount(y, minlength=4).clamp(min=1)
    weight = 1 / count if balanced else torch.ones(4)
    # Torch divides by the sum of the weights, which is the number of classes there are.
    expected = cross_entropy(logits[0], y, weight=weight.float()).item()
    loss, accuracy = stacked.scores(logits)
    assert loss[0] == pytest.approx(expected, rel=1e-5)
    assert stacked.mean_loss(logits).item() == pytest.approx(expected, rel=1e-5)
    recalls = [((logits[0].argmax(1) == y) & (y == c)).sum().item() / (y == c).sum().item() for c in y.unique()]
    by_hand = sum(recalls) / len(recalls) if balanced else (logits[0].argmax(1) == y).float().mean().item()
    assert accuracy[0] == pytest.approx(by_hand)
    if balanced and len(set(labels)) > 1 and set(logits[0].argmax(1).tolist()) <= set(labels):
        truth = sklearn.metrics.balanced_accuracy_score(y, logits[0].argmax(1))
        assert accuracy[0] == pytest.approx(truth)


def test_shares_by_hand():
    assert CrossEntropy().shares(np.array([0, 0, 2])).tolist() == [1.0, 1.0, 1.0]
    assert balanced_shares(np.array([0, 0, 2])).tolist() == [0.75, 0.75, 1.5]


def rare(seed: int = 0) -> tuple[Graph, Split]:
    """A planted graph on which a class has one node in ten and features that say little."""
    whole = csbm(600, 0.2, classes=2, features=8, seed=seed)
    kept = torch.cat([(whole.y == 0).nonzero()[:, 0], (whole.y == 1).nonzero()[:30, 0]]).sort().values
    place = torch.full((600,), -1)
    place[kept] = torch.arange(len(kept))
    edges = place[whole.edge_index]
    graph = Graph(edges[:, (edges >= 0).all(0)], whole.x[kept], whole.y[kept])
    parts = [torch.arange(len(kept))[start::3] for start in range(3)]
    return graph, Split(*parts, graph.y)


def test_a_rare_class_is_found():
    graph, split = rare()
    recall = {}
    for weight, select in (("none", "val_loss"), ("balanced", "val_balanced_loss")):
        training = TrainingSettings(epochs=60, class_weight=weight, select=select)
        runs = [Run(PCNetSettings(hidden=8), training, Targets.from_split(split), seed) for seed in range(3)]
        found = [outcome.logits.argmax(1)[split.test] for outcome in train(graph, runs)]
        truth = split.labels[split.test]
        recall[weight] = sum(float((each[truth == 1] == 1).float().mean()) for each in found) / 3
    assert recall["balanced"] > recall["none"] + 0.1


def test_an_unknown_choice():
    with pytest.raises(PcnetError, match=r"class_weight cannot be 'balance'.*Did you mean 'balanced'"):
        TrainingSettings(class_weight="balance")
    with pytest.raises(PcnetError, match="select cannot be 'val_f1'"):
        replace(TrainingSettings(), select="val_f1")
