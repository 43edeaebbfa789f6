"""Every method on the GPU: captured, side by side, and what the CPU computes. Skipped without a CUDA device."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

from pcnet.data import csbm, make_split
from pcnet.errors import PcnetWarning
from pcnet.graph import Graph
from pcnet.nn import GCN, METHODS, ModelSettings
from pcnet.training import Run, Targets, TrainingSettings, train

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    # Of a thread in which torch's own backward pass is the first to multiply; it then does what it says.
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),
]

#: Smaller than by default, where that is large.
SMALL: dict[str, dict[str, Any]] = {
    "gcnii": {"layers": 6},
    "egnn": {"layers": 4},
    "pdegcn": {"layers": 3, "equation": "mixed"},
    "twirls": {"depth": 2, "K": 4, "attention": "twice"},
    "arma": {"stacks": 2, "steps": 2},
    "chebnet": {"terms": 3},
}
TRAINING = TrainingSettings(lr={"all": 0.01}, wd={"all": 5e-4}, epochs=40, stopping="none")


def small(method: str) -> ModelSettings:
    return METHODS[method](**SMALL.get(method, {}))


def without_dropout(settings: ModelSettings) -> ModelSettings:
    rates = [field.name for field in fields(settings) if field.name.startswith("drop")]
    return replace(settings, **dict.fromkeys(rates, 0.0))


def runs(settings: ModelSettings, count: int, training: TrainingSettings = TRAINING):
    graph = csbm(n=300, phi=0.5, classes=3, features=40, seed=1)
    splits = [make_split(graph, "random-60-20-20", seed) for seed in range(count)]
    return graph, [Run(settings, training, Targets.from_split(split), seed) for seed, split in enumerate(splits)]


def follows_the_cpu(graph: Graph, batch: list[Run]) -> None:
    for one, other in zip(train(graph, batch), train(graph, batch, device="cuda"), strict=True):
        np.testing.assert_allclose(other.val_loss[:10], one.val_loss[:10], rtol=2e-3)
        np.testing.assert_allclose(other.val_loss, one.val_loss, rtol=5e-2)


@pytest.mark.parametrize("method", METHODS)
def test_training_without_dropout_follows_the_cpu(method):
    follows_the_cpu(*runs(without_dropout(small(method)), 3))


@pytest.mark.parametrize("method", ["gcn", "gat", "gcnii", "gprgnn", "ggcn"])
def test_edges_that_count_one_way(method):
    graph, batch = runs(replace(without_dropout(small(method)), directed=True), 3)
    one_way = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    follows_the_cpu(replace(graph, edge_index=one_way), batch)


@pytest.mark.parametrize(
    ("method", "change"), [("gcnii", {"alpha": 0.5, "lam": 1.5}), ("pdegcn", {"h": 0.3}), ("egnn", {"c_min": 0.6})]
)
def test_settings_that_vary_in_a_block(method, change):
    graph, batch = runs(without_dropout(small(method)), 3)
    batch[1] = replace(batch[1], model=replace(batch[1].model, **change))
    assert len({run.model.batch_key for run in batch}) == 1
    follows_the_cpu(graph, batch)


@pytest.mark.parametrize("method", METHODS)
def test_many_runs_stop_shrink_and_keep_their_best(method):
    training = replace(TRAINING, epochs=150, stopping="patience", patience=30, lr={"all": 0.05})
    graph, batch = runs(small(method), 24, training)
    outcomes = train(graph, batch, device="cuda")
    for run, outcome in zip(batch, outcomes, strict=True):
        targets = run.targets
        loss = torch.nn.functional.cross_entropy(outcome.logits[targets.val], targets.val_labels)
        assert float(loss) == pytest.approx(outcome.val_loss[outcome.best_epoch], rel=1e-3)
        assert outcome.best_epoch == int(np.argmin(outcome.val_loss))
    # Most learn something: chance is a third.
    assert np.mean([outcome.val_score.max() for outcome in outcomes]) > 0.45


def test_a_model_that_cannot_be_captured_is_trained_all_the_same(monkeypatch):
    graph, batch = runs(small("gcn"), 3)
    captured = train(graph, batch, device="cuda")
    forward = GCN.forward

    def asks_the_device(self, x, operator):
        logits = forward(self, x, operator)
        return logits + 0 * logits.detach().sum().item()

    monkeypatch.setattr(GCN, "forward", asks_the_device)
    with pytest.warns(PcnetWarning, match="GCN cannot be recorded"):
        launched = train(graph, batch, device="cuda")
    for one, other in zip(captured, launched, strict=True):
        np.testing.assert_allclose(other.val_loss, one.val_loss, rtol=1e-3)
    # Nothing of the failed capture is left behind: the next one succeeds, and so does torch's own generator.
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PcnetWarning)
        again = train(graph, batch, device="cuda")
    for one, other in zip(captured, again, strict=True):
        np.testing.assert_allclose(other.val_loss, one.val_loss, rtol=1e-3)
    assert torch.rand(3, device="cuda").shape == (3,)
