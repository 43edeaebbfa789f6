"""What every model must do, whatever its layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pcnet.data import Split, csbm, make_split
from pcnet.graph import Graph, Operator
from pcnet.nn import Model, load_model, save_model
from pcnet.training import Outcome, Run, Targets, TrainingSettings, train

TRAINING = TrainingSettings(lr={"all": 0.02}, wd={"all": 5e-4}, epochs=200, stopping="none")
SHORT = replace(TRAINING, epochs=8)


@cache
def planted(phi: float) -> tuple[Graph, Split]:
    """Three planted classes, linked within (φ > 0) or across (φ < 0)."""
    graph = csbm(240, phi, classes=3, features=30, average_degree=20, seed=5)
    return graph, make_split(graph, "random-60-20-20", 0)


def check_stack(models: Sequence[Model], x: Tensor, operator: Operator) -> None:
    """Stacked models compute what each computes alone, and so do their gradients; in double precision."""
    stacked = type(models[0]).stack(models)
    together = stacked(x, operator)
    together.square().sum().backward()
    for run, model in enumerate(models):
        alone = model(x, operator)
        torch.testing.assert_close(together[run], alone, rtol=1e-7, atol=1e-7)
        alone.square().sum().backward()
        for ours, own in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], own.grad, rtol=1e-6, atol=1e-6)


class ModelContract(ABC):
    """Subclass it as `Test…` for each model. Unless a test says otherwise, equal means to the bit."""

    #: Share of test nodes that must be right, on average over the seeds; chance is a third.
    least_accuracy = 0.8
    seeds = 1

    @abstractmethod
    def settings(self) -> Any:
        """The model's settings, without any that need a larger graph or longer training."""

    @abstractmethod
    def others(self) -> Sequence[Any]:
        """Settings that differ from `settings()` and may be trained beside it."""

    def run(self, split: Split, settings: Any = None, seed: int = 0, training: TrainingSettings = SHORT) -> Run:
        return Run(self.settings() if settings is None else settings, training, Targets.from_split(split), seed)

    @pytest.mark.parametrize("phi", [0.8, -0.8])
    def test_learns_a_planted_partition(self, phi):
        graph, split = planted(phi)
        runs = [self.run(split, training=TRAINING, seed=seed) for seed in range(self.seeds)]
        predicted = torch.stack([outcome.logits.argmax(1) for outcome in train(graph, runs, threads=1)])
        accuracy = (predicted == split.labels)[:, split.test].double().mean()
        assert accuracy >= self.least_accuracy

    def test_same_seed_same_bits(self):
        graph, split = planted(0.8)
        first, second, other = (train(graph, [self.run(split, seed=seed)], threads=1)[0] for seed in (3, 3, 4))
        same(first, second)
        assert not torch.equal(first.logits, other.logits)

    def test_no_test_label_is_reachable_while_fitting(self):
        """Every test label is wrong, in the graph and in the split: nothing changes."""
        graph, split = planted(0.8)
        poisoned = split.labels.clone()
        poisoned[split.test] = (poisoned[split.test] + 1) % 3
        wrong = Split(split.train, split.val, split.test, poisoned)
        [clean] = train(graph, [self.run(split)], threads=1)
        [other] = train(replace(graph, y=poisoned), [self.run(wrong)], threads=1)
        same(clean, other)

    def test_validation_labels_choose_the_epoch_only(self):
        graph, split = planted(0.8)
        poisoned = split.labels.clone()
        poisoned[split.val] = (poisoned[split.val] + 1) % 3
        wrong = Split(split.train, split.val, split.test, poisoned)
        last = replace(SHORT, epochs=1)
        [clean] = train(graph, [self.run(split, training=last)], threads=1)
        [other] = train(graph, [self.run(wrong, training=last)], threads=1)
        assert torch.equal(clean.logits, other.logits)
        assert clean.val_loss[0] != other.val_loss[0]

    @pytest.mark.parametrize("threads", [1, 2])
    def test_batched_equals_loop(self, threads):
        """Runs of other settings, seeds and splits beside it, or none: a run's bits are its own."""
        graph, split = planted(0.8)
        second = make_split(graph, "random-60-20-20", 1)
        kinds = [self.settings(), *self.others(), self.settings()]
        runs = [self.run((split, second)[i % 2], kind, seed=i) for i, kind in enumerate(kinds)]
        runs[0] = replace(runs[0], training=replace(SHORT, epochs=3, lr={"all": 0.1}))
        together = train(graph, runs, threads=threads)
        for run, outcome in zip(runs, together, strict=True):
            same(outcome, train(graph, [run], threads=1)[0])

    def test_saved_and_loaded_is_the_same_model(self, tmp_path):
        graph, split = planted(0.8)
        run = self.run(split)
        [outcome] = train(graph, [run], threads=1)
        save_model(outcome.model, run.model, tmp_path / "model")
        model, settings = load_model(tmp_path / "model")
        assert settings == run.model
        with torch.no_grad():
            assert torch.equal(model(graph.x, run.model.operator(graph)), outcome.logits)

    def test_permuting_nodes_permutes_the_output(self):
        graph, split = planted(0.8)
        [outcome] = train(graph, [self.run(split)], threads=1)
        order = torch.from_numpy(np.random.default_rng(0).permutation(graph.num_nodes))
        x = torch.empty_like(graph.x)
        x[order] = graph.x
        with torch.no_grad():
            moved = outcome.model.eval()(x, order[graph.edge_index])
        torch.testing.assert_close(moved[order], outcome.logits, rtol=1e-4, atol=1e-5)


def same(a: Outcome, b: Outcome) -> None:
    """Two outcomes, to the bit."""
    assert torch.equal(a.logits, b.logits)
    assert a.best_epoch == b.best_epoch
    np.testing.assert_array_equal(a.val_loss, b.val_loss)
    np.testing.assert_array_equal(a.val_score, b.val_score)
    for one, two in zip(a.model.parameters(), b.model.parameters(), strict=True):
        assert torch.equal(one, two)
