"""Which frequencies a graph has, and on which of them its classes lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pcnet._checks import FloatArray
from pcnet.graph import Graph, Operator, spectral_density

POINTS = 61
#: 64 moments resolve a difference of 0.1 in frequency.
MOMENTS = 64
#: Classes are mixed by random signs into fewer signals where these would have more values than this.
SIGNAL_VALUES = 2**20
#: Below this share of labelled nodes, the gaps between them hide where the classes lie.
ENOUGH = 0.5


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Density of the eigenvalues λ of I − Ã, by stochastic Chebyshev moments: 0 is smooth, 2 is rough.

    `labels` is how the energy of the classes lies over the same λ, each class a signal that is 1 − share on its
    nodes and −share elsewhere; `label_mean` and `mean` are the mean λ of both. Classes below the mean are smoother
    than chance, above it rougher. Both are None, with the reason in `undefined`, where labels are too few.
    """

    at: FloatArray
    density: FloatArray
    mean: float
    labels: FloatArray | None
    label_mean: float | None
    undefined: str = ""

    @staticmethod
    def of(graph: Graph) -> Frequencies:
        matrix = Operator.from_graph(graph, dtype=torch.float64).matrix.to_scipy()
        at = np.linspace(0.0, 2.0, POINTS)
        interval = (-1.0, 1.0)  # holds all eigenvalues of Ã for η = ½

        def density(signals: FloatArray | None = None) -> FloatArray:
            return spectral_density(matrix, interval, 1.0 - at, moments=MOMENTS, signals=signals)

        mean = 1.0 - float(matrix.diagonal().mean())
        if reason := _without_labels(graph):
            return Frequencies(at, density(), mean, None, None, reason)
        signals = _signals(graph)
        label_mean = 1.0 - float(np.sum(signals * (matrix @ signals)) / np.sum(signals * signals))
        return Frequencies(at, density(), mean, density(signals), label_mean)

    def as_dict(self) -> dict[str, Any]:
        plain = {name: each.tolist() if isinstance(each, np.ndarray) else each for name, each in vars(self).items()}
        return {**plain, "undefined": self.undefined or None}


def _without_labels(graph: Graph) -> str:
    labelled = int((graph.y >= 0).sum())
    if len(graph.y[graph.y >= 0].unique()) < 2:
        return "There are fewer than two classes, so they lie on no frequency."
    if labelled < ENOUGH * graph.num_nodes:
        return f"Only {labelled} of {graph.num_nodes} nodes are labelled, too few to see the classes as signals."
    return ""


def _signals(graph: Graph) -> FloatArray:
    """One column for each class, mean zero over the labelled nodes, zero on the others."""
    labels = graph.y.cpu().numpy()
    known = np.flatnonzero(labels >= 0)
    classes, place = np.unique(labels[known], return_inverse=True)
    mixed = min(len(classes), max(2, SIGNAL_VALUES // graph.num_nodes))
    # Random signs keep the classes' energies and, in the mean, let them not disturb each other.
    turn = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(classes), mixed))
    values = (np.eye(len(classes)) if mixed == len(classes) else turn)[place]
    signals = np.zeros((graph.num_nodes, mixed))
    signals[known] = values - values.mean(axis=0)
    return signals
