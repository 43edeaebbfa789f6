"""Σ_n c_n P_n(M) x on the CPU: forward and backward are this one sweep, over x with S and over the gradient with Sᵀ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate._product import product

#: a_n, b_n, c_n of one step: numbers, or one number for each column.
Step = tuple[Any, Any, Any]
#: Rows that are added up first, in a sum over all.
BAG = 128


def sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Sequence[Step], against: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Σ_n c_n P_n(M) x and, column by column, ⟨against, P_n(M) x⟩ for every n. Three terms are alive at a time."""
    first, *scales = coefficients.unbind()
    previous, current, total = x, x, x * first
    dots = [] if against is None else [column_sums(against * x)]
    for step, scale in zip(recurrence, scales, strict=True):
        following = following_term(step, matrix, current, current, previous)
        total.addcmul_(following, scale)
        if against is not None:
            dots.append(column_sums(against * following))
        previous, current = current, following
    return total, torch.stack(dots) if dots else None


def following_term(step: Step, rows: CSR, current: Tensor, current_rows: Tensor, previous_rows: Tensor) -> Tensor:
    """P_{n+1} = (a M + b) P_n − c P_{n−1}, for some rows of M or for all."""
    a, b, c = step
    following = product(rows, current)
    if not _is(a, 1.0):
        following.mul_(a)
    if not _is(b, 0.0):
        _add_scaled(following, current_rows, b)
    if not _is(c, 0.0):
        _add_scaled(following, previous_rows, -c)
    return following


def column_sums(x: Tensor) -> Tensor:
    """1ᵀx, as sums of sums: they lose fewer digits than one long sum."""
    x = bag_sums(x)
    while x.size(0) > 1:
        x = bag_sums(x)
    return x[0]


def bag_sums(x: Tensor) -> Tensor:
    """1ᵀ of every bag of rows. `torch.sum` rounds a column differently depending on how many others there are."""
    if x.dtype != torch.float32:
        return x.sum(dim=0, keepdim=True)
    rows, starts = _bags(x.size(0))
    return torch.embedding_bag(x, rows, starts, False, 0)[0]


@lru_cache(maxsize=64)
def _bags(count: int) -> tuple[Tensor, Tensor]:
    """Rows, and where their bags begin."""
    rows = torch.arange(count, dtype=torch.int32)
    return rows, rows[::BAG].contiguous()


def _add_scaled(target: Tensor, x: Tensor, scale: float | Tensor) -> None:
    if isinstance(scale, Tensor):
        target.addcmul_(x, scale)
    else:
        target.add_(x, alpha=scale)


def _is(value: float | Tensor, number: float) -> bool:
    return not isinstance(value, Tensor) and value == number
