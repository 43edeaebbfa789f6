"""The block model has the degrees, homophily and feature signal that its formula promises."""

from __future__ import annotations

import math

import pytest
import torch

from pcnet.data import csbm
from pcnet.graph._homophily import edge_homophily


def test_homophily_rises_with_phi():
    values = [edge_homophily(csbm(2000, phi)) for phi in (-1, -0.5, 0, 0.5, 1)]
    assert values == sorted(values)
    assert values[2] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("classes", "degree", "phi"), [(2, 5.0, 1), (2, 5.0, -1), (4, 40.0, -0.75), (4, 12.0, 0.6)])
def test_expected_degree_and_homophily(classes, degree, phi):
    graph = csbm(3000, phi, classes=classes, features=5, average_degree=degree, seed=1)
    assert graph.edge_index.shape[1] / 3000 == pytest.approx(degree, rel=0.05)
    signal = math.sqrt(4.25) * math.sin(math.pi * phi / 2) * math.sqrt(degree)
    expected = (degree + (classes - 1) * signal) / (classes * degree)
    assert edge_homophily(graph) == pytest.approx(expected, abs=0.02)


def test_feature_signal():
    graph = csbm(4000, 0.0, features=50, seed=2)
    mean = graph.x[graph.y == 0].mean(0) - graph.x[graph.y == 1].mean(0)
    mu = math.sqrt(4000 / 50 * 4.25)
    # Classes lie 2 √(μ/n) |u| apart, and |u| is close to 1.
    assert float(mean.norm()) == pytest.approx(2 * math.sqrt(mu / 4000), rel=0.25)
    silent = csbm(4000, 1.0, features=50, seed=2)
    noise = (silent.x[silent.y == 0].mean(0) - silent.x[silent.y == 1].mean(0)).norm()
    assert float(noise) == pytest.approx(2 / math.sqrt(4000), rel=0.25)


def test_same_seed_same_graph_and_balanced_classes():
    one, two, other = (
        csbm(301, 0.3, classes=3, average_degree=30, seed=4),
        csbm(301, 0.3, classes=3, average_degree=30, seed=4),
        csbm(301, seed=5),
    )
    assert torch.equal(one.edge_index, two.edge_index)
    assert torch.equal(one.x, two.x)
    assert not torch.equal(one.edge_index, other.edge_index)
    assert sorted(torch.bincount(one.y).tolist()) == [100, 100, 101]
    assert not bool((one.edge_index[0] == one.edge_index[1]).any())
