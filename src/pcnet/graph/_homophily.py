"""How a graph is linked, and how much its links agree with its classes: five measures of homophily.

All measures see the graph as undirected, without weights, each edge once, and only edges between labelled
nodes. A self loop counts as one edge (of degree two) inside its node's class, as in the statistics of most
papers; `loops=False` leaves loops out.

Except for `node_homophily` everything follows from the class mixing matrix M: M_kl is the number of edge ends
of class k whose other end is of class l, so M is symmetric and sums to 2|E|, and D_k = Σ_l M_kl is the total
degree of class k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import torch
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph._graph import Graph


def edge_homophily(graph: Graph, *, loops: bool = True) -> float:
    """tr M / 2|E|: the share of edges that link two nodes of one class (Zhu et al. 2020)."""
    mixing = _mixing(graph, loops)
    return float(mixing.trace() / mixing.sum())


def node_homophily(graph: Graph, *, loops: bool = True) -> float:
    """Mean over nodes of the share of their neighbours that are of their class (Pei et al. 2020).

    A node without labelled neighbours has no such share and is left out of the mean. A node with a loop is
    its own neighbour, once.
    """
    low, high = _edges(graph, loops)
    proper = low != high
    node, other = torch.cat([low, high[proper]]), torch.cat([high, low[proper]])
    same = (graph.y[node] == graph.y[other]).double()
    degree = torch.bincount(node, minlength=graph.num_nodes)
    agreeing = torch.bincount(node, weights=same, minlength=graph.num_nodes)
    return float((agreeing[degree > 0] / degree[degree > 0]).mean())


def class_homophily(graph: Graph, *, loops: bool = True) -> float:
    """1/(C−1) Σ_k max(0, M_kk/D_k − n_k/n): 0 for links blind to classes of any size (Lim et al. 2021).

    A class without edges adds nothing; n and n_k count labelled nodes.
    """
    mixing = _mixing(graph, loops)
    labels = graph.y[graph.labelled]
    share = torch.bincount(labels, minlength=len(mixing)) / len(labels)
    within = mixing.diagonal() / mixing.sum(1).clamp(min=1)
    return float((within - share).clamp(min=0).sum() / (len(mixing) - 1))


def adjusted_homophily(graph: Graph, *, loops: bool = True) -> float:
    """(h − s) / (1 − s), with h the edge homophily and s = Σ_k (D_k/2|E|)² its value by chance.

    The assortativity coefficient of the classes (Platonov et al. 2023): 1 when all edges agree, 0 for chance.
    """
    joint = _mixing(graph, loops)
    joint = joint / joint.sum()
    chance = joint.sum(1).square().sum()
    if chance == 1:
        raise PcnetError("All edges lie inside one class, so homophily cannot be adjusted for chance.")
    return float((joint.trace() - chance) / (1 - chance))


def label_informativeness(graph: Graph, *, loops: bool = True) -> float:
    """I(y_ξ; y_η) / H(y_ξ) for the two ends ξ, η of a random edge (Platonov et al. 2023).

    How informative a neighbour's class is about a node's own: high for any regular pattern, homophilic or not.
    """
    joint = _mixing(graph, loops)
    joint = joint / joint.sum()
    entropy = torch.special.entr(joint.sum(1)).sum()
    if entropy == 0:
        raise PcnetError("All edges lie inside one class, so a neighbour's class carries no information.")
    return float(2 - torch.special.entr(joint).sum() / entropy)


def _edges(graph: Graph, loops: bool) -> tuple[Tensor, Tensor]:
    """The lower and the higher end of every undirected edge between labelled nodes, each edge once."""
    source, target = graph.edge_index[:, (graph.y[graph.edge_index] >= 0).all(0)]
    low, high = torch.minimum(source, target), torch.maximum(source, target)
    keys = low * graph.num_nodes + high
    # Edges that come in order, each once, need not be sorted again for every measure: on millions that is most of it.
    if not bool((keys.diff() > 0).all()):
        keys = keys.unique()
    low, high = keys // graph.num_nodes, keys % graph.num_nodes
    if not loops:
        low, high = low[low != high], high[low != high]
    if len(low) == 0:
        raise PcnetError("No edge links two labelled nodes, so homophily is undefined; label more nodes.")
    return low, high


def _mixing(graph: Graph, loops: bool) -> Tensor:
    """The class mixing matrix M in float64."""
    low, high = _edges(graph, loops)
    classes = graph.num_classes
    if classes < 2:
        raise PcnetError("Homophily compares classes, but all labelled nodes are of one class.")
    half = torch.bincount(graph.y[low] * classes + graph.y[high], minlength=classes**2)
    half = half.view(classes, classes).double()
    return half + half.T


class Measure(NamedTuple):
    """A measure of homophily: its function, what it is called, and what it says."""

    of: Callable[..., float]
    title: str
    meaning: str


MEASURES = {
    "edge": Measure(edge_homophily, "edge", "share of edges that link two nodes of one class"),
    "node": Measure(node_homophily, "node", "mean over nodes of the share of neighbours of their own class"),
    "class_insensitive": Measure(
        class_homophily,
        "class-insensitive",
        "how far classes exceed chance in linking to themselves; 0 is chance",
    ),
    "adjusted": Measure(
        adjusted_homophily, "adjusted", "edge homophily corrected for chance; 0 is chance, 1 all edges agree"
    ),
    "label_informativeness": Measure(
        label_informativeness,
        "label informativeness",
        "how much a neighbour's class says about one's own; 1 is all",
    ),
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
                values[name] = measure.of(simple, loops=False)
            except PcnetError as error:
                undefined[name] = str(error)
        return Homophily(**values, undefined=undefined)

    def as_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in MEASURES}
        return {"homophily": values, "homophily_undefined": dict(self.undefined)}
