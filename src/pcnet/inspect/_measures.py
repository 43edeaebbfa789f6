"""What a graph is like, in numbers: links, features, classes, how much links agree with them, and frequencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import torch
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.errors import PcnetError
from pcnet.graph import (
    CSR,
    Graph,
    Operator,
    adjusted_homophily,
    class_homophily,
    edge_homophily,
    label_informativeness,
    node_homophily,
    spectral_density,
)

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
MEASURES: dict[str, Callable[..., float]] = {
    "edge": edge_homophily,
    "node": node_homophily,
    "class_insensitive": class_homophily,
    "adjusted": adjusted_homophily,
    "label_informativeness": label_informativeness,
}


@dataclass(frozen=True)
class Degrees:
    """Numbers of distinct neighbours; `histogram[i]` nodes have 2^(i−1) to 2^i − 1 of them, `histogram[0]` none."""

    min: int
    median: float
    mean: float
    max: int
    histogram: tuple[int, ...]

    @staticmethod
    def of(degree: np.ndarray) -> Degrees:
        # frexp writes d = m·2^e with ½ ≤ m < 1, so that e is 0 for none, 1 for 1, 2 for 2 and 3, 3 for 4 to 7, …
        histogram = tuple(np.bincount(np.frexp(degree)[1]).tolist())
        return Degrees(int(degree.min()), float(np.median(degree)), float(degree.mean()), int(degree.max()), histogram)


@dataclass(frozen=True)
class Links:
    """Counts of nodes and edges.

    `edges` are undirected, each once, without the `self_loops`; `duplicates` are entries of the list that repeat an
    earlier one; `reciprocal` is the share of directed edges whose reverse is listed too (None: there are no edges);
    `isolated` nodes have no neighbour but perhaps themselves; `largest_component` is its share of the nodes.
    """

    nodes: int
    edges: int
    self_loops: int
    duplicates: int
    reciprocal: float | None
    isolated: int
    components: int
    largest_component: float
    degrees: Degrees


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The pattern of a graph: `matrix[i, j]` is true where i ≠ j are linked, in either direction."""

    matrix: scipy.sparse.csr_matrix
    links: Links

    @staticmethod
    def of(graph: Graph) -> Neighbours:
        n = graph.num_nodes
        source, target = graph.edge_index.cpu().numpy()
        listed = scipy.sparse.csr_matrix((np.ones(len(source), dtype=bool), (source, target)), shape=(n, n))
        listed.sum_duplicates()
        duplicates = len(source) - listed.nnz
        self_loops = int(listed.diagonal().sum())
        listed.setdiag(False)
        listed.eliminate_zeros()
        matrix = (listed + listed.T).tocsr()
        matrix.sort_indices()
        degree = np.diff(matrix.indptr)
        components, member_of = scipy.sparse.csgraph.connected_components(matrix, directed=False)
        links = Links(
            nodes=n,
            edges=matrix.nnz // 2,
            self_loops=self_loops,
            duplicates=duplicates,
            # Of d directed edges, u linked pairs need 2u − d more to be there both ways.
            reciprocal=None if listed.nnz == 0 else 2.0 - matrix.nnz / listed.nnz,
            isolated=int((degree == 0).sum()),
            components=int(components),
            largest_component=float(np.bincount(member_of).max() / n),
            degrees=Degrees.of(degree),
        )
        return Neighbours(matrix, links)

    @property
    def edge_index(self) -> Tensor:
        """Every edge once, from its lower end to its higher one, in the order of both."""
        source, target = self.matrix.nonzero()
        once = source < target
        return torch.from_numpy(np.stack([source[once], target[once]]).astype(np.int64))


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
        labels = graph.y[graph.y >= 0]
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


@dataclass(frozen=True)
class Homophily:
    """Five measures, self loops left out; one that is undefined is None, and `undefined` says why."""

    edge: float | None
    node: float | None
    class_insensitive: float | None
    adjusted: float | None
    label_informativeness: float | None
    undefined: dict[str, str]

    @staticmethod
    def of(graph: Graph, neighbours: Neighbours) -> Homophily:
        # Loops would count a node as its own neighbour, of its own class: Texas has 0.06 without its 16, 0.11 with.
        simple = replace(graph, edge_index=neighbours.edge_index, edge_weight=None)
        values: dict[str, float | None] = dict.fromkeys(MEASURES)
        undefined = {}
        for name, measure in MEASURES.items():
            try:
                values[name] = measure(simple, loops=False)
            except PcnetError as error:
                undefined[name] = str(error)
        return Homophily(**values, undefined=undefined)

    def as_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in MEASURES}
        return {"homophily": values, "homophily_undefined": dict(self.undefined)}


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
    labels = graph.y[graph.y >= 0]
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
