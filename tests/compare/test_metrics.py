"""Metrics against scikit-learn, one set of predictions at a time and many at once."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import METRICS, default_metric, metric_named, scores
from recorded import not_recordable

SEEDS = st.integers(0, 10_000)


def drawn(seed: int, classes: int, nodes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and labels; some nodes have the logits of others, so that equal scores are common."""
    random = np.random.default_rng(seed)
    logits = torch.from_numpy(random.normal(size=(nodes, classes)).astype(np.float32))
    logits = logits[torch.from_numpy(random.integers(0, nodes, nodes))]
    return logits, torch.from_numpy(random.integers(0, classes, nodes))


def by_sklearn(logits: torch.Tensor, labels: torch.Tensor) -> dict[str, float]:
    """What scikit-learn says; classes that no node has are left out of means over classes, as here."""
    truth, answers = labels.numpy(), logits.argmax(1).numpy()
    probability = torch.softmax(logits.double(), dim=1).numpy()
    classes = range(logits.shape[1])
    there = [c for c in classes if 0 < (truth == c).sum() < len(truth)]
    either = np.union1d(truth, answers)
    found = {
        "accuracy": sklearn.metrics.accuracy_score(truth, answers),
        "balanced_accuracy": np.mean([np.mean(answers[truth == c] == c) for c in np.unique(truth)]),
        "macro_f1": np.mean([sklearn.metrics.f1_score(truth == c, answers == c) for c in either]),
        "log_loss": sklearn.metrics.log_loss(truth, probability, labels=list(classes)) / 100,
    }
    for name, metric in (
        ("roc_auc", sklearn.metrics.roc_auc_score),
        ("average_precision", sklearn.metrics.average_precision_score),
    ):
        judged = [c for c in there if c == 1] if len(classes) == 2 else there
        if judged:
            found[name] = np.mean([metric(truth == c, probability[:, c]) for c in judged])
    return {name: 100 * float(value) for name, value in found.items()}


@given(SEEDS, st.integers(2, 5), st.integers(1, 60))
def test_every_metric_is_scikit_learns(seed, classes, nodes):
    logits, labels = drawn(seed, classes, nodes)
    expected = by_sklearn(logits, labels)
    found = scores(logits, labels, torch.arange(nodes))
    assert found == {name: pytest.approx(value, abs=1e-9) for name, value in expected.items()}


@given(SEEDS, st.integers(2, 4), st.sampled_from(sorted(METRICS)))
def test_many_at_once_with_nodes_that_do_not_count(seed, classes, name):
    """What a device computes for padded runs side by side is what each run has alone."""
    metric, sizes = METRICS[name], (31, 7, 18)
    runs = [drawn(seed + place, classes, nodes) for place, nodes in enumerate(sizes)]
    logits, labels = torch.randn(3, 31, classes), torch.zeros(3, 31, dtype=torch.int64)
    counted = torch.zeros(3, 31, dtype=torch.bool)
    for place, (own, truth) in enumerate(runs):
        where = torch.randperm(31, generator=torch.Generator().manual_seed(seed))[: len(truth)]
        logits[place, where], labels[place, where], counted[place, where] = own, truth, True
    together = metric.of(logits, labels, counted)
    alone = torch.tensor([metric.share(own, truth) for own, truth in runs], dtype=torch.float64)
    torch.testing.assert_close(together.double(), alone, rtol=1e-6, atol=1e-9, equal_nan=True)


def test_the_order_of_nodes_does_not_matter():
    logits, labels = drawn(3, 3, 40)
    shuffled = torch.randperm(40, generator=torch.Generator().manual_seed(1))
    everything = torch.arange(40)
    expected = scores(logits, labels, everything)
    assert scores(logits[shuffled], labels[shuffled], everything) == pytest.approx(expected, abs=1e-9)


def test_a_ranking_of_nodes_of_one_class_is_undefined():
    logits, labels = torch.randn(4, 2), torch.ones(4, dtype=torch.int64)
    assert {"roc_auc", "average_precision"}.isdisjoint(scores(logits, labels, torch.arange(4)))


@pytest.mark.parametrize(
    ("counts", "name"),
    [((66, 34), "roc_auc"), ((65, 35), "accuracy"), ((90, 5, 5), "accuracy"), ((7,), "accuracy"), ((), "accuracy")],
)
def test_the_metric_that_suits_the_classes(counts, name):
    labels = torch.cat([torch.full((9,), -1), *(torch.full((n,), 3 * c) for c, n in enumerate(counts))])
    assert default_metric(labels).name == name


def test_names():
    assert metric_named("ROC-AUC") is METRICS["roc_auc"]
    with pytest.raises(PcnetError, match=r"There is no metric 'auc'; choose from accuracy, .*log_loss"):
        metric_named("auc")


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


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("classes", [2, 4])
def test_nothing_waits_for_the_device(name, classes):
    """An epoch on a GPU is recorded once, metrics included."""
    logits = torch.empty(3, 20, classes, device="meta")
    labels = torch.empty(3, 20, dtype=torch.long, device="meta")
    assert not_recordable(lambda: METRICS[name].of(logits, labels, labels >= 0)) == set()
