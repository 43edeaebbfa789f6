"""What the links of a graph look like, whatever its classes and features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import torch
from torch import Tensor

from pcnet.graph import Graph


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
