"""Homophily measures against PyG and against their definitions, written out densely."""

from __future__ import annotations

import math

import pytest
import torch
from torch_geometric.utils import homophily

from pcnet.data import csbm
from pcnet.errors import PcnetError
from pcnet.graph import Graph
from pcnet.graph._homophily import (
    adjusted_homophily,
    class_homophily,
    edge_homophily,
    label_informativeness,
    node_homophily,
)

MEASURES = (edge_homophily, node_homophily, class_homophily, adjusted_homophily, label_informativeness)


@pytest.fixture(params=[(2, -0.6), (3, 0.4), (5, 0.2)], ids=str)
def graph(request) -> Graph:
    classes, phi = request.param
    return csbm(200, phi, classes=classes, average_degree=25, features=2, seed=7)


def dense(graph: Graph) -> torch.Tensor:
    adjacency = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    adjacency[graph.edge_index[0], graph.edge_index[1]] = 1
    return adjacency


def test_equal_to_pyg(graph):
    edges, y = graph.edge_index, graph.y
    assert edge_homophily(graph) == pytest.approx(homophily(edges, y, method="edge"), abs=1e-6)
    assert node_homophily(graph) == pytest.approx(homophily(edges, y, method="node"), abs=1e-6)
    assert class_homophily(graph) == pytest.approx(homophily(edges, y, method="edge_insensitive"), abs=1e-6)


def test_adjusted_is_the_assortativity_of_its_definition(graph):
    adjacency, one_hot = dense(graph), torch.nn.functional.one_hot(graph.y).double()
    degree = adjacency.sum(1)
    chance = float(((one_hot.T @ degree) / degree.sum()).square().sum())
    agree = float((adjacency * (one_hot @ one_hot.T)).sum() / degree.sum())
    assert adjusted_homophily(graph) == pytest.approx((agree - chance) / (1 - chance), abs=1e-12)


def test_informativeness_is_mutual_information_over_entropy(graph):
    one_hot = torch.nn.functional.one_hot(graph.y).double()
    joint = one_hot.T @ dense(graph) @ one_hot
    joint = (joint / joint.sum()).tolist()
    marginal = [sum(row) for row in joint]
    mutual = sum(
        p * math.log(p / (marginal[a] * marginal[b])) for a, row in enumerate(joint) for b, p in enumerate(row) if p
    )
    entropy = -sum(p * math.log(p) for p in marginal)
    assert label_informativeness(graph) == pytest.approx(mutual / entropy, abs=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_direction_repetition_and_unlabelled_nodes_do_not_matter(measure, graph):
    upper = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    extra = torch.tensor([[0, 200, 200], [200, 1, 200]])
    edges = torch.cat([upper, upper[:, :50].flip(0), upper[:, :9], extra], 1)
    y = torch.cat([graph.y, torch.tensor([-1])])
    other = Graph(edges, torch.ones(201, 1), y)
    assert measure(other) == pytest.approx(measure(graph), abs=1e-12)


def test_loops_are_edges_unless_left_out():
    edges = torch.tensor([[0, 1, 0, 1, 2], [1, 0, 0, 2, 1]])
    graph = Graph(edges, torch.ones(3, 1), torch.tensor([0, 1, 1]))
    assert edge_homophily(graph) == pytest.approx(2 / 3)
    assert edge_homophily(graph, loops=False) == pytest.approx(1 / 2)
    assert node_homophily(graph) == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert node_homophily(graph, loops=False) == pytest.approx((0 + 1 / 2 + 1) / 3)


def test_extremes():
    bipartite = Graph(torch.tensor([[0, 0, 1], [2, 3, 3]]), torch.ones(4, 1), torch.tensor([0, 0, 1, 1]))
    assert edge_homophily(bipartite) == class_homophily(bipartite) == node_homophily(bipartite) == 0
    assert adjusted_homophily(bipartite) == pytest.approx(-1)
    assert label_informativeness(bipartite) == pytest.approx(1)


@pytest.mark.parametrize("measure", MEASURES)
def test_no_labelled_edge(measure):
    graph = Graph(torch.tensor([[0], [1]]), torch.ones(3, 1), torch.tensor([0, -1, 1]))
    with pytest.raises(PcnetError, match="No edge links two labelled nodes"):
        measure(graph)


@pytest.mark.parametrize("measure", [edge_homophily, class_homophily, adjusted_homophily, label_informativeness])
def test_one_class(measure):
    graph = Graph(torch.tensor([[0], [1]]), torch.ones(3, 1), torch.tensor([0, 0, 0]))
    with pytest.raises(PcnetError, match="one class"):
        measure(graph)


@pytest.mark.parametrize("measure", [adjusted_homophily, label_informativeness])
def test_edges_inside_one_class(measure):
    graph = Graph(torch.tensor([[0], [1]]), torch.ones(3, 1), torch.tensor([0, 0, 1]))
    with pytest.raises(PcnetError, match="inside one class"):
        measure(graph)
