"""The spectral interval and density against all eigenvalues of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pcnet.data import csbm
from pcnet.errors import PcnetError
from pcnet.graph import Operator, _operator, spectral_density
from strategies import Edges, graphs


def both_ways(source, target, n: int) -> Edges:
    one = torch.stack([torch.as_tensor(source), torch.as_tensor(target)])
    return Edges(torch.cat([one, one.flip(0)], dim=1), n)


def hub(n: int = 400) -> Edges:
    """One node linked to all others, which have few links among themselves."""
    random = np.random.default_rng(0)
    source = np.concatenate([np.zeros(n - 1, dtype=np.int64), random.integers(1, n, n)])
    target = np.concatenate([np.arange(1, n), random.integers(1, n, n)])
    return both_ways(source, target, n)


LARGE = {
    "random": Edges(csbm(300, 0.3, average_degree=6, features=2).edge_index, 300),
    "hub": hub(),
    "path": both_ways(np.arange(199), np.arange(1, 200), 200),
    "ring": both_ways(np.arange(101), (np.arange(101) + 1) % 101, 101),
    "bipartite": both_ways(np.repeat(np.arange(40), 50), 40 + np.tile(np.arange(50), 40), 90),
    "equal components": both_ways(np.arange(120), np.arange(120) // 3 * 3 + (np.arange(120) + 1) % 3, 120),
    "pairs": both_ways(np.arange(0, 100, 2), np.arange(1, 100, 2), 100),
    "complete": both_ways(*np.triu_indices(80, 1), 80),
    "mostly isolated": both_ways([0, 1], [1, 2], 150),
    "no edges": both_ways(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64), 100),
}


@pytest.mark.parametrize("loops", ["add", "remove"])
@pytest.mark.parametrize("eta", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("name", LARGE)
def test_interval_holds_all_eigenvalues_and_little_more(name, eta, loops):
    graph = LARGE[name]
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, eta=eta, self_loops=loops, dtype=torch.float64)
    eigenvalues = np.linalg.eigvalsh(op.matrix.to_scipy().toarray())
    low, high = op.interval
    assert graph.num_nodes > _operator.DENSE_LIMIT
    slack = 1e-13 * max(1, abs(high))
    assert low <= eigenvalues[0] + slack
    assert high >= eigenvalues[-1] - slack
    length = max(1.0, eigenvalues[-1] - eigenvalues[0])
    assert eigenvalues[0] - low <= 1e-5 * length
    assert high - eigenvalues[-1] <= 1e-5 * length


@settings(max_examples=50)
@given(graphs(), st.sampled_from([0.3, 0.5, 0.8]))
def test_interval_of_small_graphs(graph, eta):
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, eta=eta, dtype=torch.float64)
    eigenvalues = np.linalg.eigvalsh(op.matrix.to_scipy().toarray())
    np.testing.assert_allclose(op.interval, [eigenvalues[0], eigenvalues[-1]], atol=1e-12)


def test_eta_below_one_half_leaves_the_unit_interval():
    op = Operator.from_edges(hub().edge_index, 400, eta=0.3)
    assert op.interval[1] > 2.5
    assert op.interval[0] < -1.5


def test_interval_of_half_stays_within_one():
    for graph in LARGE.values():
        low, high = Operator.from_edges(graph.edge_index, graph.num_nodes).interval
        assert low >= -1 - 1e-5
        assert high <= 1 + 1e-5


def test_interval_is_computed_once(monkeypatch):
    calls = []
    eigsh = scipy.sparse.linalg.eigsh
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", lambda *a, **k: calls.append(1) or eigsh(*a, **k))
    op = Operator.from_edges(LARGE["random"].edge_index, 300)
    assert op.interval == op.interval
    assert len(calls) == 2
    again = Operator.from_edges(LARGE["random"].edge_index, 300)
    assert again.interval == op.interval


def test_gershgorin_bounds_where_lanczos_fails(monkeypatch):
    def fail(*_, **__):
        raise scipy.sparse.linalg.ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    op = Operator.from_edges(LARGE["random"].edge_index, 300, dtype=torch.float64)
    eigenvalues = np.linalg.eigvalsh(op.matrix.to_scipy().toarray())
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", fail)
    low, high = op.interval
    assert -10 < low <= eigenvalues[0]
    assert eigenvalues[-1] <= high < 10


def test_a_directed_operator_has_no_interval():
    op = Operator.from_edges(torch.tensor([[0], [1]]), 2, direction="keep")
    with pytest.raises(PcnetError, match="no real spectral interval; build it with direction='symmetrise'"):
        _ = op.interval


@pytest.mark.parametrize("name", ["random", "hub", "bipartite", "path"])
@pytest.mark.parametrize("eta", [0.3, 0.5])
def test_density_is_that_of_the_eigenvalues(name, eta):
    """It integrates to one, and its integral follows the count of eigenvalues."""
    graph = LARGE[name]
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, eta=eta, dtype=torch.float64)
    matrix, (low, high) = op.matrix.to_scipy(), op.interval
    # The series lives on an interval that is 1 % longer at either end.
    margin = 0.0099 * (high - low)
    at = np.linspace(low - margin, high + margin, 4001)
    density = spectral_density(matrix, op.interval, at)
    assert (density >= 0).all()
    below = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(at))])
    assert below[-1] == pytest.approx(1, abs=0.03)
    eigenvalues = np.sort(np.linalg.eigvalsh(matrix.toarray()))
    # A step of many equal eigenvalues is smeared: compare the counts a little to either side.
    width = 0.04 * (high - low)
    lower, upper = (np.searchsorted(eigenvalues, at + shift) / len(eigenvalues) for shift in (-width, width))
    assert (below >= lower - 0.06).all()
    assert (below <= upper + 0.06).all()


def test_density_of_a_single_eigenvalue():
    graph = LARGE["no edges"]
    op = Operator.from_edges(graph.edge_index, graph.num_nodes)
    density = spectral_density(op.matrix.to_scipy(), (0.0, 2.0), np.array([0.5, 1.0, 1.5]))
    assert density[1] > 10
    assert density[0] < 0.1
    assert density[2] < 0.1
