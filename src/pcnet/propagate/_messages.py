"""Sums of messages along the entries of a matrix whose weights take a gradient, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import CSR, made_once
from pcnet.propagate._sweep import product

Product = Callable[[Tensor, Tensor], Tensor]
#: Entries whose products a CPU forms at a time, so that they stay in its cache.
CHUNK = 16384


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
