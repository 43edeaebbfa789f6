"""Random graphs of every kind, and what their operators are when written out densely."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Edges:
    """A list of edges as a user would hand it over."""

    edge_index: Tensor
    num_nodes: int
    weight: Tensor | None = None

    def __repr__(self) -> str:
        weight = None if self.weight is None else self.weight.tolist()
        return f"Edges({self.edge_index.tolist()}, {self.num_nodes}, {weight})"

    @property
    def weights(self) -> np.ndarray:
        """The weights, or ones."""
        return np.ones(self.edge_index.shape[1]) if self.weight is None else self.weight.double().numpy()

    def permuted(self, order: np.ndarray) -> Edges:
        """The same graph with node i under the name `order[i]`."""
        return replace(self, edge_index=torch.from_numpy(order)[self.edge_index])


@st.composite
def graphs(
    draw: st.DrawFn, max_nodes: int = 30, weighted: bool | None = None, directed: bool = False, min_nodes: int = 1
) -> Edges:
    """1 to `max_nodes` nodes: isolated ones, self loops, duplicates, several components, no edges at all.

    Undirected lists hold both directions of every edge. `weighted=None` draws some lists with weights and some without.
    """
    n = draw(st.integers(min_nodes, max_nodes))
    # Edges among the first few nodes only leave the others isolated.
    linked = draw(st.integers(1, n))
    node = st.integers(0, linked - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=2 * n))
    if draw(st.booleans()):
        pairs = [(i, j) for i, j in pairs if i != j]
    if n > 3 and draw(st.booleans()):  # no edge between the even and the odd nodes
        pairs = [(i, j) for i, j in pairs if (i - j) % 2 == 0]
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        # Multiples of 1/8 add up exactly, in whatever order.
        eighths = draw(st.lists(st.integers(1, 32), min_size=len(pairs), max_size=len(pairs)))
        weight = torch.tensor(eighths, dtype=torch.float32) / 8
    edges = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).t()
    if not directed:
        once = edges[0] != edges[1]
        edges = torch.cat([edges, edges[:, once].flip(0)], dim=1)
        weight = None if weight is None else torch.cat([weight, weight[once]])
    return Edges(edges.contiguous(), n, weight)


def seeds() -> st.SearchStrategy[int]:
    """Seeds for the numbers that need no shrinking."""
    return st.integers(0, 2**16)


def _edges(pairs: list[tuple[int, int]], n: int, weight: list[float] | None = None) -> Edges:
    both = pairs + [(j, i) for i, j in pairs if i != j]
    doubled = None
    if weight is not None:
        doubled = torch.tensor(weight + [w for (i, j), w in zip(pairs, weight, strict=True) if i != j])
    return Edges(torch.tensor(both, dtype=torch.int64).reshape(-1, 2).t().contiguous(), n, doubled)


#: One graph of each kind that a filter has to cope with, by name.
NAMED = {
    "one node": _edges([], 1),
    "no edges": _edges([], 6),
    "triangle": _edges([(0, 1), (1, 2), (2, 0)], 3),
    "isolated nodes": _edges([(1, 3), (3, 4)], 8),
    "self loops": _edges([(0, 0), (0, 1), (1, 2), (2, 2), (3, 3)], 5),
    "disconnected": _edges([(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (7, 5)], 9),
    "duplicates": _edges([(0, 1), (0, 1), (1, 2), (0, 1)], 4),
    "weighted": _edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 5, [0.5, 2.0, 1.25, 3.0, 0.125]),
    "weighted with loops and duplicates": _edges(
        [(0, 1), (0, 1), (1, 1), (2, 3), (3, 3), (3, 3)], 5, [0.5, 0.25, 2.0, 1.5, 0.5, 0.5]
    ),
    "bipartite": _edges([(i, j) for i in range(3) for j in range(3, 7)], 7),
    "star": _edges([(0, i) for i in range(1, 20)], 20),
}


def dense_adjacency(graph: Edges) -> np.ndarray:
    """A[target, source]: weighted duplicates add up, unweighted ones count once."""
    A = np.zeros((graph.num_nodes, graph.num_nodes))
    for source, target, weight in zip(*graph.edge_index.numpy(), graph.weights, strict=True):
        A[target, source] = A[target, source] + weight if graph.weight is not None else 1.0
    return A


def dense_operator(graph: Edges, eta: float, self_loops: str = "add", direction: str = "symmetrise") -> np.ndarray:
    """D^-η W D^-η, entry by entry from its definition."""
    W = dense_adjacency(graph)
    if direction == "symmetrise":
        W = np.maximum(W, W.T)
    native = np.diag(W).copy()
    loops = {"add": native + 1, "fill": np.where(native > 0, native, 1.0), "keep": native, "remove": 0 * native}
    np.fill_diagonal(W, loops[self_loops])

    def power(degree: np.ndarray) -> np.ndarray:
        return np.array([d**-eta if d > 0 else 0.0 for d in degree])

    return power(W.sum(1))[:, None] * W * power(W.sum(0))[None, :]
