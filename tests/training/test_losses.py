"""The contract of every loss, and each against torch's own or another of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pcnet import Graph, Targets, TrainingSettings, make_split, train
from pcnet.training import LOSSES, Loss
from pcnet.training._labels import TrainingLoss, training_nodes
from pcnet.training._losses import ClassBalanced, CrossEntropy, Focal, LabelSmoothed, make_loss
from recorded import not_recordable

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


def nodes(count: int = 30, classes: int = 4, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Logits (C, n) and labels."""
    generator = torch.Generator().manual_seed(count)
    logits = 3 * torch.randn(classes, count, generator=generator, dtype=dtype)
    return logits, torch.randint(classes, (count,), generator=generator)


def mean(loss: Loss, logits: Tensor, labels: Tensor) -> Tensor:
    shares = torch.from_numpy(loss.shares(labels.numpy()))
    return loss.of(logits, labels) @ shares.to(logits.dtype) / len(labels)


@pytest.mark.parametrize("name", LOSSES)
class TestEveryLoss:
    def test_its_gradient_is_that_of_finite_differences(self, name):
        logits, labels = nodes()
        assert torch.autograd.gradcheck(lambda z: make_loss(name).of(z, labels), [logits.requires_grad_()])

    def test_each_node_by_itself(self, name):
        loss, (logits, labels) = make_loss(name), nodes()
        alone = [loss.of(logits[:, i : i + 1], labels[i : i + 1]) for i in range(len(labels))]
        torch.testing.assert_close(loss.of(logits, labels), torch.cat(alone))

    def test_it_falls_as_the_label_becomes_likelier(self, name):
        """From the label least likely to the label most likely by far."""
        labels, loss = torch.tensor([1]), make_loss(name)
        found = [float(loss.of(torch.tensor([[0.0], [z], [0.0]]), labels)) for z in (-9.0, -3.0, -1.0, 0.0, 1.0)]
        assert found == sorted(found, reverse=True)

    @pytest.mark.parametrize("size", [0.0, 1e2, 1e4, 3e37])
    def test_large_logits_have_finite_gradients(self, name, size):
        logits = (size * torch.eye(3)).requires_grad_()
        for labels in (torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0])):
            (gradient,) = torch.autograd.grad(make_loss(name).of(logits, labels).sum(), logits)
            assert gradient.isfinite().all()

    def test_nodes_count_one_on_average(self, name):
        shares = make_loss(name).shares(np.array([0, 0, 0, 0, 2, 2, 5]))
        assert (shares > 0).all()
        assert shares.mean() == pytest.approx(1.0)

    def test_a_run_beside_runs_with_other_losses(self, name, graph, varied, same):
        """Among all losses in one block, to the bit as by itself."""
        others = [other for other in LOSSES if other != name]
        runs = [
            replace(run, training=replace(run.training, loss=loss))
            for run, loss in zip(varied, [name, *others, name], strict=False)
        ]
        together = train(graph, runs, threads=1)
        for place in (0, len(runs) - 1):
            assert same(together[place], train(graph, [runs[place]], threads=1)[0])

    def test_what_is_minimised_is_the_mean_over_training_nodes(self, name, dense, varied):
        run = replace(varied[0], training=replace(varied[0].training, loss=name))
        logits = torch.randn(1, dense.num_nodes, 3, generator=torch.Generator().manual_seed(3))
        targets = run.targets
        expected = mean(make_loss(name), logits[0, targets.train].T, targets.train_labels)
        torch.testing.assert_close(TrainingLoss(training_nodes([run]), 1)(logits), expected)


def test_cross_entropy_is_torchs():
    logits, labels = nodes()
    torch.testing.assert_close(mean(CrossEntropy(), logits, labels), cross_entropy(logits.T, labels))


def test_class_balanced_is_torchs_with_weights():
    logits, labels = nodes(30, 3)
    weight = 1 / torch.bincount(labels).double()
    torch.testing.assert_close(mean(ClassBalanced(), logits, labels), cross_entropy(logits.T, labels, weight))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0])
def test_label_smoothed_is_torchs(epsilon):
    logits, labels = nodes()
    expected = cross_entropy(logits.T, labels, label_smoothing=epsilon)
    torch.testing.assert_close(mean(LabelSmoothed(epsilon), logits, labels), expected)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 5.0])
def test_focal_by_its_definition(gamma):
    logits, labels = nodes()
    p = torch.softmax(logits, 0)[labels, torch.arange(len(labels))]
    torch.testing.assert_close(Focal(gamma).of(logits, labels), -((1 - p) ** gamma) * p.log())


def test_focal_without_gamma_and_smoothing_without_epsilon_are_cross_entropy(dense, varied, same):
    settings = varied[1].training
    plain, focal, smoothed = (
        train(dense, [replace(varied[1], training=replace(settings, loss=loss, loss_parameter=parameter))])[0]
        for loss, parameter in (("cross_entropy", None), ("focal", 0.0), ("label_smoothed", 0.0))
    )
    assert plain.epochs == focal.epochs
    np.testing.assert_allclose(focal.val_loss, plain.val_loss, rtol=1e-4)
    np.testing.assert_allclose(smoothed.val_loss, plain.val_loss, rtol=1e-4)


def test_balanced_by_either_name(dense, varied, same):
    by_loss = replace(varied[1], training=replace(varied[1].training, loss="Balanced"))
    by_weight = replace(varied[1], training=replace(varied[1].training, class_weight="balanced"))
    both = replace(varied[1], training=replace(varied[1].training, class_weight="balanced", loss="balanced"))
    first, second, third = train(dense, [by_loss, by_weight, both], threads=1)
    assert same(first, second)
    assert same(first, third)


def test_class_weights_go_with_any_loss(varied):
    training = replace(varied[0].training, loss="focal", class_weight="balanced", loss_parameter=3)
    ((loss, [scored]),) = training_nodes([replace(varied[0], training=training)]).items()
    assert loss == Focal(3)
    assert np.array_equal(scored.shares, ClassBalanced().shares(scored.labels.numpy()))


def test_the_parameter_changes_the_training(dense, varied, same):
    runs = [
        replace(varied[1], training=replace(varied[1].training, loss=loss, loss_parameter=parameter))
        for loss, parameter in (("focal", None), ("focal", 2.0), ("focal", 4.0), ("label_smoothed", 0.4))
    ]
    default, two, four, smoothed = train(dense, runs, threads=1)
    assert same(default, two)
    assert not same(default, four)
    assert not same(default, smoothed)


@dataclass(frozen=True)
class Margin(Loss):
    """Σ_{c≠y} max(0, m + z_c − z_y)."""

    margin: float = 1.0

    def of(self, logits: Tensor, labels: Tensor) -> Tensor:
        return (self.margin + logits - logits.gather(0, labels[None])[0]).relu().sum(0) - self.margin


def test_a_loss_from_outside_trains(dense: Graph, varied, request):
    split = make_split(dense, "random-60-20-20", 0)
    LOSSES.add("margin", Margin)
    request.addfinalizer(lambda: LOSSES.remove("margin"))
    training = TrainingSettings(epochs=60, lr={"all": 0.05}, loss="margin", loss_parameter=2.0)
    runs = [replace(varied[0], training=training, targets=Targets.from_split(split))]
    (outcome,) = train(dense, runs)
    right = outcome.logits.argmax(1)[split.test] == split.labels[split.test]
    assert right.float().mean() > 0.6
    assert float(outcome.val_loss[outcome.best_epoch]) < float(outcome.val_loss[0])


@pytest.mark.parametrize("name", LOSSES)
def test_nothing_waits_for_the_device(name):
    """An epoch on a GPU is recorded once, the loss and its gradient included."""
    logits = torch.empty(4, 20, device="meta", requires_grad=True)
    labels = torch.empty(20, dtype=torch.long, device="meta")
    loss = make_loss(name)
    assert not_recordable(lambda: loss.of(logits, labels).sum().backward()) == set()
