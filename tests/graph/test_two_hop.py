"""Pairs two steps apart are those of a breadth-first search, normalised by their own degrees."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet._machine import free_bytes
from pcnet.errors import PcnetError
from pcnet.graph import Operator, _two_hop, two_hop
from strategies import Edges, dense_adjacency, graphs


def expected(graph: Edges, eta: float, *, symmetrised: bool = True) -> np.ndarray:
    A = dense_adjacency(graph)
    A = np.maximum(A, A.T) if symmetrised else A
    pairs = (scipy.sparse.csgraph.shortest_path(A, unweighted=True) == 2).astype(float)
    with np.errstate(divide="ignore"):
        left, right = (np.where(d > 0, d**-eta, 0.0) for d in (pairs.sum(1), pairs.sum(0)))
    return left[:, None] * pairs * right


@given(graphs(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["add", "remove", "keep"]))
def test_distance_two(graph, eta, loops):
    operator = Operator.from_edges(
        graph.edge_index, graph.num_nodes, graph.weight, eta=eta, self_loops=loops, dtype=torch.float64
    )
    found = two_hop(operator)
    np.testing.assert_allclose(found.matrix.to_dense().numpy(), expected(graph, eta), rtol=1e-12)
    assert found.symmetric
    assert _two_hop.estimated_pairs(_two_hop._near(operator)) == found.matrix.nnz


@given(graphs(directed=True))
def test_along_the_direction_of_edges(graph):
    edges = (graph.edge_index, graph.num_nodes, graph.weight)
    operator = Operator.from_edges(*edges, self_loops="remove", direction="keep", dtype=torch.float64)
    found = two_hop(operator).matrix.to_dense().numpy()
    np.testing.assert_allclose(found, expected(graph, 0.5, symmetrised=False), rtol=1e-12)


def random_operator(n: int, degree: int) -> Operator:
    ends = np.random.default_rng(0).integers(n, size=(2, n * degree // 2))
    edges = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    return Operator.from_edges(edges, n, self_loops="remove")


def test_in_parts(monkeypatch):
    """How many walks are followed at a time makes no difference; columns ascend."""
    operator, other = random_operator(700, 6), random_operator(700, 6)
    whole = two_hop(operator).matrix
    monkeypatch.setattr(_two_hop, "WALKS", 500)
    parts = two_hop(other).matrix
    for name in ("crow", "col", "values"):
        assert torch.equal(getattr(whole, name), getattr(parts, name))
    same_row = np.repeat(np.arange(700), np.diff(whole.crow.numpy()))
    assert (np.diff(whole.col.numpy())[np.diff(same_row) == 0] > 0).all()


def test_estimate():
    operator = random_operator(5000, 12)
    estimate, true = _two_hop.estimated_pairs(_two_hop._near(operator)), two_hop(operator).matrix.nnz
    assert estimate == pytest.approx(true, rel=0.05)


def test_made_once_and_forgotten_with_its_operator():
    operator = random_operator(50, 4)
    far = two_hop(operator)
    assert two_hop(operator) is far
    gone = weakref.ref(far)
    del operator, far
    gc.collect()
    assert gone() is None


def test_refused_where_it_does_not_fit():
    """Any two of a hub's neighbours are two steps apart."""
    leaves = int((2 * free_bytes() / _two_hop.GATHERED) ** 0.5) if np.isfinite(free_bytes()) else 10**7
    edges = torch.stack([torch.zeros(leaves, dtype=torch.int64), torch.arange(1, leaves + 1)])
    operator = Operator.from_edges(torch.cat([edges, edges.flip(0)], dim=1), leaves + 1, self_loops="remove")
    with pytest.raises(PcnetError, match=r"pairs of nodes are at distance two, which takes .* GB .* are free; take"):
        two_hop(operator)
