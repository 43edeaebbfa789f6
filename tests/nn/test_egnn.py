"""EGNN is its layers, written out densely, and its penalty keeps them near the identity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import EGNN, EGNNSettings
from strategies import NAMED, dense_operator


def random_model(layers: int = 3, seed: int = 0, **rest: float) -> EGNN:
    model = EGNN(4, 5, 3, layers=layers, c_min=0.3, beta=0.12, c_max=0.8, shift=-0.2, **rest).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


@pytest.mark.parametrize("name", NAMED)
def test_layers_are_those_of_the_formula(name):
    graph, model = NAMED[name], random_model()
    x = columns(graph.num_nodes, 4, 1)
    S = dense_operator(graph, 0.5, "fill")
    first, last = (p.detach().numpy() for p in (model.first.weights[0], model.last))
    weights, shifts = model.weights.detach().numpy(), model.shifts.detach().numpy()
    H0 = H = np.maximum(x.numpy() @ first + model.first.biases[0].detach().numpy(), 0)
    for W, s in zip(weights, shifts, strict=True):
        inside = ((1 - 0.3) * S @ H + (0.3 - 0.12) * H + 0.12 * H0) @ W
        H = np.maximum(inside - s, 0) + s
    expected = H @ last + model.bias.detach().numpy()
    np.testing.assert_allclose(model(x, graph.edge_index, graph.weight).detach().numpy(), expected, atol=1e-6)


def test_begins_without_a_penalty_and_without_its_derivative():
    model = EGNN(4, 5, 3, layers=3, c_max=0.25)
    torch.testing.assert_close(model.weights[0], 0.5 * torch.eye(5))
    torch.testing.assert_close(model.weights[2], torch.eye(5))
    model.penalty().backward()
    assert model.penalty() == 0
    assert torch.equal(model.weights.grad, torch.zeros_like(model.weights))


def test_penalty_is_the_sum_of_norms_over_layers_and_runs():
    models = [random_model(seed=seed, loss_weight=7.0) for seed in range(2)]
    centres = np.stack([0.8**0.5 * np.eye(5), np.eye(5), np.eye(5)])
    expected = [
        7 * sum(np.linalg.norm(W - C) for W, C in zip(model.weights.detach().numpy(), centres, strict=True))
        for model in models
    ]
    np.testing.assert_allclose([model.penalty().item() for model in models], expected, rtol=1e-6)
    np.testing.assert_allclose(EGNN.stack(models).penalty().item(), sum(expected), rtol=1e-6)


def test_runs_side_by_side():
    graph, models = NAMED["star"], [random_model(seed=seed) for seed in range(3)]
    operator = Operator.from_edges(graph.edge_index, graph.num_nodes, self_loops="fill", dtype=torch.float64)
    x = columns(graph.num_nodes, 4, 2)
    for model, found in zip(models, EGNN.stack(models)(x, operator), strict=True):
        torch.testing.assert_close(found, model(x, operator), rtol=1e-10, atol=1e-10)


def test_refuses_no_layers():
    with pytest.raises(PcnetError, match="layers"):
        EGNN(4, 5, 3, layers=0)


class TestEGNN(MethodContract):
    base: ClassVar = EGNNSettings(hidden=16, layers=4, dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0, "c_min": 0.5}, {"drop_out": 0.5})

    @pytest.mark.parametrize("phi", [0.5])
    def test_learns_a_planted_partition(self, phi):
        """Weights near the identity smooth: no help where unlike nodes are linked."""
        super().test_learns_a_planted_partition(phi)
