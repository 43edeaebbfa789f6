"""Who the neighbours of a node are, and what that has to do with getting it right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet.compare import wilson
from pcnet.graph import Graph
from pcnet.inspect import Homophily, Neighbours
from pcnet.show._tally import Tally

#: Shares of like neighbours are sorted into as many equally wide bins.
SHARES = 5
#: Degrees 1, 2, 3–4, 5–8, … up to this power of two; the last bin takes all above.
DOUBLINGS = 7


#: What each measure of homophily says.
MEANINGS = {
    "edge": "share of edges that link two nodes of one class",
    "node": "mean over nodes of the share of neighbours of their own class",
    "class_insensitive": "how far classes exceed chance in linking to themselves; 0 is chance",
    "adjusted": "edge homophily corrected for chance; 0 is chance, 1 all edges agree",
    "label_informativeness": "how much a neighbour's class says about one's own; 1 is all",
}


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Each node's neighbours, either direction of an edge, each once and never the node itself, by class."""

    #: Number of such edges, and how much they agree with the classes.
    edges: int
    homophily: Homophily
    #: (n, C), sparse: how many neighbours of each class a node has; unlabelled ones are in `degree` alone.
    by_class: scipy.sparse.csr_matrix
    degree: NDArray[np.int64]
    #: (C, C): of edge ends of class k, how many have an end of class l on the other side.
    mixing: NDArray[np.int64]
    #: The share of a node's labelled neighbours that are of its class; NaN without such neighbours or a label.
    likeness: NDArray[np.float64]

    @staticmethod
    def of(graph: Graph) -> Surroundings:
        """With A the adjacency and Y the labels as indicators: A·Y, A·1 and Yᵀ·A·Y."""
        neighbours, y = Neighbours.of(graph), graph.y.cpu().numpy()
        known = np.flatnonzero(y >= 0)
        indicator = scipy.sparse.csr_matrix(
            (np.ones(len(known), dtype=np.int32), (known, y[known])), shape=(graph.num_nodes, graph.num_classes)
        )
        by_class = (neighbours.matrix.astype(np.int32) @ indicator).tocsr()
        labelled, like = (np.asarray(each.sum(axis=1)).ravel() for each in (by_class, by_class.multiply(indicator)))
        defined = (labelled > 0) & (y >= 0)
        return Surroundings(
            neighbours.links.edges,
            Homophily.of(graph, neighbours),
            by_class,
            np.diff(neighbours.matrix.indptr).astype(np.int64),
            (indicator.T @ by_class).toarray().astype(np.int64),
            np.where(defined, like / np.maximum(labelled, 1), np.nan),
        )


def measure_name(name: str) -> str:
    """The name of a measure of homophily as people write it."""
    return name.replace("class_", "class-").replace("_", " ")


@dataclass(frozen=True)
class Bin:
    """Nodes that are alike in some way, how often they were right, in percent, and its 95 % interval."""

    label: str
    nodes: int
    accuracy: float
    interval: tuple[float, float]


def by_likeness(results: Tally, around: Surroundings) -> list[Bin]:
    """Accuracy by the share of neighbours of a node's own class; only nodes with labelled neighbours."""
    edges = np.linspace(0, 100, SHARES + 1).astype(int)
    labels = [f"{low}–{high} %" for low, high in itertools.pairwise(edges)]
    defined = np.isfinite(around.likeness)
    # Rounded first: three neighbours of five are 60 %, whatever the floats say.
    place = np.floor(np.round(np.where(defined, around.likeness, 0) * SHARES, 9)).astype(np.int64)
    return _bins(results, np.where(defined, np.minimum(place, SHARES - 1), -1), labels)


def by_degree(results: Tally, around: Surroundings) -> list[Bin]:
    """Accuracy by the number of neighbours: none, 1, 2, 3–4, 5–8, …"""
    labels = ["0", "1", "2", *(f"{2 ** (k - 1) + 1}–{2**k}" for k in range(2, DOUBLINGS)), f"> {2 ** (DOUBLINGS - 1)}"]
    place = np.ceil(np.log2(np.maximum(around.degree, 1))).astype(np.int64) + 1
    return _bins(results, np.where(around.degree > 0, np.minimum(place, DOUBLINGS + 1), 0), labels)


def _bins(results: Tally, place: NDArray[np.int64], labels: Sequence[str]) -> list[Bin]:
    """The tested nodes of each place that has any; −1 is no place.

    A node that several runs test is one observation, its mean: runs agree about a node far more than nodes do.
    """
    bins = []
    for number, label in enumerate(labels):
        members = (place == number) & (results.counted > 0)
        if members.any():
            count = int(members.sum())
            share = float(results.right[members].sum() / results.counted[members].sum())
            low, high = wilson(share, count)
            bins.append(Bin(label, count, 100 * share, (100 * low, 100 * high)))
    return bins
