"""TWIRLS is its recursion, written out densely, and its attention is differentiated like everything else."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import TWIRLS, TWIRLSSettings
from strategies import NAMED, Edges, dense_operator, graphs, seeds

SHAPES: list[dict[str, Any]] = [
    {"attention": "never", "lam": 0.7, "alpha": 0.6},
    {"attention": "never"},
    {"attention": "halfway", "p": 1.0, "tau": 0.5},
    {"attention": "twice", "p": 0.0, "tau": 0.2, "lam": 0.3},
    {"attention": "twice", "p": 1.5, "tau": 0.01, "T": 1.1, "alpha": 0.8},
]


def operator_of(graph: Edges) -> Operator:
    weights = (graph.edge_index, graph.num_nodes, graph.weight)
    return Operator.from_edges(*weights, eta=0.0, self_loops="fill", dtype=torch.float64)


def by_the_formula(W0: np.ndarray, f: np.ndarray, model: TWIRLS) -> np.ndarray:
    """Edge by edge, as the facts have it."""
    W, Y = W0, f
    s = model.settings
    for step in range(s.K):
        first, middle = step == 0 and s.attention == "twice", 0 < step == s.K // 2
        if first or (middle and s.attention != "never"):
            W = np.zeros_like(W0)
            for i, j in zip(*W0.nonzero(), strict=True):
                z = max((((Y[i] - Y[j]) ** 2).sum() + 1e-7) ** (1 - s.p / 2), s.tau)
                W[i, j] = W0[i, j] * ((0.0 if 0 < s.T < z else 1 / z) + 1e-9)
        Dt = s.lam * W.sum(1) + 1 - s.lam
        smoothed = W * Dt[:, None] ** -0.5 * Dt**-0.5 @ Y
        Y = (1 - s.alpha) * Y + s.alpha * (s.lam * smoothed + f / Dt[:, None])
    return Y


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25)
@given(graph=graphs(max_nodes=12), seed=seeds())
def test_steps_are_those_of_the_formula(shape, graph, seed):
    model, f = TWIRLS(4, 5, 3, K=5, **shape).double().eval(), columns(graph.num_nodes, 3, seed)
    expected = by_the_formula(dense_operator(graph, 0.0, "fill"), f.numpy(), model)
    np.testing.assert_allclose(model.layers(f, operator_of(graph)).numpy(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_go_through_the_attention(shape):
    graph = NAMED["weighted with loops and duplicates"]
    model, f = TWIRLS(4, 5, 2, K=4, **shape).double().eval(), columns(graph.num_nodes, 2, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: model.layers(f, operator_of(graph)), f)


def test_many_steps_reach_the_minimum():
    """Without attention Y → D̃^½ ((1−λ) I + λ (D − W))^-1 D̃^-½ f."""
    graph, lam, f = NAMED["disconnected"], 0.6, columns(9, 2, 0)
    W = dense_operator(graph, 0.0, "fill")
    Dt = np.diag(lam * W.sum(1) + 1 - lam)
    found = TWIRLS(3, 5, 2, K=400, lam=lam, alpha=0.7).double().layers(f, operator_of(graph)).numpy()
    np.testing.assert_allclose(found, Dt**0.5 @ np.linalg.solve(Dt - lam * W, (Dt**0.5 / Dt.clip(1e-300)) @ f.numpy()))


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_side_by_side(shape):
    graph = NAMED["star"]
    models = [TWIRLS(4, 5, 3, depth=2, K=5, **shape).double().eval() for _ in range(3)]
    x = columns(graph.num_nodes, 4, 2)
    together = TWIRLS.stack(models)(x, operator_of(graph))
    for model, found in zip(models, together, strict=True):
        torch.testing.assert_close(found, model(x, operator_of(graph)), rtol=1e-10, atol=1e-10)


def test_depth_one_has_no_hidden_layer():
    assert [tuple(w.shape) for w in TWIRLS(7, 5, 3).first.weights] == [(7, 3)]
    assert [tuple(w.shape) for w in TWIRLS(7, 5, 3, depth=2).first.weights] == [(7, 5), (5, 3)]


@pytest.mark.parametrize(
    ("wrong", "words"), [({"depth": 3}, "depth"), ({"attention": "always"}, "attention"), ({"tau": 0.0}, "tau")]
)
def test_refusals(wrong, words):
    with pytest.raises(PcnetError, match=words):
        TWIRLS(4, 5, 3, **wrong)


class TestTWIRLS(MethodContract):
    base: ClassVar = TWIRLSSettings(K=4, drop_in=0.1)
    changes: ClassVar = ({"drop_in": 0.4}, {"drop_in": 0.0})

    @pytest.mark.parametrize("phi", [0.5])
    def test_learns_a_planted_partition(self, phi):
        """Smoothing of fixed strength is no help where unlike nodes are linked."""
        super().test_learns_a_planted_partition(phi)


class TestTWIRLSWithAttention(TestTWIRLS):
    base: ClassVar = TWIRLSSettings(K=4, depth=2, hidden=16, drop_in=0.1, attention="twice", tau=1.0)
    changes: ClassVar = ({"drop_in": 0.4}, {"dropout": 0.3})
