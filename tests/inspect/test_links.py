"""Counts of nodes and edges: by hand, and against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given

from pcnet import Graph
from pcnet.graph import Neighbours
from strategies import Edges, graphs


def links_of(edges: Edges):
    return Neighbours.of(as_graph(edges)).links


def as_graph(edges: Edges) -> Graph:
    return Graph(edges.edge_index, torch.zeros(edges.num_nodes, 1), torch.zeros(edges.num_nodes, dtype=torch.int64))


def test_by_hand():
    """A triangle, a pair, a node with only a loop, and one without anything; one edge twice, one one-way."""
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 1), (3, 4), (4, 3), (5, 5), (0, 0)]
    links = links_of(Edges(torch.tensor(pairs).t(), 7))
    assert (links.nodes, links.edges, links.self_loops, links.duplicates) == (7, 4, 2, 1)
    assert (links.isolated, links.components, links.largest_component) == (2, 4, pytest.approx(3 / 7))
    assert links.reciprocal == pytest.approx(6 / 7)
    degrees = links.degrees
    assert (degrees.min, degrees.median, degrees.max, degrees.mean) == (0, 1, 2, pytest.approx(8 / 7))
    assert degrees.histogram == (2, 2, 3)


def test_no_edges():
    links = links_of(Edges(torch.empty(2, 0, dtype=torch.int64), 3))
    assert (links.edges, links.isolated, links.components, links.reciprocal) == (0, 3, 3, None)
    assert links.degrees.histogram == (3,)


def test_places_of_the_histogram():
    """Stars with 1, 2, 3, 4, 7 and 8 rays: their centres lie in the places 1, 2, 2, 3, 3 and 4."""
    pairs, next_node = [], 0
    for rays in (1, 2, 3, 4, 7, 8):
        pairs += [(next_node, next_node + ray) for ray in range(1, rays + 1)]
        next_node += rays + 1
    assert links_of(Edges(torch.tensor(pairs).t(), next_node)).degrees.histogram == (0, 1 + 25, 2, 2, 1)


@given(graphs(directed=True))
def test_against_networkx(edges):
    listed = [tuple(pair) for pair in edges.edge_index.t().tolist()]
    directed = networkx.DiGraph()
    directed.add_nodes_from(range(edges.num_nodes))
    directed.add_edges_from(listed)
    links = links_of(edges)
    assert links.duplicates == len(listed) - directed.number_of_edges()
    assert links.self_loops == networkx.number_of_selfloops(directed)
    directed.remove_edges_from([pair for pair in listed if pair[0] == pair[1]])
    undirected = directed.to_undirected()
    assert links.edges == undirected.number_of_edges()
    assert links.isolated == networkx.number_of_isolates(undirected)
    parts = [len(part) for part in networkx.connected_components(undirected)]
    assert (links.components, links.largest_component) == (len(parts), max(parts) / edges.num_nodes)
    degree = [count for _, count in undirected.degree]
    assert (links.degrees.min, links.degrees.max) == (min(degree), max(degree))
    assert (links.degrees.median, links.degrees.mean) == (np.median(degree), pytest.approx(np.mean(degree)))
    assert sum(links.degrees.histogram) == edges.num_nodes
    if directed.number_of_edges():
        assert links.reciprocal == pytest.approx(networkx.overall_reciprocity(directed))
    pairs = Neighbours.of(as_graph(edges)).edge_index.t().tolist()
    assert pairs == sorted([min(pair), max(pair)] for pair in undirected.edges)
