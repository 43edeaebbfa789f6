"""Generated graphs are what they say they are."""

from __future__ import annotations

import pytest
import torch
from benchmarks.graphs import Sample, random_graph
from hypothesis import given
from hypothesis import strategies as st

from pcnet.data import csbm
from pcnet.graph import Operator


@given(st.integers(2, 200), st.integers(1, 12), st.integers(0, 5))
def test_is_the_operator_of_its_edges(nodes: int, degree: int, seed: int):
    sample = random_graph(nodes, degree, seed)
    edges = sample.edge_index
    assert (edges[0] != edges[1]).all()
    expected = Operator.from_edges(edges, nodes, eta=0.5).matrix
    found = sample.operator.matrix
    assert torch.equal(found.crow, expected.crow)
    assert torch.equal(found.col, expected.col)
    torch.testing.assert_close(found.values, expected.values, rtol=1e-6, atol=0)


def test_symmetric():
    dense = random_graph(300).operator.matrix.to_dense()
    torch.testing.assert_close(dense, dense.t(), rtol=0, atol=0)


@pytest.mark.parametrize("nodes", [2_000, 50_000])
def test_degree_and_no_locality(nodes: int):
    sample = random_graph(nodes)
    assert sample.entries == sample.operator.matrix.nnz == sample.edge_index.shape[1] + nodes
    assert (sample.entries - nodes) / nodes == pytest.approx(20, rel=0.02)
    degrees = sample.operator.matrix.crow.diff().double() - 1
    assert float(degrees.var()) == pytest.approx(20, rel=0.1)  # as of independent links
    # Uniform neighbours are a third of the graph away, on average.
    distance = (sample.edge_index[0] - sample.edge_index[1]).abs().double().mean()
    assert float(distance) == pytest.approx(nodes / 3, rel=0.02)


def test_same_seed_same_graph():
    random_graph.cache_clear()
    first = random_graph(1000, seed=1).operator.matrix
    random_graph.cache_clear()
    again, other = (random_graph(1000, seed=seed).operator.matrix for seed in (1, 2))
    assert torch.equal(first.col, again.col)
    assert torch.equal(first.values, again.values)
    assert first.nnz != other.nnz or not torch.equal(first.col, other.col)


def test_a_graph_of_ones_own_keeps_its_list_of_edges():
    graph = csbm(100, seed=0)
    sample = Sample.of(graph, 0.5)
    assert sample.edge_index is graph.edge_index
    assert sample.nodes == 100
    assert sample.entries == graph.edge_index.shape[1] + 100
