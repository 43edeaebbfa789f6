"""GAT is PyG's, layer by layer, but for the differences that are shown here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings
from test_models_contract import MethodContract
from torch import Tensor
from torch.nn.functional import elu

from contracts.filter_contract import columns
from contracts.model_contract import check_stack
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph, Operator
from pcnet.nn import GAT, Draws, GATSettings
from strategies import NAMED, Edges, dense_adjacency, graphs, seeds


def operator_of(graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
    return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="fill", dtype=dtype)


def both_ways(graph: Edges) -> Tensor:
    return torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)


@torch.no_grad()
def by_pyg(model: GAT, x: Tensor, edges: Tensor) -> Tensor:
    """Two of its layers with our weights, up to where an ELU may follow."""
    for weight, attention, concat in ((model.first.weights[0], 0, True), (model.weights[0], 1, False)):
        _, heads, width = model.attention[attention].shape
        conv = pyg.GATConv(x.shape[1], width, heads, concat=concat, bias=False, negative_slope=model.settings.slope)
        conv.lin.weight.copy_(weight.t())
        conv.att_dst[0], conv.att_src[0] = model.attention[attention]
        x = conv(x, edges)
        x = elu(x) if concat else x
    return x


@pytest.mark.parametrize("name", [name for name, graph in NAMED.items() if graph.weight is None])
@pytest.mark.parametrize("out_heads", [1, 3])
@pytest.mark.parametrize("sparse", [True, False])
def test_two_layers_of_pyg(name, out_heads, sparse):
    graph = NAMED[name]
    x = columns(graph.num_nodes, 5, 0).float()
    model = GAT(5, 3, 4, heads=2, out_heads=out_heads, closing="none").eval()
    found = model(CSR.from_torch(x.to_sparse()) if sparse else x, graph.edge_index)
    torch.testing.assert_close(found, by_pyg(model, x, both_ways(graph)), rtol=1e-5, atol=1e-5)
    model.of_runs = (replace(model.settings, closing="elu"),)
    torch.testing.assert_close(model(x, graph.edge_index), elu(found), rtol=1e-5, atol=1e-5)


def test_a_repeated_edge_counts_once():
    """In PyG's layer it has a second share of the softmax."""
    edges, x = torch.tensor([[0, 1, 1, 2, 0, 1], [1, 0, 2, 1, 1, 0]]), columns(3, 5, 0).float()
    model = GAT(5, 3, 4, closing="none").eval()
    found = model(x, edges)
    torch.testing.assert_close(found, by_pyg(model, x, edges.unique(dim=1)), rtol=1e-5, atol=1e-5)
    assert (found - by_pyg(model, x, edges)).abs().max() > 1e-3


@settings(max_examples=25)
@given(graph=graphs(max_nodes=10), seed=seeds())
def test_heads_are_those_of_the_formula(graph, seed):
    """Written out densely; the weights of edges do not count, their pattern does."""
    model, z = GAT(4, 2, 3, heads=2).double().eval(), columns(graph.num_nodes, 4, seed)
    linked = dense_adjacency(graph) + np.eye(graph.num_nodes) > 0
    found = model._attend(z, model.attention[0], operator_of(graph)).detach().numpy()
    for head, (a, b) in enumerate(model.attention[0].detach().numpy().swapaxes(0, 1)):
        own = z.numpy()[:, 2 * head : 2 * head + 2]
        scores = (own @ a)[:, None] + own @ b
        powers = linked * np.exp(np.where(scores > 0, scores, model.settings.slope * scores))
        expected = powers / powers.sum(1, keepdims=True) @ own
        np.testing.assert_allclose(found[:, 2 * head : 2 * head + 2], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_large_scores_do_not_overflow(size):
    graph = NAMED["star"]
    model = GAT(4, 2, 3).eval()
    logits = model(size * columns(graph.num_nodes, 4, 0).float(), graph.edge_index)
    assert torch.isfinite(logits).all()


def test_derivatives():
    graph = NAMED["self loops"]
    model, z = GAT(4, 2, 3, heads=2).double().eval(), columns(graph.num_nodes, 4, 1).requires_grad_()
    attention = model.attention[0].detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z, a: model._attend(z, a, operator_of(graph)), (z, attention))


def test_attention_is_dropped_after_the_softmax():
    """A leaf of a star has a half of itself and of the hub; twice what is kept of them is 0, 1 or 2, not always 1."""
    graph = NAMED["star"]
    model = GAT(4, 2, 3, heads=2, drop_attention=0.5).train()
    model.draws, model._place = Draws([0], 0), 0
    with torch.no_grad():
        sums = model._attend(torch.ones(20, 4), model.attention[0], operator_of(graph, torch.float32))
    assert sums[1:].unique().tolist() == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("dropout", [0.0, 1e-9])
def test_runs_side_by_side(dropout):
    """Stacked models compute what each computes alone, and so do their gradients."""
    graph = NAMED["disconnected"]
    options: dict[str, Any] = {"heads": 2, "out_heads": 2, "dropout": dropout, "drop_attention": dropout}
    models = [GAT(4, 2, 3, **options).double() for _ in range(3)]
    check_stack(models, columns(graph.num_nodes, 4, 2), operator_of(graph))


def test_directed_edges_are_followed():
    """A node attends to those that it links to, in PyG's terms to the sources of the turned edges."""
    graph = Graph(torch.tensor([[0, 1, 3], [1, 2, 1]]), columns(4, 3, 0).float(), torch.tensor([0, 1, 0, 1]))
    settings = GATSettings(hidden=4, directed=True, closing="none")
    model = settings.build(3, 2, seed=0).eval()
    expected = by_pyg(model, graph.x, graph.edge_index.flip(0))
    torch.testing.assert_close(model(graph.x, settings.operator(graph)), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"heads": 0}, "heads must be at least 1"),
        ({"out_heads": 0}, "out_heads must be at least 1"),
        ({"closing": "relu"}, "closing cannot be 'relu'; choose from elu, none"),
        ({"drop_attention": 1.0}, "drop_attention"),
    ],
)
def test_refusals(wrong, words):
    with pytest.raises(PcnetError, match=words):
        GAT(4, 2, 3, **wrong)


class TestGAT(MethodContract):
    base: ClassVar = GATSettings(hidden=4, heads=4, dropout=0.2, drop_attention=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"drop_attention": 0.4})
