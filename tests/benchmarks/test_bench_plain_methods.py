"""The plain versions of other methods compute what the library's layers compute."""

from __future__ import annotations

import pytest
import torch
from benchmarks.plain import plain_filter, plain_model
from benchmarks.plain_training import FrugalTraining, PlainTraining, plain_training
from torch import Tensor

from pcnet import Graph, PCNetSettings, TrainingSettings, make_split
from pcnet.experiment import Experiment
from pcnet.nn import (
    APPNPSettings,
    BernNetSettings,
    ChebNetIISettings,
    FilterNetSettings,
    GPRGNNSettings,
    JacobiConvSettings,
)

NODES, FEATURES, CLASSES = 60, 20, 3
SETTINGS = (
    GPRGNNSettings(K=10, alpha=0.2),
    GPRGNNSettings(K=4, alpha=0.9, start="nppr"),
    BernNetSettings(K=10),
    BernNetSettings(K=3),
    ChebNetIISettings(K=10),
    ChebNetIISettings(K=5),
    JacobiConvSettings(K=10, a=1.5, b=0.25, alpha=0.5),
    JacobiConvSettings(K=10, a=-0.5, b=-0.5, alpha=1.5),
    JacobiConvSettings(K=6, a=-1.0, b=0.5),
)


def small_graph() -> Graph:
    """Both directions, native loops among the edges, the last node alone."""
    draw = torch.Generator().manual_seed(0)
    source, target = torch.randint(NODES, (2, 3 * NODES), generator=draw)
    dense = torch.zeros(NODES, NODES)
    dense[source, target] = dense[target, source] = 1
    dense[-1] = dense[:, -1] = 0
    assert dense.diagonal().any()
    x = torch.rand(NODES, FEATURES, generator=draw)
    return Graph(dense.nonzero().t().contiguous(), x, torch.arange(NODES) % CLASSES)


def as_ours(name: str, value: Tensor) -> Tensor:
    """JacobiConv's θ has classes along the last axis here and along the first there."""
    return value.t() if value.ndim > 1 and name == "theta" else value


def outputs(layer: torch.nn.Module, x: Tensor, edge_index: Tensor, gradient: Tensor) -> dict[str, Tensor]:
    """What a layer makes of x, and the gradients of x and of every parameter."""
    x, names = x.clone().requires_grad_(), dict(layer.named_parameters())
    z = layer(x, edge_index)
    gradients = torch.autograd.grad(z, [x, *names.values()], gradient)
    return {"z": z.detach()} | dict(zip(["x", *names], gradients, strict=True))


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_filters_and_gradients_equal_the_library(settings: FilterNetSettings, cached: bool):
    graph, draw = small_graph(), torch.Generator().manual_seed(1)
    x, gradient = torch.rand(2, NODES, CLASSES, generator=draw)
    ours, plain = settings.conv(CLASSES), plain_filter(settings, CLASSES, cached=cached)
    theirs = dict(plain.named_parameters())
    assert {name: as_ours(name, value).shape for name, value in theirs.items()} == {
        name: value.shape for name, value in ours.named_parameters()
    }
    with torch.no_grad():
        for name, value in ours.named_parameters():
            # Both begin alike. Then other values, of which a ReLU closes some.
            torch.testing.assert_close(as_ours(name, theirs[name]), value)
            value.copy_(2 * torch.rand(value.shape, generator=draw) - 0.5)
            as_ours(name, theirs[name]).copy_(value)
    expected = outputs(ours, x, graph.edge_index, gradient)
    for _ in range(2):
        found = outputs(plain, x, graph.edge_index, gradient)
        for name, value in expected.items():
            scale = value.abs().max().item()
            torch.testing.assert_close(as_ours(name, found[name]), value, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("settings", [GPRGNNSettings(), JacobiConvSettings(a=2.0, b=-0.25)], ids=lambda s: s.method)
def test_models_equal_the_library(settings: FilterNetSettings):
    graph = small_graph()
    ours, plain = settings.build(FEATURES, CLASSES, seed=1).eval(), plain_model(FEATURES, CLASSES, settings).eval()
    assert set(plain.parameter_groups()) == set(settings.groups)
    layers = [layer for layer in (plain.first, plain.second) if layer is not None]
    with torch.no_grad():
        for layer, weight, bias in zip(layers, ours.transform.weights, ours.transform.biases, strict=True):
            layer.weight.copy_(weight.t())
            layer.bias.copy_(bias)
    torch.testing.assert_close(plain.logits(graph.x, graph.edge_index), ours(graph.x, graph.edge_index))


@pytest.mark.parametrize(
    ("settings", "select", "kind"),
    [
        (BernNetSettings(hidden=16, K=3), "val_loss", PlainTraining),
        (JacobiConvSettings(K=3, drop_prop=0.2), "val_accuracy", FrugalTraining),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
def test_training_learns_and_counts_its_forwards(settings, select, kind):
    graph = small_graph()
    separable = torch.nn.functional.one_hot(graph.y, FEATURES).float()
    graph = Graph(graph.edge_index, separable, graph.y)
    split = make_split(graph, "random-60-20-20", 0)
    rates = TrainingSettings(lr={"all": 0.05, "theta": 0.01}, wd={"all": 0.0}, select=select)
    training = plain_training(graph, split, Experiment("", "", "", (), settings, rates), seed=0)
    assert type(training) is kind
    assert {group["lr"] for group in training.optimizer.param_groups} == {0.05, 0.01}
    forwards: list[bool] = []
    training.model.register_forward_hook(lambda *_: forwards.append(torch.is_grad_enabled()))
    before = training.evaluate()[1]["train"]
    forwards.clear()
    training.epoch()
    # Validation cannot be worse than before the first epoch.
    assert forwards == ([True] * 5 if kind is PlainTraining else [True, False, False])
    for _ in range(40):
        training.epoch()
    accuracies, losses = training.evaluate()
    assert losses["train"] < 0.7 * before
    assert accuracies["train"] > 0.8
    assert training.best_test > 0.5


def test_edges_are_weighed_once_or_always():
    graph = small_graph()
    for cached in (False, True):
        conv = plain_filter(BernNetSettings(K=2), CLASSES, cached=cached)
        first = conv.operators(graph.edge_index, graph.x)
        assert (conv.operators(graph.edge_index, graph.x) is first) == cached


def test_refuses_what_it_is_not():
    with pytest.raises(ValueError, match="one linear layer"):
        plain_filter(JacobiConvSettings(sign="paper"), CLASSES)
    with pytest.raises(ValueError, match="no plain version of appnp"):
        plain_model(FEATURES, CLASSES, APPNPSettings())
    with pytest.raises(ValueError, match="published model"):
        plain_model(FEATURES, CLASSES, PCNetSettings(hidden=None))
