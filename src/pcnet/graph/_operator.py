"""The one symmetric matrix that every filter is a polynomial of; that of a raw edge list is built once and kept."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from pcnet._checks import one_of
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph._csr import CSR
from pcnet.graph._graph import Graph, check_edges
from pcnet.graph._spectrum import spectral_interval

SelfLoops = Literal["add", "fill", "keep", "remove"]
Direction = Literal["symmetrise", "keep", "out"]


@dataclass(frozen=True, eq=False)
class Operator:
    """S = D^-η W D^-η, W the adjacency with its self loops, D = diag(W·1).

        >>> import torch
        >>> from pcnet import Operator
        >>> S = Operator.from_edges(torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
        >>> S.matrix.to_dense()
        tensor([[0.5000, 0.5000, 0.0000],
                [0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 1.0000]])

    With `self_loops="add"` this is the paper's Ã = (D+I)^-η (A+I) (D+I)^-η. A node of degree 0 has a row of zeros.
    Build one with `Operator.from_edges` or `Operator.from_graph`.

    Attributes:
        matrix: S in compressed rows.
        eta: η.
        symmetric: whether S is its own transpose.
        self_loops: what was done about the diagonal of W.
    """

    matrix: CSR
    eta: float = 0.5
    symmetric: bool = True
    self_loops: SelfLoops = "add"

    @staticmethod
    def from_edges(
        edge_index: Tensor,
        num_nodes: int,
        edge_weight: Tensor | None = None,
        *,
        eta: float = 0.5,
        self_loops: SelfLoops = "add",
        direction: Direction = "symmetrise",
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> Operator:
        """Build S from a list of edges (row 0: sources, row 1: targets).

        Duplicates: weighted ones add up, unweighted ones count once. Self loops: `"add"` puts I on top of native loops
        (PC-Conv, GCNII), `"fill"` gives a loop of weight 1 to nodes without one (GCN), `"keep"` leaves them as they
        are, `"remove"` deletes them. With one-way edges there are three directions, which agree where the list has
        both ways of every edge:

            symmetrise   both ways carry the larger of the two weights; says so when the list was not symmetric
            keep         messages go from source to target: D_in^-η W D_out^-η, row i has the edges that arrive at i
            out          a node gathers over the edges that leave it: D_out^-η W D_out^-η, row i has those of i

        `"out"` is what code computes that reads the list as the rows of a matrix and scales both sides by row sums.

        Raises:
            PcnetError: where an end is no node, or a weight is negative or not finite.
        """
        one_of("self_loops", self_loops, get_args(SelfLoops))
        one_of("direction", direction, get_args(Direction))
        if num_nodes < 1:
            raise PcnetError("The graph has no nodes; an operator needs at least one.")
        if not np.isfinite(eta):
            raise PcnetError(f"eta must be a finite number, not {eta}.")
        check_edges(edge_index, num_nodes, edge_weight)
        adjacency = _adjacency(edge_index, num_nodes, edge_weight)
        symmetric = (adjacency != adjacency.T).nnz == 0
        if not symmetric and direction == "symmetrise":
            warnings.warn(
                "The edges are directed; both directions are used. Pass direction='keep' to use one only.",
                PcnetWarning,
                stacklevel=2,
            )
            adjacency, symmetric = adjacency.maximum(adjacency.T), True
        weighted = _with_loops((adjacency.T if direction == "out" else adjacency).tocsr(), self_loops)
        left = _inverse_power(weighted.sum(axis=1), eta)
        right = _inverse_power(weighted.sum(axis=0), eta) if direction == "keep" and not symmetric else left
        scaled = scipy.sparse.diags(left) @ weighted @ scipy.sparse.diags(right)
        matrix = CSR.from_scipy(scaled, dtype).to(edge_index.device if device is None else device)
        return Operator(matrix, eta, symmetric, self_loops)

    @staticmethod
    def from_graph(graph: Graph, *, direction: Direction = "symmetrise", **settings: Any) -> Operator:
        """The operator of a `Graph`, by the settings of `from_edges`.

        A direction is that of the list that the graph was read from.
        """
        both = graph.edge_index, graph.edge_weight
        edge_index, edge_weight = both if direction == "symmetrise" else graph.one_way_edges
        return Operator.from_edges(edge_index, graph.num_nodes, edge_weight, direction=direction, **settings)

    @property
    def num_nodes(self) -> int:
        return self.matrix.shape[0]

    @property
    def adjoint(self) -> CSR:
        """Sᵀ, which is S itself unless the graph is directed."""
        return self.matrix if self.symmetric else self.matrix.transposed

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of S. For η ≠ ½ they leave [−1, 1]."""
        if not self.symmetric:
            raise PcnetError("A directed operator has no real spectral interval; build it with direction='symmetrise'.")
        return spectral_interval(self.matrix.to_scipy())

    def to(self, target: torch.device | torch.dtype | str) -> Operator:
        """The same operator on another device or in another precision."""
        matrix = self.matrix.to(target)
        return self if matrix is self.matrix else replace(self, matrix=matrix)

    def __repr__(self) -> str:
        kind = "symmetric" if self.symmetric else "directed"
        return f"Operator({self.num_nodes} nodes, {self.matrix.nnz} entries, eta={self.eta:g}, {kind})"


#: One process works on a handful of graphs at a time.
_CAPACITY = 4
_cache: deque[tuple[tuple[Any, ...], Tensor, Tensor | None, Operator]] = deque(maxlen=_CAPACITY)
_lock = threading.Lock()


def cached_operator(
    edge_index: Tensor,
    num_nodes: int,
    edge_weight: Tensor | None = None,
    *,
    eta: float,
    dtype: torch.dtype,
    self_loops: SelfLoops = "add",
    direction: Direction = "symmetrise",
) -> Operator:
    """The operator of an edge list; the same edges, weights and settings give the same object.

    An entry is found by comparing edges and weights themselves with a private copy. No identity, address or hash is
    trusted, so another graph, or the same tensor changed in place, can never meet a stale operator. The comparison
    reads each edge once, which is little work compared with the products that follow.
    """
    key = (num_nodes, eta, dtype, self_loops, direction, edge_index.device)
    with _lock:
        for place, entry in enumerate(_cache):
            if entry[0] == key and _same(entry[1], edge_index) and _same(entry[2], edge_weight):
                # What was used last is forgotten last.
                del _cache[place]
                _cache.appendleft(entry)
                return entry[3]
    operator = Operator.from_edges(
        edge_index, num_nodes, edge_weight, eta=eta, self_loops=self_loops, direction=direction, dtype=dtype
    )
    weight = None if edge_weight is None else edge_weight.detach().clone()
    with _lock:
        _cache.appendleft((key, edge_index.clone(), weight, operator))
    return operator


def clear_operator_cache() -> None:
    """Forget every kept operator (and free its memory)."""
    with _lock:
        _cache.clear()


def _same(kept: Tensor | None, given: Tensor | None) -> bool:
    if kept is None or given is None:
        return kept is given
    return kept.shape == given.shape and kept.dtype == given.dtype and torch.equal(kept, given)


def _adjacency(edge_index: Tensor, n: int, edge_weight: Tensor | None) -> scipy.sparse.csr_matrix:
    source, target = edge_index.cpu().numpy()
    weight = np.ones(len(source)) if edge_weight is None else edge_weight.detach().double().cpu().numpy()
    adjacency = scipy.sparse.csr_matrix((weight, (target, source)), shape=(n, n))
    adjacency.sum_duplicates()
    if edge_weight is None:
        adjacency.data[:] = 1.0
    return adjacency


def _with_loops(adjacency: scipy.sparse.csr_matrix, policy: SelfLoops) -> scipy.sparse.csr_matrix:
    native = adjacency.diagonal()
    wanted = {
        "add": native + 1.0,
        "fill": np.where(native == 0, 1.0, native),
        "keep": native,
        "remove": np.zeros_like(native),
    }[policy]
    result = (adjacency + scipy.sparse.diags(wanted - native)).tocsr()
    result.eliminate_zeros()
    return result


def _inverse_power(sums: np.ndarray, eta: float) -> np.ndarray:
    degree = np.asarray(sums, dtype=np.float64).ravel()
    return np.where(degree > 0, np.power(np.where(degree > 0, degree, 1.0), -eta), 0.0)
