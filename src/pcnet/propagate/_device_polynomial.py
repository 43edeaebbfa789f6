"""The polynomial of `apply_polynomial` on a GPU, where a step of the recurrence is one kernel."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import Operator


class DevicePolynomial(torch.autograd.Function):
    """Z = Σ_n c_n P_n(S) x for columns x and coefficients (groups, N+1), each for as many neighbouring columns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficients: Tensor, operator: Operator, steps: Tensor) -> Tensor:
        from pcnet.propagate import kernels

        coefficients = coefficients.contiguous()
        ctx.operator, ctx.steps = operator, steps
        ctx.save_for_backward(x, coefficients)
        return kernels.sweep(operator.matrix, x, coefficients, steps)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        from pcnet.propagate import kernels

        x, coefficients = ctx.saved_tensors
        against = x if ctx.needs_input_grad[1] else None
        grad_x, dots = kernels.sweep(ctx.operator.adjoint, g.contiguous(), coefficients, ctx.steps, against)
        return grad_x, dots, None, None
