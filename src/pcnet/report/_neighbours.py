"""Who the neighbours of a node are, and what that has to do with getting it right."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

from pcnet.errors import PcnetError
from pcnet.graph import (
    Graph,
    adjusted_homophily,
    class_homophily,
    edge_homophily,
    label_informativeness,
    node_homophily,
)
from pcnet.report._tally import Tally

#: Shares of like neighbours are sorted into as many equally wide bins.
SHARES = 5
#: Degrees 1, 2, 3–4, 5–8, … up to this power of two; the last bin takes all above.
DOUBLINGS = 7
#: The normal quantile of a 95 % interval.
Z = 1.96


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Each node's neighbours, either direction of an edge, each once and never the node itself, by class."""

    #: The graph with every edge once, from its lower end to its higher one.
    graph: Graph
    #: (n, C), sparse: how many neighbours of each class a node has; unlabelled ones are in `degree` alone.
    by_class: scipy.sparse.csr_matrix
    degree: NDArray[np.int64]
    #: (C, C): of edge ends of class k, how many have an end of class l on the other side.
    mixing: NDArray[np.int64]
    #: The share of a node's labelled neighbours that are of its class; NaN without such neighbours or a label.
    likeness: NDArray[np.float64]


def neighbours(graph: Graph) -> Neighbours:
    """With A the adjacency and Y the labels as indicators: A·Y, A·1 and Yᵀ·A·Y."""
    n, y = graph.num_nodes, graph.y.cpu().numpy()
    source, target = graph.edge_index.cpu().numpy()
    proper = source != target
    ends = np.concatenate([source[proper], target[proper]]), np.concatenate([target[proper], source[proper]])
    adjacency = scipy.sparse.csr_matrix((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(n, n))
    adjacency.sum_duplicates()
    adjacency.data[:] = 1
    known = np.flatnonzero(y >= 0)
    indicator = scipy.sparse.csr_matrix(
        (np.ones(len(known), dtype=np.int32), (known, y[known])), shape=(n, graph.num_classes)
    )
    by_class = (adjacency @ indicator).tocsr()
    labelled, like = (np.asarray(each.sum(axis=1)).ravel() for each in (by_class, by_class.multiply(indicator)))
    defined = (labelled > 0) & (y >= 0)
    likeness = np.where(defined, like / np.maximum(labelled, 1), np.nan)
    mixing = (indicator.T @ by_class).toarray().astype(np.int64)
    low, high = adjacency.nonzero()
    once = np.stack([low[low < high], high[low < high]]).astype(np.int64)
    simple = replace(graph, edge_index=torch.from_numpy(once), edge_weight=None)
    return Neighbours(simple, by_class, np.diff(adjacency.indptr).astype(np.int64), mixing, likeness)


@dataclass(frozen=True)
class Measure:
    """A measure of homophily, its value where it is defined, and what it says."""

    name: str
    value: float | None
    meaning: str


def homophily_measures(around: Neighbours) -> list[Measure]:
    """All five measures of the graph, without self loops."""
    table: tuple[tuple[str, Callable[..., float], str], ...] = (
        ("edge", edge_homophily, "share of edges that link two nodes of one class"),
        ("node", node_homophily, "mean over nodes of the share of neighbours of their own class"),
        ("class-insensitive", class_homophily, "how far classes exceed chance in linking to themselves; 0 is chance"),
        ("adjusted", adjusted_homophily, "edge homophily corrected for chance; 0 is chance, 1 all edges agree"),
        ("label informativeness", label_informativeness, "how much a neighbour's class tells of one's own; 1 is all"),
    )
    return [Measure(name, _value(measure, around.graph), meaning) for name, measure, meaning in table]


def _value(measure: Callable[..., float], graph: Graph) -> float | None:
    try:
        return measure(graph, loops=False)
    except PcnetError:
        return None


@dataclass(frozen=True)
class Bin:
    """Nodes that are alike in some way, how often they were right, in percent, and its 95 % interval."""

    label: str
    nodes: int
    accuracy: float
    interval: tuple[float, float]


def by_likeness(results: Tally, around: Neighbours) -> list[Bin]:
    """Accuracy by the share of neighbours of a node's own class; only nodes with labelled neighbours."""
    edges = np.linspace(0, 100, SHARES + 1).astype(int)
    labels = [f"{low}–{high} %" for low, high in itertools.pairwise(edges)]
    defined = np.isfinite(around.likeness)
    # Rounded first: three neighbours of five are 60 %, whatever the floats say.
    place = np.floor(np.round(np.where(defined, around.likeness, 0) * SHARES, 9)).astype(np.int64)
    return _bins(results, np.where(defined, np.minimum(place, SHARES - 1), -1), labels)


def by_degree(results: Tally, around: Neighbours) -> list[Bin]:
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
        members = (place == number) & (results.times > 0)
        if members.any():
            count = int(members.sum())
            share = float(results.right[members].sum() / results.times[members].sum())
            low, high = wilson(share, count)
            bins.append(Bin(label, count, 100 * share, (100 * low, 100 * high)))
    return bins


def wilson(share: float, count: int) -> tuple[float, float]:
    """(s + z²/2n ± z √(s(1−s)/n + z²/4n²)) / (1 + z²/n): Wilson's 95 % interval of a share s of n nodes."""
    square = Z**2 / count
    half = Z * math.sqrt(share * (1 - share) / count + square / (4 * count))
    low, high = ((share + square / 2 + side * half) / (1 + square) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)
