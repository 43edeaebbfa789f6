"""Numbers on the edges of a graph: from its nodes to them, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.propagate import apply_matrix

#: A handful of graphs at a time is what one process works on.
_CAPACITY = 8


@dataclass(frozen=True, eq=False)
class Entries:
    """The stored entries e = (i, j) of an operator, as matrices between its n nodes and its E entries.

    As products they are deterministic on every device, which sums by atomic additions are not.
    """

    #: (E, n): x ↦ x_i − x_j.
    differences: CSR
    #: (E, n): x ↦ x_j.
    sources: CSR
    #: (n, E): the sum of a row's entries; its transpose is x ↦ x_i.
    row_sums: CSR


@lru_cache(maxsize=_CAPACITY)
def entries(operator: Operator) -> Entries:
    """Those of S, made once for an operator."""
    n, coo = operator.num_nodes, operator.matrix.to_scipy().tocoo()
    count = coo.nnz
    targets, sources = (
        scipy.sparse.csr_matrix((np.ones(count), (np.arange(count), ends)), shape=(count, n))
        for ends in (coo.row, coo.col)
    )
    made = (targets - sources, sources, targets.T)
    return Entries(*(CSR.from_scipy(each, operator.matrix.dtype).to(operator.matrix.device) for each in made))


def pair_scores(operator: Operator, z: Tensor, attention: Tensor) -> Tensor:
    """a·z_i + a'·z_j for every entry (i, j) of S, in each head: (E, heads), from a and a' as (2, heads, width)."""
    edges, by_head = entries(operator), z.unflatten(-1, (attention.shape[-2], -1))
    target, source = ((by_head * a.unsqueeze(-3)).sum(-1) for a in attention.unbind(-3))
    return apply_matrix(edges.row_sums.transposed, target) + apply_matrix(edges.sources, source)


@lru_cache(maxsize=_CAPACITY)
def row_means(operator: Operator) -> CSR:
    """D^-1 W, (n, n): a node's mean over its row, where η is 0."""
    matrix = operator.matrix.to_scipy()
    means = scipy.sparse.diags(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix
    return CSR.from_scipy(means, operator.matrix.dtype).to(operator.matrix.device)


@lru_cache(maxsize=_CAPACITY)
def gradient(operator: Operator) -> CSR:
    """G, (E, n): (G x)_e = S_ij (x_i − x_j) for every entry e = (i, j) off the diagonal, on which it would be 0."""
    coo = operator.matrix.to_scipy().tocoo()
    off = coo.row != coo.col
    weight, row, col = coo.data[off], coo.row[off], coo.col[off]
    count = np.arange(len(weight))
    matrix = scipy.sparse.csr_matrix(
        (np.concatenate([weight, -weight]), (np.concatenate([count, count]), np.concatenate([row, col]))),
        shape=(len(weight), operator.num_nodes),
    )
    return CSR.from_scipy(matrix, operator.matrix.dtype).to(operator.matrix.device)


@lru_cache(maxsize=_CAPACITY)
def half_laplacian(operator: Operator) -> CSR:
    """½ GᵀG of a symmetric S, (n, n): x ↦ Σ_j S_ij² (x_i − x_j)."""
    squares = operator.matrix.to_scipy().power(2)
    laplacian = scipy.sparse.diags(np.asarray(squares.sum(axis=1)).ravel()) - squares
    return CSR.from_scipy(laplacian, operator.matrix.dtype).to(operator.matrix.device)
