"""Densities of eigenvalues and of classes against all eigenvectors of dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet import Operator, csbm
from pcnet.graph import spectral_density
from pcnet.inspect import Frequencies, _measures

GRAPHS = {phi: csbm(300, phi, classes=3, average_degree=16, features=2, epsilon=2.0) for phi in (-0.6, 0.0, 0.9)}


def decomposition(graph) -> tuple[np.ndarray, np.ndarray]:
    matrix = Operator.from_graph(graph, dtype=torch.float64).matrix.to_scipy().toarray()
    return np.linalg.eigh(np.eye(len(matrix)) - matrix)


def share_below(at: np.ndarray, density: np.ndarray, limit: float) -> float:
    steps = (density[1:] + density[:-1]) / 2 * np.diff(at)
    return float(steps[at[1:] <= limit + 1e-12].sum() / steps.sum())


@pytest.mark.parametrize("phi", GRAPHS)
def test_means_are_exact(phi):
    found = Frequencies.of(GRAPHS[phi])
    lam, U = decomposition(GRAPHS[phi])
    assert found.mean == pytest.approx(lam.mean(), abs=1e-12)
    one_hot = np.eye(3)[GRAPHS[phi].y.numpy()]
    energy = np.square(U.T @ (one_hot - one_hot.mean(axis=0))).sum(axis=1)
    assert found.label_mean == pytest.approx(energy @ lam / energy.sum(), abs=1e-12)


@pytest.mark.parametrize("phi", GRAPHS)
def test_densities_follow_the_eigenvalues_and_the_energy(phi):
    found = Frequencies.of(GRAPHS[phi])
    lam, U = decomposition(GRAPHS[phi])
    one_hot = np.eye(3)[GRAPHS[phi].y.numpy()]
    energy = np.square(U.T @ (one_hot - one_hot.mean(axis=0))).sum(axis=1)
    for limit in (0.4, 0.8, 1.2, 1.6):
        # The kernel smears a step by a tenth to either side.
        for density, weight in ((found.density, np.ones(len(lam))), (found.labels, energy)):
            below = share_below(found.at, density, limit)
            lower, upper = (weight[lam <= limit + shift].sum() / weight.sum() for shift in (-0.12, 0.12))
            assert lower - 0.04 <= below <= upper + 0.04


def test_classes_are_smooth_or_rough_as_planted():
    means = [Frequencies.of(graph) for graph in GRAPHS.values()]
    rough, chance, smooth = (found.label_mean / found.mean for found in means)
    assert rough > 1.1 > chance > 0.9 > smooth


def test_mixed_signals_have_the_same_energy_as_their_classes(monkeypatch):
    """Of many classes random mixtures stand in for all."""
    graph = csbm(2000, 0.8, classes=20, average_degree=60, features=1, epsilon=1.0)
    whole = Frequencies.of(graph)
    monkeypatch.setattr(_measures, "SIGNAL_VALUES", 8 * graph.num_nodes)
    mixed = Frequencies.of(graph)
    assert mixed.label_mean == pytest.approx(whole.label_mean, abs=0.05)
    assert np.abs(mixed.labels - whole.labels).max() < 0.15 * whole.labels.max()


def test_an_eigenvector_as_signal_has_one_peak():
    lam, U = decomposition(GRAPHS[0.9])
    matrix = Operator.from_graph(GRAPHS[0.9], dtype=torch.float64).matrix.to_scipy()
    at = np.linspace(0, 2, 201)
    for place in (1, 150, 299):
        density = spectral_density(matrix, (-1.0, 1.0), 1 - at, signals=U[:, [place]])
        assert at[density.argmax()] == pytest.approx(lam[place], abs=0.03)


@pytest.mark.parametrize(
    ("labels", "reason"), [(lambda y: y * 0, "fewer than two classes"), (lambda y: _hide(y), "Only 100 of 300 nodes")]
)
def test_classes_that_cannot_be_seen(labels, reason):
    found = Frequencies.of(replace(GRAPHS[0.0], y=labels(GRAPHS[0.0].y)))
    assert (found.labels, found.label_mean) == (None, None)
    assert reason in found.undefined
    assert found.density.max() > 0


def _hide(y: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.arange(len(y)) < 100, y, -1)
