"""PDE-GCN is its time steps, written out edge by edge."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import PDEGCN, PDEGCNSettings
from strategies import NAMED, Edges, dense_operator, graphs, seeds

EQUATIONS = ("diffusion", "wave", "mixed")


def random_model(equation: str, seed: int = 0, dropout: float = 0.0) -> PDEGCN:
    model = PDEGCN(4, 5, 3, layers=3, equation=equation, h=0.7, dropout=dropout).double()
    generator = torch.Generator().manual_seed(seed)
    model.reset_parameters(generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def operator_of(graph: Edges) -> Operator:
    weights = (graph.edge_index, graph.num_nodes, graph.weight)
    return Operator.from_edges(*weights, self_loops="fill", dtype=torch.float64)


def force(S: np.ndarray, X: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Gᵀ Kᵀ relu(K G x), one direction of an edge after the other."""
    F = np.zeros_like(X)
    for i, j in zip(*S.nonzero(), strict=True):
        flow = S[i, j] * K.T @ np.maximum(K @ (S[i, j] * (X[i] - X[j])), 0)
        F[i] += flow
        F[j] -= flow
    return F


def by_the_formula(model: PDEGCN, S: np.ndarray, x: np.ndarray) -> np.ndarray:
    X = old = np.maximum(x @ model.first.weights[0].detach().numpy(), 0)
    h = model.settings.h
    for layer, K in enumerate(model.kernels.detach().numpy()):
        F = force(S, X, K)
        if model.settings.equation == "diffusion":
            new = X - h * F
        elif model.settings.equation == "wave":
            new = 2 * X - old - h**2 * F
        else:
            b = 1 / (1 + np.exp(-model.mix[layer].item()))
            a, b = (1 - b) / h, b / h**2
            new = (2 * b * X - b * old + a * X - F) / (a + b)
        X, old = new, X
    return X @ model.closing.detach().numpy()


@pytest.mark.parametrize("equation", EQUATIONS)
@settings(max_examples=25)
@given(graph=graphs(max_nodes=10), seed=seeds())
def test_steps_are_those_of_the_formula(equation, graph, seed):
    model, x = random_model(equation, seed).eval(), columns(graph.num_nodes, 4, seed)
    expected = by_the_formula(model, dense_operator(graph, 0.5, "fill"), x.numpy())
    found = model(x, operator_of(graph)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", NAMED)
def test_edges_and_nodes_agree(name):
    """A dropout rate of almost nothing drops nothing, but is computed on the edges."""
    graph, on_nodes, on_edges = NAMED[name], random_model("mixed"), random_model("mixed", dropout=1e-9)
    x = columns(graph.num_nodes, 4, 3)
    outputs, grads = [], []
    for model in (on_nodes, on_edges):
        z = model.train()(x, operator_of(graph))
        outputs.append(z)
        grads.append(torch.autograd.grad(z.square().sum(), list(model.parameters())))
    torch.testing.assert_close(*outputs, rtol=1e-7, atol=1e-7)
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


def test_one_way_edges_are_not_halved():
    """Of an edge with one direction, ReLU does act without dropout."""
    edges = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 3]])
    operator = Operator.from_edges(edges, 4, self_loops="fill", direction="keep", dtype=torch.float64)
    model, x = random_model("diffusion").eval(), columns(4, 4, 5)
    expected = by_the_formula(model, operator.matrix.to_dense().numpy(), x.numpy())
    np.testing.assert_allclose(model(x, operator).detach().numpy(), expected, rtol=1e-9, atol=1e-9)


def test_each_direction_is_dropped_by_itself():
    """With masks in common, training would be linear in K_lᵀ K_l, and turning K_l's sign would change nothing."""
    graph, outputs = NAMED["bipartite"], []
    for sign in (1, -1):
        model = random_model("diffusion", dropout=0.5)
        with torch.no_grad():
            model.kernels.mul_(sign)
        torch.manual_seed(0)
        outputs.append(model.train()(columns(7, 4, 0), operator_of(graph)))
    assert not torch.allclose(*outputs)


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dropout", [0.0, 1e-9])
def test_runs_side_by_side(equation, dropout):
    graph = NAMED["star"]
    models = [random_model(equation, seed, dropout) for seed in range(3)]
    x = columns(graph.num_nodes, 4, 2)
    for model, found in zip(models, PDEGCN.stack(models)(x, operator_of(graph)), strict=True):
        torch.testing.assert_close(found, model(x, operator_of(graph)), rtol=1e-7, atol=1e-7)


def test_begins_near_the_identity():
    model = PDEGCN(4, 5, 3, layers=2, equation="mixed", opening="normal")
    offset = model.kernels - torch.eye(5)
    assert offset.min() >= 0
    assert 0 < offset.max() <= 1.001e-3
    assert model.first.weights[0].abs().max() < 0.06
    assert torch.equal(model.mix, torch.zeros(2))


@pytest.mark.parametrize(
    ("wrong", "words"), [({"equation": "heat"}, "equation"), ({"h": 0.0}, "h must"), ({"opening": "zero"}, "opening")]
)
def test_refusals(wrong, words):
    with pytest.raises(PcnetError, match=words):
        PDEGCN(4, 5, 3, **wrong)


class PDEContract(MethodContract):
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.5, "h": 4.0})

    @pytest.mark.parametrize("phi", [-0.8])
    def test_learns_a_planted_partition(self, phi):
        """Weights enter squared: among twenty neighbours a step of h moves a node by h/20, and few steps by little."""
        super().test_learns_a_planted_partition(phi)


class TestDiffusion(PDEContract):
    base: ClassVar = PDEGCNSettings(hidden=16, layers=3, h=8.0, dropout=0.1)


class TestWave(PDEContract):
    base: ClassVar = PDEGCNSettings(hidden=16, layers=3, h=8.0, dropout=0.1, equation="wave")


class TestMixed(PDEContract):
    base: ClassVar = PDEGCNSettings(hidden=16, layers=3, h=8.0, dropout=0.1, equation="mixed")
