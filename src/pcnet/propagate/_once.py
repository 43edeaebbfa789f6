"""M x: a single product with its gradient, for models that are no polynomial of S."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.propagate._product import product


def apply_operator(operator: Operator, x: Tensor) -> Tensor:
    """S x for x (n, d), or for R runs at once (R, n, d); ∂loss/∂x = Sᵀ ∂loss/∂(S x)."""
    return _columns(x, operator.matrix, operator)


def apply_matrix(matrix: CSR, x: Tensor) -> Tensor:
    """M x for x (m, d), or (R, m, d), and any matrix of m columns; the transpose is made once and kept."""
    return _columns(x, matrix, None)


def _columns(x: Tensor, matrix: CSR, operator: Operator | None) -> Tensor:
    rows = matrix.shape[1]
    if x.ndim not in (2, 3) or x.shape[-2] != rows:
        raise PcnetError(f"x has shape {tuple(x.shape)}; it must be ({rows}, d), or (R, {rows}, d) for R runs.")
    if x.ndim == 2:
        return _Once.apply(x, matrix, operator)
    runs, _, width = x.shape
    columns = x.permute(1, 0, 2).reshape(rows, runs * width)
    return _Once.apply(columns, matrix, operator).view(-1, runs, width).permute(1, 0, 2)


class _Once(torch.autograd.Function):
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
