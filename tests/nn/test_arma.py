"""ARMA is PyG's, layer by layer, and keeps the contract of models."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
import torch
import torch_geometric.nn as pyg
from torch import Tensor

from contracts.model_contract import ModelContract, planted
from pcnet import PcnetError
from pcnet.graph import CSR
from pcnet.nn import ARMA, ARMASettings
from strategies import NAMED


class TestARMA(ModelContract):
    base: ClassVar = ARMASettings(hidden=16, stacks=2, dropout=0.3, drop_skip=0.2, activation_out=None)

    def settings(self) -> ARMASettings:
        return self.base

    def others(self) -> list[ARMASettings]:
        return [replace(self.base, dropout=0.0, drop_skip=0.5), replace(self.base, drop_skip=0.0, shared=True)]


class TestARMAOfSteps(TestARMA):
    base: ClassVar = ARMASettings(hidden=16, stacks=2, steps=3, dropout=0.3, drop_skip=0.2)


def twin(model: ARMA, second: bool, steps: int, shared: bool) -> pyg.ARMAConv:
    """PyG's layer with the weights of one of ours."""
    layer, inner = (model.outer, model.second) if second else (model.inner, model.first.weights[0])
    skip = model.second_skip if second else model.first.skip.weights[0]
    act = torch.nn.ReLU() if layer.activation else None
    stacks = model.settings.stacks
    conv = pyg.ARMAConv(inner.shape[0], layer.channels, stacks, steps, shared, act=act)
    layout = (layer.copies, stacks)

    def by_stack(weight: Tensor, leading: tuple[int, ...]) -> Tensor:
        return weight.unflatten(-1, (*leading, layer.channels)).movedim(0, -2)

    with torch.no_grad():
        conv.init_weight.copy_(by_stack(inner, (stacks,)))
        conv.root_weight.copy_(by_stack(skip, layout))
        conv.bias.copy_(layer.bias.normal_().view(*layout, 1, layer.channels))
        for place, weight in enumerate(layer.weights):
            conv.weight[place].copy_(weight)
    return conv


@pytest.mark.parametrize("name", [name for name, graph in NAMED.items() if graph.weight is None])
@pytest.mark.parametrize(("stacks", "steps", "shared"), [(1, 1, False), (3, 1, True), (2, 3, False), (2, 3, True)])
@pytest.mark.parametrize("activation", ["relu", None])
@pytest.mark.parametrize("sparse", [True, False])
def test_two_layers_of_pyg(name, stacks, steps, shared, activation, sparse):
    graph = NAMED[name]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    x = torch.randn(graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    model = ARMA(5, 6, 3, stacks=stacks, steps=steps, shared=shared, activation_out=activation).eval()
    first, second = (twin(model, last, steps, shared) for last in (False, True))
    with torch.no_grad():
        expected = second(first(x, edges).relu(), edges)
        found = model(CSR.from_torch(x.to_sparse()) if sparse else x, edges)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_what_is_dropped_is_the_skip():
    """With V = 0 nothing random remains; with W = 0 and no bias the features that are kept are scaled up."""
    graph, _ = planted(0.8)
    model = ARMA(30, 4, 3, dropout=0.0, drop_skip=0.5, activation_out=None)
    features = model.first.weights[0].shape[-1]
    torch.manual_seed(0)
    block = model.first(graph.x)
    torch.testing.assert_close(block[:, :features], graph.x @ model.first.weights[0])
    with torch.no_grad():
        model.first.skip.weights[0].copy_(torch.eye(30)[:, :4])
    kept = model.first(graph.x)[:, features:]
    share = (kept != 0).double().mean()
    torch.testing.assert_close(kept[kept != 0], 2 * graph.x[:, :4][kept != 0])
    assert 0.4 < share < 0.6


def test_side_by_side():
    """Stacked models compute what each computes alone."""
    graph, _ = planted(0.8)
    models = [ARMA(30, 4, 3, stacks=2, steps=3, drop_skip=rate).eval() for rate in (0.0, 0.5)]
    stacked = ARMA.stack(models)
    assert stacked.rates("drop_skip") == (0.0, 0.5)
    for run, model in enumerate(models):
        alone = model(graph.x, graph.edge_index)
        torch.testing.assert_close(stacked(graph.x, graph.edge_index)[run], alone, rtol=1e-5, atol=1e-5)


def test_fresh_weights():
    """Glorot's bound is that of a single stack."""
    model = ARMA(500, 16, 4, stacks=5)
    for weight in (model.first.weights[0], model.first.skip.weights[0]):
        assert (6 / (500 + 16 * 5)) ** 0.5 < weight.abs().max() <= (6 / (500 + 16)) ** 0.5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"stacks": 0}, "stacks must be at least 1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"drop_skip": 1.0}, "drop_skip = 1.0 is not a dropout rate"),
        ({"activation_out": "tanh"}, "activation_out cannot be 'tanh'; choose from relu"),
    ],
)
def test_refused(wrong, words):
    with pytest.raises(PcnetError, match=words):
        ARMA(5, 6, 3, **wrong)
