"""Metrics against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.evaluation import scores


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 60))
def test_accuracy_and_macro_f1(seed, classes, nodes):
    random = np.random.default_rng(seed)
    labels = torch.from_numpy(random.integers(0, classes, 80))
    logits = torch.from_numpy(random.normal(size=(80, classes)).astype(np.float32))
    chosen = torch.from_numpy(random.choice(80, nodes, replace=False))
    found = scores(logits, labels, chosen)
    truth, predicted = labels[chosen].numpy(), logits[chosen].argmax(1).numpy()
    assert found["accuracy"] == pytest.approx(100 * sklearn.metrics.accuracy_score(truth, predicted))
    f1 = [
        sklearn.metrics.f1_score(truth == c, predicted == c) for c in np.union1d(np.unique(truth), np.unique(predicted))
    ]
    assert found["macro_f1"] == pytest.approx(100 * np.mean(f1))
    both = len(np.unique(truth)) == 2
    assert ("roc_auc" in found) == (classes == 2 and both)
    if "roc_auc" in found:
        margin = (logits[:, 1] - logits[:, 0])[chosen].double().numpy()
        assert found["roc_auc"] == pytest.approx(100 * sklearn.metrics.roc_auc_score(truth, margin))


def test_by_hand():
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, 0.0], [0.0, 5.0]])
    labels = torch.tensor([0, 1, 1, 1])
    everything = torch.arange(4)
    found = scores(logits, labels, everything)
    assert found["accuracy"] == 75.0
    # Class 0: precision 1/2, recall 1; class 1: precision 1, recall 2/3.
    assert found["macro_f1"] == pytest.approx(100 * (2 / 3 + 4 / 5) / 2)
    # Of the three pairs, the one with the third node is in the wrong order.
    assert found["roc_auc"] == pytest.approx(200 / 3)
    assert scores(logits, labels, everything[:2])["accuracy"] == 100.0


def test_extreme_logits_have_an_area():
    logits = torch.tensor([[0.0, 4000.0], [0.0, -4000.0], [0.0, 3000.0]])
    assert scores(logits, torch.tensor([1, 0, 1]), torch.arange(3))["roc_auc"] == 100.0


def test_no_nodes():
    with pytest.raises(PcnetError, match="no nodes to score"):
        scores(torch.zeros(3, 2), torch.zeros(3, dtype=torch.int64), torch.tensor([], dtype=torch.int64))
