"""Products of many runs side by side, each with weights of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

#: Floats between two addresses that are round.
ROUND = 16


def times(x: Tensor, weight: Tensor, plus: Tensor | None = None) -> Tensor:
    """X W, or P + X W, for one run (n, d) or for R of them (R, n, d), each with a W of its own.

    On the CPU run by run: BLAS rounds a batch differently from a single matrix. On a GPU all runs are one call.

    >>> times(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]), plus=torch.tensor([[1.0]]))
    tensor([[12.]])
    """
    if x.ndim == 2:
        return x @ weight if plus is None else torch.addmm(plus, x, weight)
    if x.is_cuda:
        return torch.bmm(x, weight) if plus is None else torch.baddbmm(plus, x, weight)
    return _RunProducts.apply(x, weight, plus)


def aligned(x: Tensor) -> Tensor:
    """x at a round address: at others BLAS rounds differently, and a run would depend on its place in the stack."""
    return x if x.data_ptr() % 64 == 0 else x.clone()


class _RunProducts(torch.autograd.Function):
    """Y_r = P_r + X_r W_r; ∂X_r = G_r W_rᵀ, ∂W_r = X_rᵀ G_r, ∂P_r = G_r."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, plus: Tensor | None) -> Tensor:
        x, weight = x.contiguous(), weight.contiguous()
        ctx.save_for_backward(x, weight)
        return _each(x, weight, plus)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (x, weight), g = ctx.saved_tensors, grads[0].contiguous()
        of_x, of_weight, of_plus = ctx.needs_input_grad
        return _each(g, weight.mT) if of_x else None, _each(x.mT, g) if of_weight else None, g if of_plus else None


def _each(left: Tensor, right: Tensor, plus: Tensor | None = None) -> Tensor:
    runs, n, width = len(left), left.shape[1], right.shape[2]
    # Each result begins at a round address, too.
    found = left.new_empty_strided((runs, n, width), (-(-n * width // ROUND) * ROUND, width, 1))
    for place, (a, b) in enumerate(zip(map(aligned, left), map(aligned, right), strict=True)):
        if plus is None:
            torch.mm(a, b, out=found[place])
        else:
            torch.addmm(plus[place], a, b, out=found[place])
    return found


def by_runs(function: Callable[..., Tensor], x: Tensor, *more: Tensor) -> Tensor:
    """f(x), on the CPU of each of R runs by itself.

    Torch computes whole vectors of numbers; what is left after the last of them it rounds differently.
    """
    if x.ndim == 2 or x.is_cuda or len(x) == 1:
        return function(x, *more)
    return _Stack.apply(*[function(own.contiguous(), *others) for own, *others in zip(x, *more, strict=True)])


class _Stack(torch.autograd.Function):
    """`torch.stack`, whose gradients lie in memory as those of a single run do."""

    @staticmethod
    def forward(ctx: Any, *parts: Tensor) -> Tensor:
        return torch.stack(parts)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return tuple(own.contiguous() for own in grads[0])


def over_nodes(row: Tensor, n: int) -> Tensor:
    """A row, or one for each of R runs, for every node: (n, d) or (R, n, d).

    Torch sums the gradient of a row differently depending on how many others there are; on the CPU this one does it
    run by run.
    """
    if row.ndim == 1 or row.is_cuda:
        return row.unsqueeze(-2)
    return _OverNodes.apply(row, n)


class _OverNodes(torch.autograd.Function):
    """1 b_r, and ∂b_r = 1ᵀ G_r."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, n: int) -> Tensor:
        return rows.unsqueeze(-2).expand(-1, n, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return torch.stack([own.contiguous().sum(0) for own in grads[0]]), None
