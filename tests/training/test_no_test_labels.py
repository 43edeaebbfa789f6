"""No test label reaches training or selection."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from importlib.resources import files

import pytest
import torch

import pcnet.training
from pcnet import Run, Targets, TrainingSettings, make_split, train
from pcnet.experiment import Experiment, run_experiment

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
MODULES = [path for path in files("pcnet.training").iterdir() if path.name.endswith(".py")]


def test_targets_know_training_and_validation_nodes_only(dense):
    split = make_split(dense, "random-60-20-20", 0)
    targets = Targets.from_split(split)
    assert [field.name for field in dataclasses.fields(Targets)] == [
        "train",
        "train_labels",
        "val",
        "val_labels",
        "num_classes",
    ]
    known = {*targets.train.tolist(), *targets.val.tolist()}
    assert known.isdisjoint(split.test.tolist())
    assert torch.equal(targets.train_labels, dense.y[targets.train])
    assert torch.equal(targets.val_labels, dense.y[targets.val])
    assert len(targets.train_labels) + len(targets.val_labels) == len(known)


def poisoned(labels: torch.Tensor, test: torch.Tensor) -> torch.Tensor:
    wrong = labels.clone()
    wrong[test] = (labels[test] + 1) % 3
    return wrong


def test_wrong_test_labels_change_no_bit(graph, varied, same):
    runs, victims = [], []
    for number, run in enumerate(varied):
        split = make_split(graph, "random-60-20-20", number)
        assert not torch.equal(poisoned(split.labels, split.test), split.labels)
        bad = dataclasses.replace(split, labels=poisoned(split.labels, split.test))
        runs.append(dataclasses.replace(run, targets=Targets.from_split(split)))
        victims.append(dataclasses.replace(run, targets=Targets.from_split(bad)))
    everywhere = dataclasses.replace(graph, y=torch.zeros_like(graph.y))
    assert all(map(same, train(graph, runs), train(everywhere, victims)))


def test_wrong_validation_labels_do_change_the_outcome(dense, varied):
    # The poison works where it is swallowed.
    run = dataclasses.replace(varied[0], training=TrainingSettings(epochs=10, stopping="none"))
    wrong = dataclasses.replace(run.targets, val_labels=(run.targets.val_labels + 1) % 3)
    honest, fooled = train(dense, [run, dataclasses.replace(run, targets=wrong)], threads=1)
    assert (honest.val_loss != fooled.val_loss).all()


def test_an_experiment_scores_after_training(dense, monkeypatch):
    """While `train` runs, every test label is already wrong; only the scores notice."""
    experiment = Experiment("mine", "none", "random-60-20-20", (0, 1), training=TrainingSettings(epochs=10))
    honest = run_experiment(dense, experiment)

    def split_with_wrong_test_labels(graph, protocol, seed):
        split = make_split(graph, protocol, seed)
        return dataclasses.replace(split, labels=poisoned(split.labels, split.test))

    monkeypatch.setattr("pcnet.experiment._runner.make_split", split_with_wrong_test_labels)
    fooled = run_experiment(dense, experiment)
    for one, other in zip(honest.outcomes, fooled.outcomes, strict=True):
        assert torch.equal(one.logits, other.logits)
    assert honest.val == fooled.val
    assert honest.test["accuracy"].per_run != fooled.test["accuracy"].per_run


def test_no_module_of_the_room_names_a_test_set():
    assert len(MODULES) > 5
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [getattr(node, "attr", None), getattr(node, "id", None), getattr(node, "arg", None)]
            assert "test" not in names, path.name
            if isinstance(node, ast.Constant) and node.value == "test":
                raise AssertionError(f"{path.name} reads the attribute 'test' by its name")


def test_only_targets_read_a_split():
    for path in MODULES:
        uses = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "split"
        ]
        assert {node.attr for node in uses} <= {"train", "val", "labels"}
        assert not uses or path.name == "_run.py"


def test_train_takes_no_split():
    assert "split" not in " ".join(map(str, inspect.signature(pcnet.training.train).parameters.values())).lower()
    assert {field.name for field in dataclasses.fields(Run)} == {"model", "training", "targets", "seed"}
