"""A metric that is registered from outside chooses epochs, methods and settings like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from pcnet import csbm
from pcnet.compare import METRICS, Metric
from pcnet.errors import PcnetError
from pcnet.experiment import resolve, run_experiment
from pcnet.training import TrainingSettings


@pytest.fixture
def errors() -> Iterator[Metric]:
    """The share of wrong answers: of this metric, less is better."""

    def wrong(logits, labels, counted):
        return ((logits.argmax(-1) != labels) & counted).sum(-1).double() / counted.sum(-1)

    metric = Metric("errors", "Error rate", wrong, sign=-1)
    METRICS.add("errors", metric)
    yield metric
    METRICS.remove("errors")


def test_fewest_errors_are_the_highest_accuracy(errors):
    graph = csbm(150, 0.4, features=5, seed=0)
    found = {
        name: run_experiment(graph, resolve(graph, "gcn", metric=name, overrides=["epochs=40"], runs=2))
        for name in ("errors", "accuracy")
    }
    first, second = (found[name].outcomes for name in found)
    for one, other in zip(first, second, strict=True):
        assert one.best_epoch == other.best_epoch
        torch.testing.assert_close(torch.from_numpy(one.val_score), torch.from_numpy(other.val_score - 1))
    assert found["errors"].headline.mean == pytest.approx(100 - found["accuracy"].headline.mean, abs=3)


def test_what_nobody_registered_is_refused():
    with pytest.raises(
        PcnetError, match=r"select cannot be 'val_errors'; choose from val_loss, val_balanced_loss, val_"
    ):
        replace(TrainingSettings(), select="val_errors")
