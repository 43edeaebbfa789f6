"""GGCN on edges is the published one, which is dense."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import check_stack
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.nn import GGCN, GGCNSettings
from pcnet.nn.models._ggcn import _neighbours
from strategies import NAMED, Edges, dense_operator, graphs, seeds


def operator_of(graph: Edges) -> Operator:
    return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="add", dtype=torch.float64)


def random_model(seed: int = 0, depth: int = 4, dropout: float = 0.0) -> GGCN:
    model = GGCN(4, 5, 3, layers=depth, decay=0.9, exponent=1.5, dropout=dropout).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def layer_by_the_formula(model: GGCN, layer: int, S: np.ndarray, H: np.ndarray) -> np.ndarray:
    """With all pairs of nodes written out."""
    a, signs = model.degree[layer].detach().numpy(), model.signs[layer].detach().numpy()
    lengths = np.linalg.norm(H, axis=1)
    cosine = H @ H.T / np.maximum(np.outer(lengths, lengths), 1e-9)
    ratio = np.divide(np.diag(S)[:, None], S, out=np.zeros_like(S), where=S != 0) - 1
    E = S * softplus(a[0] * ratio + a[1]) * cosine
    np.fill_diagonal(E, 0)
    b = np.exp(signs) / np.exp(signs).sum()
    scale = softplus(model.scale[layer].detach().numpy())
    return scale * (b[0] * np.maximum(E, 0) @ H - b[1] * np.maximum(-E, 0) @ H + b[2] * H)


def by_the_formula(model: GGCN, S: np.ndarray, x: np.ndarray) -> np.ndarray:
    first = x @ model.first.weights[0].detach().numpy() + model.first.biases[0].detach().numpy()
    P, U = elu(first[:, :5]), layer_by_the_formula(model, 0, S, first[:, 5:])
    s, depth = model.settings, len(model.scale)
    inner = zip(model.weights[0], model.biases[0], strict=True) if depth > 2 else ()
    for layer, (W, b) in enumerate([*inner, (model.last, model.bias)], start=1):
        share = 1.0 if layer == 1 else math.log(s.decay / (layer + 1) ** s.exponent + 1)
        P = P + share * elu(U)
        U = layer_by_the_formula(model, layer, S, P @ W.detach().numpy() + b.detach().numpy())
    return U


@pytest.mark.parametrize("depth", [2, 4])
@settings(max_examples=25)
@given(graph=graphs(max_nodes=10), seed=seeds())
def test_the_formula(depth, graph, seed):
    model, x = random_model(seed, depth).eval(), columns(graph.num_nodes, 4, seed)
    expected = by_the_formula(model, dense_operator(graph, 0.5, "add"), x.numpy())
    for features in (x, CSR.from_torch(x.to_sparse())):
        found = model(features, operator_of(graph)).detach().numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("direction", ["keep", "out"])
def test_one_way_edges(direction):
    edges = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 3]])
    operator = Operator.from_edges(edges, 4, self_loops="add", direction=direction, dtype=torch.float64)
    model, x = random_model().eval(), columns(4, 4, 5)
    expected = by_the_formula(model, operator.matrix.to_dense().numpy(), x.numpy())
    np.testing.assert_allclose(model(x, operator).detach().numpy(), expected, rtol=1e-8, atol=1e-8)


def test_the_degree_term_is_the_ratio_of_roots():
    """Without loops and weights S_ii / S_ij = √((d_j + 1) / (d_i + 1))."""
    S = dense_operator(NAMED["star"], 0.5, "add")
    assert S[0, 0] / S[0, 1] == pytest.approx(math.sqrt(2 / 20))
    assert S[1, 1] / S[1, 0] == pytest.approx(math.sqrt(20 / 2))


def test_one_way_degrees_are_those_of_the_edges_that_leave():
    """S_ii / S_ij = √((d_j + 1) / (d_i + 1)) for i that links to j, as published; here d = 2, 1, 0."""
    operator = Operator.from_edges(torch.tensor([[0, 0, 1], [1, 2, 2]]), 3, direction="out", dtype=torch.float64)
    neighbours, ratio = _neighbours(operator)
    assert neighbours.col.tolist() == [1, 2, 2]
    assert ratio.flatten().tolist() == pytest.approx([math.sqrt(2 / 3) - 1, math.sqrt(1 / 3) - 1, math.sqrt(1 / 2) - 1])


def test_derivatives():
    graph, model = NAMED["weighted with loops and duplicates"], random_model(depth=3).eval()
    h = columns(graph.num_nodes, 10, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: model.layers(h, operator_of(graph)), h)


def test_a_node_without_features_sends_and_receives_zeros():
    """Its H is zero, and has no direction: cosines are 0 and derivatives finite."""
    graph, model = NAMED["triangle"], random_model(depth=2)
    with torch.no_grad():
        model.first.biases[0].zero_()
    x = columns(3, 4, 0)
    x[1] = 0
    model(x, operator_of(graph)).square().sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


@pytest.mark.parametrize("depth", [2, 4])
@pytest.mark.parametrize("dropout", [0.0, 1e-9])
def test_runs_side_by_side(depth, dropout):
    graph = NAMED["disconnected"]
    models = [random_model(seed, depth, dropout) for seed in range(3)]
    check_stack(models, columns(graph.num_nodes, 4, 2), operator_of(graph))


def test_how_it_begins():
    model = GGCN(4, 5, 3, layers=3)
    assert model.degree.tolist() == [[0.5, 0.0]] * 3
    assert model.signs.tolist() == [[0.0] * 3] * 3
    assert model.scale.tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("wrong", "words"), [({"layers": 1}, "layers must be at least 2"), ({"decay": -0.1}, "decay must be at least 0")]
)
def test_refusals(wrong, words):
    with pytest.raises(PcnetError, match=words):
        GGCN(4, 5, 3, **wrong)


class TestGGCN(MethodContract):
    base: ClassVar = GGCNSettings(hidden=16, layers=3, dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.5})
    #: Its signs come from features, which say little where the links of unlike nodes say much; seeds differ by a third.
    least_accuracy = 0.55
    seeds = 5
