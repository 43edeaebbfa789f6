"""Models that know every label: trained once more with those that they had kept back to stop by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet import NodeClassifier, csbm, train
from pcnet.experiment import MEMBERS, Ensemble, refitted, resolve, run_experiment
from pcnet.graph import Graph
from pcnet.training import Run


@pytest.fixture(scope="module")
def graph() -> Graph:
    return csbm(120, 0.6, features=6, seed=0)


@pytest.fixture(scope="module")
def result(graph):
    own = resolve(graph, "gcn", overrides=["epochs=60", "patience=5", "hidden=4"], runs=1)
    return run_experiment(graph, own, members=MEMBERS, refit=True, threads=1)


def test_each_knows_all_labels_and_takes_the_usual_epochs(graph, result):
    """Written out: the median of the best epochs, and no stopping."""
    epochs = 1 + round(np.median([outcome.best_epoch for _, outcome in result.members]))
    for (run, outcome), (before, _) in zip(result.refitted, result.members, strict=True):
        assert sorted(run.targets.train.tolist()) == [*range(120)]
        assert torch.equal(run.targets.train_labels, graph.y[run.targets.train])
        assert (run.seed, run.model, outcome.epochs) == (before.seed, before.model, epochs)
    run, outcome = result.refitted[0]
    [alone] = train(graph, [replace(run, training=replace(run.training, stopping="none"))], threads=1)
    assert torch.equal(alone.logits, outcome.logits)


def test_settings_have_medians_of_their_own(graph):
    quick, slow = (resolve(graph, "mlp", overrides=[f"epochs={epochs}", "patience=100"]) for epochs in (2, 9))
    targets = run_experiment(graph, quick, members=1, threads=1).members[0][0].targets
    runs = [Run(own.model, own.training, targets, seed) for own in (quick, slow) for seed in (0, 1)]
    outcomes = train(graph, runs, threads=1)
    again = refitted(graph, list(zip(runs, outcomes, strict=True)), threads=1)
    expected = [1 + round(np.median([one.best_epoch, two.best_epoch])) for one, two in (outcomes[:2], outcomes[2:])]
    assert [outcome.epochs for _, outcome in again] == [expected[0]] * 2 + [expected[1]] * 2


def test_what_is_said_is_about_models_that_knew_fewer(graph, result):
    """The estimate is the same, and so are the temperatures; what predicts is another model, and it is said."""
    plain = run_experiment(graph, result.experiment, members=MEMBERS, threads=1)
    assert result.headline == plain.headline
    assert [note for note in result.notes if "no label kept back" in note]
    assert not [note for note in plain.notes if "no label kept back" in note]
    known = Ensemble.of(graph, plain.predictor, "accuracy")
    again = Ensemble.of(graph, result.predictor, "accuracy", unaware=result.members)
    assert [member.temperature for member in again.members] == [member.temperature for member in known.members]
    assert again.calibration_error == known.calibration_error
    assert not torch.equal(again.probabilities(graph), known.probabilities(graph))


def test_a_classifier_that_is_refitted(graph, tmp_path):
    how = {"settings": {"epochs": 20, "hidden": 4}, "runs": 2, "threads": 1}
    parts = range(60), range(60, 90)
    plain = NodeClassifier("gcn", **how).fit(graph, *parts)
    again = NodeClassifier("gcn", refit=True, **how).fit(graph, *parts)
    assert not np.array_equal(again.predict_proba(), plain.predict_proba())
    again.save(tmp_path)
    assert np.array_equal(NodeClassifier.load(tmp_path).predict_proba(graph), again.predict_proba())
