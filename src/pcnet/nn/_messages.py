"""Messages with learned weights: one number for each entry of a matrix, head and run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import CSR
from pcnet.propagate import product

#: Entries whose products a CPU forms at a time, so that they stay in its cache.
CHUNK = 16384
#: A handful of graphs at a time is what one process works on, each with its transpose.
_CAPACITY = 16


def weighted_sums(pattern: CSR, weights: Tensor, x: Tensor) -> Tensor:
    """y_i = Σ_j w_ij x_j over the entries (i, j) of `pattern`, whose own values do not count.

    With E entries and H heads, weights are (E, H) and x is (n, H·d), head h the h-th d columns of it; R runs side by
    side have R of both. Nothing is kept but the two: ∂w is a dot product for each entry, ∂x a sum over the transpose.
    """
    if x.ndim == 3:
        return _Sums.apply(weights, x, pattern)
    return _Sums.apply(weights.unsqueeze(0), x.unsqueeze(0), pattern)[0]


def entry_dots(pattern: CSR, x: Tensor, y: Tensor, heads: int = 1) -> Tensor:
    """x_i · y_j in each head for every entry (i, j) of `pattern`, (E, H) or (R, E, H); ∂x and ∂y are weighted sums."""
    if x.ndim == 3:
        return _Dots.apply(x, y, pattern, heads)
    return _Dots.apply(x.unsqueeze(0), y.unsqueeze(0), pattern, heads)[0]


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, x: Tensor, pattern: CSR) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(weights, x)
        return _sums(pattern, weights, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, x = ctx.saved_tensors
        return (
            _dots(ctx.pattern, grads[0], x, weights.shape[-1]),
            _transposed_sums(ctx.pattern, weights, grads[0]),
            None,
        )


class _Dots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, pattern: CSR, heads: int) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(x, y)
        return _dots(pattern, x, y, heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, y = ctx.saved_tensors
        return _sums(ctx.pattern, grads[0], y), _transposed_sums(ctx.pattern, grads[0], x), None, None


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
        parts = zip(own, source.chunk(heads, -1), total.chunk(heads, -1), strict=True)
        for values, columns, out in parts:
            out.copy_(product(pattern, columns, values))
    return y


def _dots(pattern: CSR, x: Tensor, y: Tensor, heads: int) -> Tensor:
    rows, count = pattern.rows, pattern.nnz
    dots = x.new_empty(x.shape[0], count, heads)
    step = max(count, 1) if x.is_cuda else CHUNK
    for start in range(0, count, step):
        some = slice(start, start + step)
        products = x.index_select(1, rows[some]).mul_(y.index_select(1, pattern.col[some]))
        torch.sum(products.unflatten(-1, (heads, -1)), -1, out=dots[:, some])
    return dots


@lru_cache(maxsize=_CAPACITY)
def _row_sums(pattern: CSR) -> CSR:
    """(n, E): the sum of a row's entries."""
    count = pattern.nnz
    every = torch.arange(count, dtype=pattern.col.dtype, device=pattern.device)
    return CSR(pattern.crow, every, torch.ones_like(pattern.values), (pattern.shape[0], count))
