"""GCN is PyG's, layer by layer."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg

from pcnet.graph import CSR
from pcnet.nn import GCN
from strategies import NAMED


@pytest.mark.parametrize("name", [name for name, graph in NAMED.items() if graph.weight is None])
@pytest.mark.parametrize("sparse", [True, False])
def test_two_layers_of_pyg(name, sparse):
    graph = NAMED[name]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    x = torch.randn(graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    model = GCN(5, 6, 3).eval()
    first, second = pyg.GCNConv(5, 6), pyg.GCNConv(6, 3)
    with torch.no_grad():
        for conv, weight, bias in ((first, model.first.weights[0], 0), (second, model.weights[0], 1)):
            model.biases[bias].normal_()
            conv.lin.weight.copy_(weight.t())
            conv.bias.copy_(model.biases[bias])
        expected = second(first(x, edges).relu(), edges)
        found = model(CSR.from_torch(x.to_sparse()) if sparse else x, edges)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
