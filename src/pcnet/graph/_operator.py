"""The one symmetric matrix that every filter is a polynomial of, built once and kept, and where its eigenvalues lie."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy.linalg
import scipy.sparse
import torch
from numpy.typing import NDArray
from scipy.sparse import linalg
from torch import Tensor

from pcnet._checks import one_of
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph._csr import CSR
from pcnet.graph._graph import Graph, check_edges
from pcnet.graph._learned import DIRECTED, learned_matrix, takes_gradient

SelfLoops = Literal["add", "fill", "keep", "remove"]
Direction = Literal["symmetrise", "keep", "out"]

#: Below this size all eigenvalues are cheaper than a Lanczos iteration.
DENSE_LIMIT = 64
#: Random signs of a density, over all vectors.
PROBE_SIGNS = 2**20


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

        Weights that require a gradient get it, through the degrees, too. Everything that is computed with such an
        operator is slower, and edges of weight 0 keep their place in it.

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
        if takes_gradient(edge_weight):
            learned, symmetric = learned_matrix(edge_index, num_nodes, edge_weight, eta, self_loops, direction)
            matrix = learned.to(dtype).to(edge_index.device if device is None else device)
            return Operator(matrix, eta, symmetric, self_loops)
        adjacency = _adjacency(edge_index, num_nodes, edge_weight)
        symmetric = (adjacency != adjacency.T).nnz == 0
        if not symmetric and direction == "symmetrise":
            warnings.warn(DIRECTED, PcnetWarning, stacklevel=2)
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


def cached_operator(edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None, **settings: Any) -> Operator:
    """The operator of an edge list by the settings of `from_edges`; equal ones of equal settings are one object.

    An entry is found by comparing edges and weights themselves with a private copy. No identity, address or hash is
    trusted, so another graph, or the same tensor changed in place, can never meet a stale operator. The comparison
    reads each edge once, which is little work compared with the products that follow. Weights that require a gradient
    belong to one backward pass: their operator is not kept.
    """
    if takes_gradient(edge_weight):
        return Operator.from_edges(edge_index, num_nodes, edge_weight, **settings)
    key = (num_nodes, settings, edge_index.device)
    with _lock:
        for place, entry in enumerate(_cache):
            if entry[0] == key and _same(entry[1], edge_index) and _same(entry[2], edge_weight):
                # What was used last is forgotten last.
                del _cache[place]
                _cache.appendleft(entry)
                return entry[3]
    operator = Operator.from_edges(edge_index, num_nodes, edge_weight, **settings)
    weight = None if edge_weight is None else edge_weight.detach().clone()
    with _lock:
        _cache.appendleft((key, edge_index.clone(), weight, operator))
    return operator


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
    filled = np.where(native == 0, 1.0, native)
    wanted = {"add": native + 1.0, "fill": filled, "keep": native, "remove": np.zeros_like(native)}[policy]
    result = (adjacency + scipy.sparse.diags(wanted - native)).tocsr()
    result.eliminate_zeros()
    return result


def _inverse_power(sums: np.ndarray, eta: float) -> np.ndarray:
    degree = np.asarray(sums, dtype=np.float64).ravel()
    return np.where(degree > 0, np.power(np.where(degree > 0, degree, 1.0), -eta), 0.0)


def spectral_interval(matrix: scipy.sparse.csr_matrix) -> tuple[float, float]:
    """[λ_min, λ_max] of a symmetric matrix by Lanczos, widened by 1e-6 of its length.

    Lanczos approaches both ends from inside; the widening makes every eigenvalue lie within, and costs a Chebyshev
    series on the interval nothing. Where Lanczos does not converge, Gershgorin's discs bound the spectrum.
    """
    n = matrix.shape[0]
    if n <= DENSE_LIMIT:
        eigenvalues = scipy.linalg.eigvalsh(matrix.toarray())
        return float(eigenvalues[0]), float(eigenvalues[-1])
    start = np.random.default_rng(0).standard_normal(n)
    # ARPACK measures its error by the eigenvalue itself and misses one that is zero: both ends are moved away from it.
    shift = float(abs(matrix).sum(axis=1).max())
    eye = scipy.sparse.eye(n, format="csr")
    try:
        low, high = (
            float(linalg.eigsh(matrix + c * eye, k=1, which=end, v0=start, tol=1e-8, return_eigenvectors=False)[0]) - c
            for c, end in ((-shift, "SA"), (shift, "LA"))
        )
    except linalg.ArpackError:
        radius = np.asarray(abs(matrix).sum(axis=1)).ravel() - abs(matrix.diagonal())
        return float((matrix.diagonal() - radius).min()), float((matrix.diagonal() + radius).max())
    margin = 1e-6 * (high - low)
    return low - margin, high + margin


def spectral_density(
    matrix: scipy.sparse.csr_matrix,
    interval: tuple[float, float],
    at: NDArray[np.float64],
    *,
    moments: int = 120,
    signals: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Density of the eigenvalues of a symmetric matrix at the points `at`, by the kernel polynomial method.

    ρ(y) = (w_0 + 2 Σ_m w_m μ_m T_m(y)) / (π √(1−y²)), y the point scaled from the interval to [−1, 1], μ_m the mean of
    zᵀT_m(S)z / zᵀz over random sign vectors z, w_m Jackson's weights, which keep the series from ringing. With
    `signals`, columns that take the place of z, it is how their energy lies over the eigenvalues.
    """
    low, high = interval
    centre, half = (high + low) / 2, max((high - low) / 2, 1e-12)
    # The series is singular at both ends; a margin keeps the spectrum's own ends away from them.
    half *= 1.02

    def scaled(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (matrix @ x - centre * x) / half

    if signals is None:
        # The error falls with the square root of all drawn signs together: of a large graph, few vectors are enough.
        n = matrix.shape[0]
        signals = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, min(16, max(2, PROBE_SIGNS // n))))
    mu = _moments(scaled, signals, moments)
    order = np.arange(moments)
    q = np.pi / (moments + 1)
    jackson = ((moments - order + 1) * np.cos(q * order) + np.sin(q * order) / np.tan(q)) / (moments + 1)
    y = np.clip((np.asarray(at) - centre) / half, -0.999999, 0.999999)
    terms = np.cos(np.outer(np.arccos(y), order)) * jackson * mu
    series = 2 * terms.sum(axis=1) - terms[:, 0]
    return np.maximum(series, 0.0) / (np.pi * half * np.sqrt(1 - y**2))


def _moments(
    scaled: Callable[[NDArray[np.float64]], NDArray[np.float64]], z: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """μ_m = zᵀT_m z / zᵀz for m < count, from half as many products: T_2m = 2 T_m² − 1, T_2m+1 = 2 T_m+1 T_m − T_1."""
    energy = float(np.sum(z * z))
    previous, current = z, scaled(z)
    mu = np.empty(max(2, count + count % 2))
    mu[0], mu[1] = 1.0, np.sum(z * current) / energy
    for m in range(1, len(mu) // 2):
        mu[2 * m] = 2 * np.sum(current * current) / energy - 1.0
        previous, current = current, 2 * scaled(current) - previous
        mu[2 * m + 1] = 2 * np.sum(previous * current) / energy - mu[1]
    return mu[:count]
