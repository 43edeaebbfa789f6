"""MixHop's layers are PyG's, and the rest is its formula, written out densely."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.nn import MixHop, MixHopSettings
from strategies import NAMED, Edges, dense_operator, graphs, seeds


def operator_of(graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
    return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="fill", dtype=dtype)


def random_model(seed: int = 0, hops: int = 2, dropout: float = 0.0) -> MixHop:
    model = MixHop(4, 7, 3, hops=hops, drop_in=dropout, dropout=dropout).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def by_the_formula(model: MixHop, S: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Power by power; rows of zeros have no length to be divided by."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    x = x / np.where(length > 0, length, 1)
    parts = model.first.weights[0].detach().split(model.settings.widths, -1)
    h = np.hstack([np.linalg.matrix_power(S, j) @ x @ part.numpy() for j, part in enumerate(parts)])
    h = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-3)
    h = np.maximum(h + model.bias.detach().numpy(), 0)
    q = np.exp(model.mix.detach().numpy())
    outer = model.second.detach().numpy()
    return sum(q[j] / q.sum() * np.linalg.matrix_power(S, j) @ h @ V for j, V in enumerate(outer))


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@settings(max_examples=15)
@given(graph=graphs(max_nodes=10), seed=seeds())
def test_the_formula(hops, graph, seed):
    model, x = random_model(seed, hops).eval(), columns(graph.num_nodes, 4, seed)
    x[0] = 0
    expected = by_the_formula(model, dense_operator(graph, 0.5, "fill"), x.numpy())
    for features in (x, CSR.from_torch(x.to_sparse())):
        found = model(features, operator_of(graph)).detach().numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", [name for name, graph in NAMED.items() if graph.weight is None])
@torch.no_grad()
def test_a_layer_of_pyg(name):
    """With equal widths and without a bias; PyG multiplies by S before W, which is the same."""
    graph = NAMED[name]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    x = columns(graph.num_nodes, 4, 0).float()
    model, conv = MixHop(4, 6, 3), pyg.MixHopConv(4, 2, powers=[0, 1, 2], bias=False)
    for own, theirs in zip(model.first.weights[0].split(model.settings.widths, -1), conv.lins, strict=True):
        theirs.weight.copy_(own.t())
    found = model._powers(x @ model.first.weights[0], operator_of(graph, torch.float32))
    torch.testing.assert_close(found, conv(x, edges), rtol=1e-5, atol=1e-5)


def test_the_last_power_takes_what_is_left_over():
    assert MixHopSettings(hidden=64).widths == [21, 21, 22]
    assert MixHopSettings(hidden=192).widths == [64, 64, 64]


def test_the_length_of_rows_does_not_count():
    graph, model = NAMED["star"], random_model().eval()
    x = columns(graph.num_nodes, 4, 0)
    scaled = x * torch.arange(1, graph.num_nodes + 1).unsqueeze(-1)
    torch.testing.assert_close(model(x, operator_of(graph)), model(scaled, operator_of(graph)))


@pytest.mark.parametrize("zeros_stored", [True, False])
def test_features_that_are_there_or_not(zeros_stored):
    graph, model = NAMED["star"], random_model().eval()
    x = columns(graph.num_nodes, 4, 0)
    x[x.abs() < 0.5] = 0.0
    x[3] = 0.0
    there = (x != 0).double()
    expected = model(there, operator_of(graph))
    model.of_runs = (replace(model.settings, binary=True),)
    given = _all_stored(x) if zeros_stored else CSR.from_torch(x.to_sparse_csr())
    torch.testing.assert_close(model(given, operator_of(graph)), expected)
    torch.testing.assert_close(model(x, operator_of(graph)), expected)


def _all_stored(x: torch.Tensor) -> CSR:
    n, features = x.shape
    crow = torch.arange(n + 1, dtype=torch.int32) * features
    return CSR(crow, torch.arange(features, dtype=torch.int32).repeat(n), x.reshape(-1), (n, features))


def test_columns_are_standardised_in_training_and_after():
    graph, x = NAMED["star"], columns(20, 4, 0)
    model = random_model(dropout=1e-9)
    while_training = model.train()(x, operator_of(graph))
    torch.testing.assert_close(while_training, model.eval()(x, operator_of(graph)), rtol=1e-7, atol=1e-7)


def test_runs_side_by_side():
    graph = NAMED["disconnected"]
    models = [random_model(seed) for seed in range(3)]
    x, stacked = columns(graph.num_nodes, 4, 2), MixHop.stack(models)
    together = stacked(x, operator_of(graph))
    together.square().sum().backward()
    for run, model in enumerate(models):
        alone = model(x, operator_of(graph))
        torch.testing.assert_close(together[run], alone, rtol=1e-9, atol=1e-9)
        alone.square().sum().backward()
        for ours, own in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], own.grad, rtol=1e-7, atol=1e-7)


def test_groups():
    model = MixHopSettings(hidden=6).build(4, 3)
    assert tuple(model.parameter_groups()) == MixHopSettings().groups
    assert {id(p) for group in model.parameter_groups().values() for p in group} == {id(p) for p in model.parameters()}


def test_refusals():
    with pytest.raises(PcnetError, match="3 powers cannot share 2 hidden channels"):
        MixHop(4, 2, 3)


class TestMixHop(MethodContract):
    base: ClassVar = MixHopSettings(hidden=16, drop_in=0.1, dropout=0.3)
    changes: ClassVar = ({"drop_in": 0.4}, {"dropout": 0.0})
