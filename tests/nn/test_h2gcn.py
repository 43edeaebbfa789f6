"""H2GCN is its rounds, written out densely, in whichever order they are computed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import planted
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, two_hop
from pcnet.nn import H2GCN, H2GCNSettings
from strategies import NAMED, dense_operator

#: So small that nothing is dropped: one bit in 65,536 decides.
NOTHING = 1e-9


class TestH2GCN(MethodContract):
    base: ClassVar = H2GCNSettings(hidden=8, relu=False, dropout=0.6)
    changes: ClassVar = ({"dropout": 0.0}, {"relu": True})


class TestOneRound(MethodContract):
    base: ClassVar = H2GCNSettings(hidden=16, K=1, relu=True, dropout=0.3)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.6})
    #: A ReLU on single nodes' features, which are mostly noise here, leaves the one round less to average.
    least_accuracy = 0.55


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("K", [0, 1, 2, 3])
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("training", [True, False])
@torch.no_grad()
def test_rounds_are_those_of_the_formula(name, K, relu, training):
    """Training drops something and computes the rounds; evaluation applies the classifier first."""
    graph = NAMED[name]
    model = H2GCN(4, 5, 3, K=K, relu=relu, dropout=NOTHING).double().train(training)
    x = columns(graph.num_nodes, 4, 1)
    first = dense_operator(graph, 0.5, "remove")
    operator = Operator.from_edges(
        graph.edge_index, graph.num_nodes, graph.weight, self_loops="remove", dtype=torch.float64
    )
    second = two_hop(operator).matrix.to_dense().numpy()
    R = [x.numpy() @ model.first.weights[0].numpy()]
    R[0] = np.maximum(R[0], 0) if relu else R[0]
    for _ in range(K):
        R.append(np.concatenate([first @ R[-1], second @ R[-1]], axis=1))
    expected = np.concatenate(R, axis=1) @ model.last.numpy()
    found = model(x, graph.edge_index, graph.weight).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 if training else 1e-8)


def test_gradients_of_both_orders_agree():
    graph = NAMED["bipartite"]
    x = columns(graph.num_nodes, 4, 1)
    model = H2GCN(4, 5, 3, dropout=NOTHING).double()
    grads = []
    for training in (True, False):
        model.zero_grad()
        model.train(training)(x, graph.edge_index).square().sum().backward()
        grads.append([parameter.grad.clone() for parameter in model.parameters()])
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("training", [True, False])
def test_side_by_side(training):
    graph, _ = planted(0.8)
    models = [H2GCN(30, 8, 3, dropout=NOTHING).train(training) for _ in range(3)]
    stacked = H2GCN.stack(models)
    stacked(graph.x, graph.edge_index).square().sum().backward()
    for run, model in enumerate(models):
        model(graph.x, graph.edge_index).square().sum().backward()
        for ours, alone in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], alone.grad, rtol=1e-3, atol=1e-3)


def test_sparse_features():
    graph = NAMED["star"]
    x = columns(graph.num_nodes, 4, 1).relu().float()
    model = H2GCN(4, 5, 3).eval()
    sparse = model(CSR.from_torch(x.to_sparse()), graph.edge_index)
    torch.testing.assert_close(sparse, model(x, graph.edge_index), rtol=1e-5, atol=1e-6)


def test_settings():
    model = H2GCNSettings(hidden=8, K=2).build(30, 3)
    assert tuple(model.last.shape) == (8 * 7, 3)
    assert tuple(model.parameter_groups()) == H2GCNSettings().groups
    assert sum(p.numel() for p in model.parameters()) == 30 * 8 + 56 * 3, "there are no biases"
    with pytest.raises(PcnetError, match="K must be at least 0, not -1"):
        H2GCNSettings(K=-1).build(30, 3)
