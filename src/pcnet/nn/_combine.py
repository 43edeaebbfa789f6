"""c = Bθ: the coefficients of a filter from what was learned."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def combine(matrix: Tensor, theta: Tensor) -> Tensor:
    """Bθ for B (rows, columns) and θ (columns,), or for R of each side by side.

    Coefficients are few and reach far: they are computed in double precision whatever θ's own is.
    """
    if theta.is_cuda and theta.ndim == 2:
        return _OnDevice.apply(matrix, theta)
    return (matrix * theta.double().unsqueeze(-2)).sum(dim=-1).to(theta.dtype)


class _OnDevice(torch.autograd.Function):
    """One kernel forwards and one back, where torch needs four and six of the same length."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, theta: Tensor) -> Tensor:
        from pcnet.nn import device as kernels

        ctx.matrix = matrix
        return kernels.combine(matrix, theta, back=False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        from pcnet.nn import device as kernels

        return None, kernels.combine(ctx.matrix, grads[0], back=True)
