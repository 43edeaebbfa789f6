"""Numbers on the edges of a graph: matrices that take them there and back, and messages with learned weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import CSR, Operator, made_once
from pcnet.nn._products import over_nodes
from pcnet.propagate import apply_matrix, product

Product = Callable[[Tensor, Tensor], Tensor]
#: Entries whose products a CPU forms at a time, so that they stay in its cache.
CHUNK = 16384


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
    matrix = operator.matrix.to_scipy()
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    means = scipy.sparse.diags(1 / np.where(sums == 0, 1, sums)) @ matrix
    return csr_like(operator, means)


@made_once
def gradient(operator: Operator) -> CSR:
    """G, (E, n): (G x)_e = S_ij (x_i − x_j) for every entry e = (i, j) off the diagonal, on which it would be 0."""
    coo = operator.matrix.to_scipy().tocoo()
    targets, sources = _ends(coo)
    return csr_like(operator, (scipy.sparse.diags(coo.data) @ (targets - sources))[coo.row != coo.col])


@made_once
def half_laplacian(operator: Operator) -> CSR:
    """½ GᵀG of a symmetric S, (n, n): x ↦ Σ_j S_ij² (x_i − x_j)."""
    squares = operator.matrix.to_scipy().power(2)
    laplacian = scipy.sparse.diags(np.asarray(squares.sum(axis=1)).ravel()) - squares
    return csr_like(operator, laplacian)


def weighted_sums(pattern: CSR, weights: Tensor, x: Tensor) -> Tensor:
    """y_i = Σ_j w_ij x_j over the entries (i, j) of `pattern`, whose own values do not count.

    With E entries and H heads, weights are (E, H) and x is (n, H·d), head h the h-th d columns of it; R runs side by
    side have R of both. Nothing is kept but the two: ∂w is a dot product for each entry, ∂x a sum over the transpose.
    """
    if x.ndim == 2:
        return weighted_sums(pattern, weights.unsqueeze(0), x.unsqueeze(0))[0]
    of_weights = partial(_dots, pattern, heads=weights.shape[-1])
    return _Bilinear.apply(weights, x, partial(_sums, pattern), of_weights, partial(_transposed_sums, pattern))


def entry_dots(pattern: CSR, x: Tensor, y: Tensor, heads: int = 1) -> Tensor:
    """x_i · y_j in each head for every entry (i, j) of `pattern`, (E, H) or (R, E, H); ∂x and ∂y are weighted sums."""
    if x.ndim == 2:
        return entry_dots(pattern, x.unsqueeze(0), y.unsqueeze(0), heads)[0]

    def of_y(x: Tensor, grad: Tensor) -> Tensor:
        return _transposed_sums(pattern, grad, x)

    return _Bilinear.apply(x, y, partial(_dots, pattern, heads=heads), partial(_sums, pattern), of_y)


class _Bilinear(torch.autograd.Function):
    """f(a, b), linear in either, with ∂a = `of_a`(g, b) and ∂b = `of_b`(a, g)."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, f: Product, of_a: Product, of_b: Product) -> Tensor:
        ctx.of_a, ctx.of_b = of_a, of_b
        ctx.save_for_backward(a, b)
        return f(a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        a, b = ctx.saved_tensors
        return ctx.of_a(grads[0], b), ctx.of_b(a, grads[0]), None, None, None


def _transposed_sums(pattern: CSR, weights: Tensor, x: Tensor) -> Tensor:
    """y_j = Σ_i w_ij x_i."""
    return _sums(pattern.transposed, weights.index_select(-2, pattern.to_transposed), x)


def _sums(pattern: CSR, weights: Tensor, x: Tensor) -> Tensor:
    runs, _, heads = weights.shape
    if x.is_cuda:
        # All runs and heads in one product, of messages that are written out for as long as it takes.
        messages = x.transpose(0, 1).index_select(0, pattern.col).unflatten(-1, (heads, -1))
        messages = messages.mul_(weights.transpose(0, 1).unsqueeze(-1))
        return product(_row_sums(pattern), messages.flatten(1)).unflatten(-1, (runs, -1)).transpose(0, 1)
    y = x.new_empty(runs, pattern.shape[0], x.shape[-1])
    for own, source, total in zip(weights.mT.contiguous(), x, y, strict=True):
        for values, columns, out in zip(own, source.chunk(heads, -1), total.chunk(heads, -1), strict=True):
            out.copy_(product(pattern, columns, values))
    return y


def _dots(pattern: CSR, x: Tensor, y: Tensor, heads: int) -> Tensor:
    if not x.is_cuda and len(x) > 1:
        return torch.cat([_dots(pattern, *own, heads) for own in zip(x.split(1), y.split(1), strict=True)])
    rows, count = pattern.rows, pattern.nnz
    dots = x.new_empty(x.shape[0], count, heads)
    step = max(count, 1) if x.is_cuda else CHUNK
    for start in range(0, count, step):
        some = slice(start, start + step)
        products = x.index_select(1, rows[some]).mul_(y.index_select(1, pattern.col[some]))
        torch.sum(products.unflatten(-1, (heads, -1)), -1, out=dots[:, some])
    return dots


@made_once
def _row_sums(pattern: CSR) -> CSR:
    """(n, E): the sum of a row's entries."""
    count = pattern.nnz
    every = torch.arange(count, dtype=pattern.col.dtype, device=pattern.device)
    return CSR(pattern.crow, every, torch.ones_like(pattern.values), (pattern.shape[0], count))
