"""ChebNet is PyG's, layer by layer, and keeps the contract of models."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings

from contracts.model_contract import ModelContract
from pcnet import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.nn import ChebNet, ChebNetSettings
from pcnet.nn.models._chebnet import chebyshev_sum
from strategies import NAMED, dense_operator, graphs, seeds


class TestChebNet(ModelContract):
    base: ClassVar = ChebNetSettings(hidden=16, terms=3, dropout=0.3)

    def settings(self) -> ChebNetSettings:
        return self.base

    def others(self) -> list[ChebNetSettings]:
        return [replace(self.base, dropout=0.0), replace(self.base, terms=2)]


@pytest.mark.parametrize("name", [name for name, graph in NAMED.items() if graph.weight is None])
@pytest.mark.parametrize("terms", [1, 2, 3, 6])
@pytest.mark.parametrize("sparse", [True, False])
def test_two_layers_of_pyg(name, terms, sparse):
    graph = NAMED[name]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    x = torch.randn(graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    model = ChebNet(5, 6, 3, terms=terms).eval()
    convs = pyg.ChebConv(5, 6, terms), pyg.ChebConv(6, 3, terms)
    with torch.no_grad():
        for conv, weight, bias in zip(convs, (model.first.weights[0], model.second), model.biases, strict=True):
            bias.normal_()
            conv.bias.copy_(bias)
            for linear, block in zip(conv.lins, weight.chunk(terms, dim=1), strict=True):
                linear.weight.copy_(block.t())
        expected = convs[1](convs[0](x, edges).relu(), edges)
        found = model(CSR.from_torch(x.to_sparse()) if sparse else x, edges)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=30)
@given(graphs(), seeds())
def test_the_sum_is_that_of_chebyshev_polynomials(graph, seed):
    """cos(k arccos) of the eigenvalues, for one run and for two side by side."""
    terms, width = 7, 3
    operator = Operator.from_edges(
        graph.edge_index, graph.num_nodes, graph.weight, self_loops="remove", dtype=torch.float64
    )
    y = np.random.default_rng(seed).standard_normal((2, graph.num_nodes, terms * width))
    s, U = np.linalg.eigh(dense_operator(graph, 0.5, self_loops="remove"))
    polynomials = [U @ np.diag(np.cos(k * np.arccos(np.clip(-s, -1, 1)))) @ U.T for k in range(terms)]
    expected = sum(T @ y[..., width * k : width * (k + 1)] for k, T in enumerate(polynomials))
    both = chebyshev_sum(operator, torch.from_numpy(y), terms)
    # arccos loses half the digits at the ends of the interval.
    np.testing.assert_allclose(both, expected, atol=1e-6)
    assert torch.equal(both[1], chebyshev_sum(operator, torch.from_numpy(y[1]), terms))


def test_fresh_weights():
    """Glorot's bound is that of a single W_k, however many stand beside it."""
    model = ChebNet(500, 16, 4, terms=5)
    assert model.first.weights[0].abs().max() <= (6 / (500 + 16)) ** 0.5
    assert model.first.weights[0].abs().max() > (6 / (500 + 16 * 5)) ** 0.5
    assert not any(bias.any() for bias in model.biases)


def test_refused():
    with pytest.raises(PcnetError, match="terms must be at least 1, not 0"):
        ChebNet(5, 6, 3, terms=0)
