"""S x: one propagation step, for models that are no polynomial of S."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.propagate._product import product


def apply_operator(operator: Operator, x: Tensor) -> Tensor:
    """S x for x (n, d), or for R runs at once (R, n, d); ∂loss/∂x = Sᵀ ∂loss/∂(S x)."""
    n = operator.num_nodes
    if x.ndim not in (2, 3) or x.shape[-2] != n:
        raise PcnetError(f"x has shape {tuple(x.shape)}; the graph needs ({n}, d), or (R, {n}, d) for R runs.")
    if x.ndim == 2:
        return _Once.apply(x, operator)
    runs, _, width = x.shape
    columns = x.permute(1, 0, 2).reshape(n, runs * width)
    return _Once.apply(columns, operator).view(n, runs, width).permute(1, 0, 2)


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, operator: Operator) -> Tensor:
        ctx.operator = operator
        return product(operator.matrix, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return product(ctx.operator.adjoint, grads[0].contiguous()), None
