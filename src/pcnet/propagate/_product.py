"""Sparse matrix times dense columns, with its gradient, and Σ_n c_n P_n(M) x on the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator

with warnings.catch_warnings():
    # The first compressed-row tensor of a process makes torch say that they are new; users need not hear it from us.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([]), (1, 1))

# The C library hands freed memory back to the system until it has seen a block of this size, its largest, come and go;
# pages that a sweep must ask for again each time can cost as much as its products.
torch.empty(2**25 - 2**16, dtype=torch.uint8)

#: a_n, b_n, c_n of one step: numbers, or one number for each column.
Step = tuple[Any, Any, Any]
#: Rows that are added up first, in a sum over all.
BAG = 128


def product(matrix: CSR, x: Tensor, values: Tensor | None = None) -> Tensor:
    """M·x, or with `values` the product of a matrix that has them in the places of M's entries; without a gradient.

    >>> product(CSR.from_torch(torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse_csr()), torch.tensor([[1.0], [3.0]]))
    tensor([[6.],
            [1.]])

    On the CPU a sum-mode embedding bag is this product and two to three times faster than the compressed-row kernel
    that `@` calls. Each column of its result depends on that column alone, to the bit: a run sees the same numbers
    whichever other runs are trained with it.
    """
    values = matrix.values if values is None else values
    if x.device.type == "cpu" and x.dtype == torch.float32:
        x = x.detach().contiguous()
        return torch.embedding_bag(x, matrix.col, matrix.crow, False, 0, False, values, include_last_offset=True)[0]
    if x.is_cuda:
        from pcnet.propagate import kernels

        return kernels.product(matrix, x, values)
    # The fields are known to be consistent: checking them at every product would cost as much as the product.
    return (
        torch.sparse_csr_tensor(matrix.crow, matrix.col, values, matrix.shape, check_invariants=False) @ x.contiguous()
    )


def apply_operator(operator: Operator, x: Tensor) -> Tensor:
    """S x for x (n, d), or for R runs at once (R, n, d); ∂loss/∂x = Sᵀ ∂loss/∂(S x).

    >>> operator = Operator.from_edges(torch.tensor([[0, 1], [1, 0]]), 2, eta=0.5)
    >>> apply_operator(operator, torch.tensor([[1.0], [3.0]]))
    tensor([[2.],
            [2.]])
    """
    return _apply(x, operator.matrix, operator)


def apply_matrix(matrix: CSR, x: Tensor) -> Tensor:
    """M x for x (m, d), or (R, m, d), and any matrix of m columns; the transpose is made once and kept.

    >>> matrix = CSR.from_torch(torch.tensor([[0.0, 2.0]]).to_sparse_csr())
    >>> apply_matrix(matrix, torch.tensor([[1.0], [3.0]]))
    tensor([[6.]])
    """
    return _apply(x, matrix, None)


def _apply(x: Tensor, matrix: CSR, operator: Operator | None) -> Tensor:
    rows = matrix.shape[1]
    if x.ndim not in (2, 3) or x.shape[-2] != rows:
        raise PcnetError(f"x has shape {tuple(x.shape)}; it must be ({rows}, d), or (R, {rows}, d) for R runs.")
    if x.ndim == 2:
        return _Product.apply(x, matrix, operator)
    runs, _, width = x.shape
    columns = x.permute(1, 0, 2).reshape(rows, runs * width)
    return _Product.apply(columns, matrix, operator).view(-1, runs, width).permute(1, 0, 2)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: CSR, operator: Operator | None) -> Tensor:
        ctx.matrix, ctx.operator = matrix, operator
        return product(matrix, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        # An operator knows whether it is its own transpose.
        adjoint = ctx.matrix.transposed if ctx.operator is None else ctx.operator.adjoint
        return product(adjoint, grads[0].contiguous()), None, None


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
