"""Degrees and a spectral embedding, where nodes have no features."""

from __future__ import annotations

import networkx
import numpy as np
import scipy.linalg
import torch
from threadpoolctl import threadpool_limits

from pcnet import csbm, graph_from_networkx, graph_from_scipy
from pcnet.data.own import _build


def test_degrees_and_eigenvectors():
    network = networkx.les_miserables_graph()
    adjacency = networkx.to_numpy_array(network, weight=None)
    x = graph_from_scipy(adjacency).x.double().numpy()
    degree = adjacency.sum(1)
    logs = np.log1p(degree)
    assert np.allclose(x[:, 0], (logs - logs.mean()) / logs.std(), atol=1e-6)
    scaled = adjacency / np.sqrt(np.outer(degree, degree))
    values = scipy.linalg.eigvalsh(scaled)[::-1][:8]
    embedding = x[:, 1:] / np.sqrt(len(x))
    assert np.allclose(scaled @ embedding, embedding * values, atol=1e-6)
    assert np.allclose(embedding.T @ embedding, np.eye(8), atol=1e-6)
    assert (embedding.max(0) >= -embedding.min(0)).all()


def test_larger_graphs_are_iterated(monkeypatch):
    """The leading vectors of a graph with four communities span what exact ones span."""
    graph = csbm(n=600, classes=4, average_degree=20, phi=1.0, seed=1)
    exact, _ = _build.structural_features(graph.edge_index, 600, None)
    monkeypatch.setattr(_build, "_SMALL", 10)
    near, schema = _build.structural_features(graph.edge_index, 600, None)
    assert schema.width == near.shape[1] == 9
    angles = np.linalg.svd((near[:, 1:5].T @ exact[:, 1:5]).double().numpy() / 600)[1]
    assert angles.min() > 0.99


def test_the_same_in_every_run_and_with_every_number_of_threads():
    graph = csbm(n=1_200, seed=1)
    with threadpool_limits(1):
        once, _ = _build.structural_features(graph.edge_index, 1_200, None)
    with threadpool_limits(2):
        again, _ = _build.structural_features(graph.edge_index, 1_200, None)
    assert torch.equal(once, again)


def test_tiny_graphs():
    for nodes in (1, 2, 5):
        graph = graph_from_networkx(networkx.empty_graph(nodes))
        assert graph.num_features == 1 + nodes
