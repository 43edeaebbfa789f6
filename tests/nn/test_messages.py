"""Weighted sums over neighbours and dot products of neighbours: each is the other's derivative."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from contracts.filter_contract import columns
from pcnet.graph import CSR, Operator
from pcnet.propagate import entry_dots, weighted_sums
from pcnet.propagate._messages import CHUNK
from strategies import Edges, graphs, seeds


def pattern_of(graph: Edges) -> CSR:
    weights = (graph.edge_index, graph.num_nodes, graph.weight)
    return Operator.from_edges(*weights, self_loops="keep", direction="keep", dtype=torch.float64).matrix


def ends(pattern: CSR) -> tuple[Tensor, Tensor]:
    row, column = pattern.to_scipy().nonzero()
    return torch.from_numpy(row).long(), torch.from_numpy(column).long()


@pytest.mark.parametrize("heads", [1, 3])
@settings(max_examples=25)
@given(graph=graphs(max_nodes=12, directed=True), seed=seeds())
def test_entry_by_entry(heads, graph, seed):
    pattern, n = pattern_of(graph), graph.num_nodes
    x, y = columns(n, 2 * heads, seed), columns(n, 2 * heads, seed + 1)
    weights = columns(max(pattern.nnz, 1), heads, seed + 2)[: pattern.nnz]
    dots, sums = torch.zeros(pattern.nnz, heads).double(), torch.zeros(n, 2 * heads).double()
    for e, (i, j) in enumerate(zip(*ends(pattern), strict=True)):
        for h in range(heads):
            own = slice(2 * h, 2 * h + 2)
            dots[e, h] = x[i, own] @ y[j, own]
            sums[i, own] += weights[e, h] * x[j, own]
    torch.testing.assert_close(entry_dots(pattern, x, y, heads), dots, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(weighted_sums(pattern, weights, x), sums, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("runs", [None, 2])
def test_derivatives(runs):
    edges = torch.tensor([[0, 1, 2, 2, 4, 3], [1, 2, 0, 3, 3, 3]])
    pattern = pattern_of(Edges(edges, 5))
    shape = () if runs is None else (runs,)
    x, y, weights = (
        torch.randn(
            *shape, rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(rows + width)
        ).requires_grad_()
        for rows, width in ((5, 4), (5, 4), (pattern.nnz, 2))
    )
    assert torch.autograd.gradcheck(lambda w, x: weighted_sums(pattern, w, x), (weights, x))
    assert torch.autograd.gradcheck(lambda x, y: entry_dots(pattern, x, y, 2), (x, y))


def test_more_entries_than_a_chunk():
    n = 300
    edges = torch.cartesian_prod(torch.arange(n), torch.arange(n))[: CHUNK + 5000].t()
    pattern = pattern_of(Edges(edges.contiguous(), n)).to(torch.float32)
    x, y = (torch.randn(n, 8, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    rows, cols = ends(pattern)
    expected = (x[rows] * y[cols]).unflatten(-1, (2, 4)).sum(-1)
    assert pattern.nnz > CHUNK
    torch.testing.assert_close(entry_dots(pattern, x, y, 2), expected, rtol=1e-5, atol=1e-5)
