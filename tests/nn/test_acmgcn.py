"""ACM-GCN and ACMII-GCN are their layers, written out densely."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import scipy.special
import torch
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import planted
from pcnet.graph import CSR
from pcnet.nn import ACMGCN, ACMGCNSettings
from strategies import NAMED, dense_operator


class TestACMGCN(MethodContract):
    base: ClassVar = ACMGCNSettings(hidden=8, dropout=0.3)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.6})


class TestACMIIGCN(MethodContract):
    base: ClassVar = ACMGCNSettings(hidden=8, variant=True, dropout=0.3)
    changes: ClassVar = ({"dropout": 0.0}, {"variant": False})


def dense_layer(
    P: np.ndarray, H: np.ndarray, W: np.ndarray, v: np.ndarray, M: np.ndarray, *, variant: bool
) -> np.ndarray:
    low, high, same = (H @ each for each in np.split(W, 3, axis=1))
    if variant:
        low, high, same = (np.maximum(each, 0) for each in (low, high, same))
        channels = [P @ low, high - P @ high, same]
    else:
        channels = [np.maximum(each, 0) for each in (P @ low, high - P @ high, same)]
    liked = scipy.special.expit(np.concatenate([h @ each for h, each in zip(channels, v, strict=True)], axis=1))
    alpha = scipy.special.softmax(liked @ M / 3, axis=1)
    return 3 * sum(alpha[:, [c]] * channels[c] for c in range(3))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("variant", [False, True])
@torch.no_grad()
def test_layers_are_those_of_the_formula(name, variant):
    graph = NAMED[name]
    model = ACMGCN(4, 5, 3, variant=variant).double().eval()
    x = columns(graph.num_nodes, 4, 1)
    W = dense_operator(graph, 0.0, "add")
    P = W / W.sum(1, keepdims=True)
    H = x.numpy()
    for layer, weight in enumerate((model.first.weights[0], model.second)):
        parts = (weight, model.tastes[layer], model.mixes[layer])
        H = dense_layer(P, np.maximum(H, 0) if layer else H, *(part.numpy() for part in parts), variant=variant)
    found = model(x, graph.edge_index, graph.weight).numpy()
    np.testing.assert_allclose(found, H, rtol=1e-8, atol=1e-8)
    assert variant or (found >= 0).all()


def test_sparse_features():
    graph = NAMED["star"]
    x = columns(graph.num_nodes, 4, 1).relu().float()
    model = ACMGCN(4, 5, 3).eval()
    sparse = model(CSR.from_torch(x.to_sparse()), graph.edge_index)
    torch.testing.assert_close(sparse, model(x, graph.edge_index), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variant", [False, True])
def test_side_by_side(variant):
    graph, _ = planted(0.8)
    models = [ACMGCN(30, 8, 3, variant=variant).eval() for _ in range(3)]
    stacked = ACMGCN.stack(models)
    stacked(graph.x, graph.edge_index).square().sum().backward()
    for run, model in enumerate(models):
        model(graph.x, graph.edge_index).square().sum().backward()
        for ours, alone in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], alone.grad, rtol=1e-3, atol=1e-3)


def test_first_weights_lie_within_the_published_bounds():
    model = ACMGCNSettings(hidden=16).build(200, 4, seed=0)
    bounds = {"first.weights.0": 1 / 4, "second": 1 / 2, "tastes.0": 1.0, "tastes.1": 1.0, "mixes.0": 3**-0.5}
    for name, parameter in model.named_parameters():
        bound = bounds.get(name, 3**-0.5)
        assert 0.6 * bound < parameter.abs().max() <= bound, name
    assert tuple(model.parameter_groups()) == ACMGCNSettings().groups
