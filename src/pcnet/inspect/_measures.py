"""What a graph is like besides its links, in numbers: features, classes, and frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from pcnet._checks import FloatArray
from pcnet.graph import CSR, Graph, Operator, spectral_density

#: At most this many constant columns are called by name.
NAMED = 20
#: Points at which densities are found.
POINTS = 61
#: 64 moments resolve a difference of 0.1 in frequency.
MOMENTS = 64
#: Classes are mixed by random signs into fewer signals where these would have more values than this.
SIGNAL_VALUES = 2**20
#: Below this share of labelled nodes, the gaps between them hide where the classes lie.
ENOUGH = 0.5


@dataclass(frozen=True)
class Features:
    """Of `count` columns, `constant` have one value for all nodes; `empty` nodes have nothing but zeros.

    `density` is the share of values that are not zero. `structural` says that the columns were computed from the
    edges because the nodes have none of their own.
    """

    count: int
    density: float
    constant: int
    constant_names: tuple[str, ...]
    empty: int
    structural: bool

    @staticmethod
    def of(graph: Graph) -> Features:
        x = graph.x.to_scipy() if isinstance(graph.x, CSR) else graph.x.cpu().numpy()
        low, high = x.min(axis=0), x.max(axis=0)
        if isinstance(graph.x, CSR):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        filled = np.asarray((x != 0).sum(axis=1)).ravel()
        constant, columns = np.flatnonzero(low == high), () if graph.schema is None else graph.schema.columns
        names = [name for column in columns for name in column.features]
        return Features(
            count=graph.num_features,
            density=float(filled.sum() / max(1, graph.num_nodes * graph.num_features)),
            constant=len(constant),
            constant_names=tuple(names[place] for place in constant[:NAMED] if names),
            empty=int((filled == 0).sum()),
            structural=graph.schema is not None and graph.schema.structural,
        )

    @property
    def dense(self) -> bool:
        """Whether most values are not zero: numbers rather than words or categories."""
        return self.density > 0.5


@dataclass(frozen=True)
class Classes:
    """The classes by name and how many nodes each has; `unlabelled` nodes have none."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    unlabelled: int

    @staticmethod
    def of(graph: Graph) -> Classes:
        labels = graph.y[graph.labelled]
        counts = torch.bincount(labels, minlength=graph.num_classes).tolist()
        return Classes(tuple(graph.class_names), tuple(counts), graph.num_nodes - len(labels))

    @property
    def labelled(self) -> int:
        return sum(self.counts)

    @property
    def majority(self) -> str | None:
        """The largest class."""
        return self.names[self.counts.index(max(self.counts))] if self.labelled else None

    @property
    def majority_share(self) -> float | None:
        """Its share of the labelled nodes: how often a guess that never changes is right."""
        return max(self.counts) / self.labelled if self.labelled else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "classes": len(self.names),
            "labelled": self.labelled,
            "unlabelled": self.unlabelled,
            "class_counts": dict(zip(self.names, self.counts, strict=True)),
            "majority": self.majority,
            "majority_share": self.majority_share,
        }


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
        # From −1 to 1 lie all eigenvalues of Ã for η = ½.
        density = partial(spectral_density, matrix, (-1.0, 1.0), 1.0 - at, moments=MOMENTS)
        mean = 1.0 - float(matrix.diagonal().mean())
        if reason := _without_labels(graph):
            return Frequencies(at, density(), mean, None, None, reason)
        signals = _signals(graph)
        label_mean = 1.0 - float(np.sum(signals * (matrix @ signals)) / np.sum(signals * signals))
        return Frequencies(at, density(), mean, density(signals=signals), label_mean)

    def as_dict(self) -> dict[str, Any]:
        plain = {name: each.tolist() if isinstance(each, np.ndarray) else each for name, each in vars(self).items()}
        return {**plain, "undefined": self.undefined or None}


def _without_labels(graph: Graph) -> str:
    labels = graph.y[graph.labelled]
    if len(labels.unique()) < 2:
        return "There are fewer than two classes, so they lie on no frequency."
    if len(labels) < ENOUGH * graph.num_nodes:
        return f"Only {len(labels)} of {graph.num_nodes} nodes are labelled, too few to see the classes as signals."
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
