"""Balance and homophily of the classes: by hand, on known graphs, and where a measure is undefined."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch

import pcnet
from pcnet import Graph
from pcnet.graph import MEASURES, Homophily, Neighbours
from pcnet.inspect import Classes

PATH = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 3], [1, 0, 2, 1, 3, 2, 3, 3]])


def graph(y: list[int], edge_index: torch.Tensor = PATH, **more) -> Graph:
    return Graph(edge_index, torch.zeros(len(y), 1), torch.tensor(y), **more)


def homophily(of: Graph) -> Homophily:
    return Homophily.of(of, Neighbours.of(of))


def test_balance_by_hand():
    classes = Classes.of(graph([2, 0, 2, -1], classes=("red", "green", "blue")))
    assert (classes.counts, classes.labelled, classes.unlabelled) == ((1, 0, 2), 3, 1)
    assert (classes.majority, classes.majority_share) == ("blue", pytest.approx(2 / 3))
    assert classes.as_dict()["class_counts"] == {"red": 1, "green": 0, "blue": 2}


def test_homophily_by_hand():
    """The path 0-1-2-3 with classes a a b b: two of three links agree; the loop at node 3 does not count."""
    found = homophily(graph([0, 0, 1, 1]))
    assert found.edge == pytest.approx(2 / 3)
    assert found.node == pytest.approx((1 + 1 / 2 + 1 / 2 + 1) / 4)
    assert found.class_insensitive == pytest.approx(2 * (2 / 3 - 1 / 2))
    assert found.adjusted == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert found.undefined == {}


def test_loops_and_weights_and_listing_change_nothing():
    plain = graph([0, 1, 1, 0, 0], torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]))
    both = torch.cat([plain.edge_index, plain.edge_index.flip(0), torch.tensor([[2, 2, 0], [2, 2, 1]])], dim=1)
    other = replace(plain, edge_index=both, edge_weight=torch.arange(1.0, both.shape[1] + 1))
    assert homophily(other) == homophily(plain)


@pytest.mark.parametrize(
    ("y", "undefined", "reason"),
    [
        ([-1, -1, -1, -1], set(MEASURES), "No edge links two labelled nodes"),
        ([0, -1, 1, -1], set(MEASURES), "No edge links two labelled nodes"),
        ([0, 0, 0, 0], set(MEASURES) - {"node"}, "all labelled nodes are of one class"),
        ([0, 0, -1, 1], {"adjusted", "label_informativeness"}, "All edges lie inside one class"),
    ],
)
def test_what_is_undefined_is_none_with_a_reason(y, undefined, reason):
    found = homophily(graph(y))
    assert set(found.undefined) == undefined
    assert all(reason in sentence for sentence in found.undefined.values())
    assert {name for name in MEASURES if getattr(found, name) is None} == undefined
    assert set(found.as_dict()["homophily"]) == set(MEASURES)


@pytest.mark.skipif("PCNET_DATA" not in os.environ, reason="PCNET_DATA is not set: no real data to test with")
@pytest.mark.parametrize(("name", "edge", "adjusted"), [("cora", 0.810, 0.771), ("texas", 0.061, -0.294)])
def test_values_of_the_literature(name, edge, adjusted):
    """Cora: Platonov et al. (2023) print 0.81 and 0.77."""
    found = homophily(pcnet.load_dataset(name))
    assert found.edge == pytest.approx(edge, abs=5e-4)
    assert found.adjusted == pytest.approx(adjusted, abs=5e-4)
