"""FAGCN is PyG's, layer by layer, and keeps the contract of models."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch
import torch_geometric.nn as pyg
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import check_stack
from pcnet.errors import PcnetError
from pcnet.experiment import method_file
from pcnet.graph import CSR, Operator
from pcnet.nn import FAGCN, FAGCNSettings
from strategies import NAMED

PLAIN = [name for name, graph in NAMED.items() if graph.weight is None]


class TestFAGCN(MethodContract):
    base: ClassVar = FAGCNSettings(hidden=16, dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"eps": 0.6})


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("sparse", [True, False])
@torch.no_grad()
def test_layers_of_pyg(name, sparse):
    graph = NAMED[name]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    edges = edges[:, edges[0] != edges[1]]
    x = torch.randn(graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    model = FAGCN(5, 6, 3, layers=3, eps=0.4).eval()
    start = h = (x @ model.first.weights[0] + model.first.biases[0]).relu()
    for own, other in model.gates:
        conv = pyg.FAConv(6, eps=0.4, add_self_loops=False).eval()
        conv.att_r.weight.copy_(own.unsqueeze(0))
        conv.att_l.weight.copy_(other.unsqueeze(0))
        h = conv(h, start, edges)
    found = model(CSR.from_torch(x.to_sparse()) if sparse else x, graph.edge_index)
    torch.testing.assert_close(found, h @ model.last + model.bias, rtol=1e-5, atol=1e-5)


def test_derivatives():
    graph = NAMED["weighted with loops and duplicates"]
    operator = Operator.from_edges(
        graph.edge_index, graph.num_nodes, graph.weight, self_loops="remove", dtype=torch.float64
    )
    model, h = FAGCN(4, 3, 2).double().eval(), columns(graph.num_nodes, 3, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: model.layers(h, operator), h)
    check_stack([FAGCN(4, 3, 2, eps=eps).double().eval() for eps in (0.1, 0.5)], columns(5, 4, 2), operator)


def test_fresh_weights():
    """Standard deviations of Glorot's, times √2, as in the authors' code."""
    model = FAGCNSettings(hidden=64, layers=40).build(500, 30, seed=0)
    for weight, ends in ((model.first.weights[0], 564), (model.gates, 129), (model.last, 94)):
        assert weight.std().item() == pytest.approx(2 / ends**0.5, rel=0.05)


def test_settings():
    entry = method_file("fagcn").defaults
    assert entry.model == FAGCNSettings(), "the defaults of the code are those of the class"
    assert "bdy9527/FAGCN" in entry.source
    with pytest.raises(PcnetError, match="layers must be at least 1, not 0"):
        FAGCNSettings(layers=0)
