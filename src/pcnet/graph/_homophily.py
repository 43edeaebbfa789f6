"""How much the links of a graph agree with its classes: five measures of homophily.

All of them see the graph as undirected, without weights, each edge once, and only edges between labelled
nodes. A self loop counts as one edge (of degree two) inside its node's class, as in the statistics of most
papers; `loops=False` leaves loops out.

Except for `node_homophily` everything follows from the class mixing matrix M: M_kl is the number of edge ends
of class k whose other end is of class l, so M is symmetric and sums to 2|E|, and D_k = Σ_l M_kl is the total
degree of class k.
"""

from __future__ import annotations

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
    labels = graph.y[graph.y >= 0]
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
