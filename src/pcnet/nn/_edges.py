"""Numbers on the edges of a graph: matrices that take them there and back, and those that follow from an operator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from pcnet.graph import CSR, Operator, made_once
from pcnet.nn._products import over_nodes
from pcnet.propagate import apply_matrix


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


def csr_like(operator: Operator, matrix: scipy.sparse.spmatrix) -> CSR:
    """A matrix in the precision of an operator, on its device."""
    return CSR.from_scipy(matrix, operator.matrix.dtype).to(operator.matrix.device)


def _ends(coo: scipy.sparse.coo_matrix) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
    """x ↦ x_i and x ↦ x_j for every entry (i, j)."""
    shape, ones, every = (coo.nnz, coo.shape[1]), np.ones(coo.nnz), np.arange(coo.nnz)
    targets, sources = (scipy.sparse.csr_matrix((ones, (every, ends)), shape=shape) for ends in (coo.row, coo.col))
    return targets, sources


@made_once
def entries(operator: Operator) -> Entries:
    """Those of S."""
    targets, sources = _ends(operator.matrix.to_scipy().tocoo())
    return Entries(*(csr_like(operator, each) for each in (targets - sources, sources, targets.T)))


def pair_scores(operator: Operator, z: Tensor, attention: Tensor) -> Tensor:
    """a·z_i + a'·z_j for every entry (i, j) of S, in each head: (E, heads), from a and a' as (2, heads, width)."""
    edges, heads = entries(operator), attention.shape[-2:]
    rows = (over_nodes(a.flatten(-2), z.shape[-2]) for a in attention.unbind(-3))
    target, source = ((z * row).unflatten(-1, heads).sum(-1) for row in rows)
    return apply_matrix(edges.row_sums.transposed, target) + apply_matrix(edges.sources, source)


@made_once
def row_means(operator: Operator) -> CSR:
    """D^-1 W, (n, n): a node's mean over its row, where η is 0; nothing for a node whose row is empty."""
    W = in_full(operator)
    sums = W.sums_of_rows
    return like(operator, W, (1 / sums.masked_fill(sums == 0, 1.0))[W.rows] * W.values)


@made_once
def gradient(operator: Operator) -> CSR:
    """G, (E, n): (G x)_e = S_ij (x_i − x_j) for every entry e = (i, j) off the diagonal, on which it would be 0."""
    S = operator.matrix.off_diagonal()
    targets, sources = _ends(S.to_scipy().tocoo())
    signs = csr_like(operator, targets - sources)
    return signs.with_values(signs.values * S.values[signs.rows])


@made_once
def half_laplacian(operator: Operator) -> CSR:
    """½ GᵀG of a symmetric S that has all of its diagonal, (n, n): x ↦ Σ_j S_ij² (x_i − x_j)."""
    S = in_full(operator)
    squares = S.with_values(S.values.square())
    own = squares.sums_of_rows[S.rows]
    return like(operator, S, torch.where(S.rows == S.col, own, 0.0) - squares.values)


def in_full(operator: Operator) -> CSR:
    """An operator's matrix in double precision on the CPU, from which others are computed as from S itself."""
    return operator.matrix.to("cpu").to(torch.float64)


def like(operator: Operator, pattern: CSR, values: Tensor) -> CSR:
    """Values at the places of a pattern, in the precision of an operator, on its device."""
    return pattern.with_values(values).to(operator.matrix.dtype).to(operator.matrix.device)
