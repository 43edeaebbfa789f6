"""Z = Σ_n c_n P_n(S) x: the one place where a graph is propagated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.polynomial import Basis
from pcnet.propagate._product import product


def apply_polynomial(operator: Operator, x: Tensor, coefficients: Tensor, basis: Basis) -> Tensor:
    """Z = Σ_{n=0..N} c_n P_n(S) x, with P_{n+1} = (a_n S + b_n) P_n − c_n P_{n−1} given by the basis.

    N products forward, and the forward keeps x alone. With G = ∂loss/∂Z, one sweep of N products over G gives both
    ∂loss/∂x = Σ c_n P_n(Sᵀ) G and ∂loss/∂c_n = ⟨x, P_n(Sᵀ) G⟩.

    | x | coefficients | meaning |
    |---|---|---|
    | (n, d) | (N+1,) or (d, N+1) | one filter, or one for each column |
    | (R, n, d) | (N+1,), (R, N+1) or (R, d, N+1) | R runs: one filter for all, for each run, for each run's columns |

    A basis that differs from group to group has one recurrence for each run, or for each column when x is (n, d).
    """
    n = operator.num_nodes
    if x.ndim not in (2, 3) or x.shape[-2] != n:
        raise PcnetError(f"x has shape {tuple(x.shape)}; the graph needs ({n}, d), or (R, {n}, d) for R runs.")
    runs = x.shape[0] if x.ndim == 3 else 1
    width = x.shape[-1]
    per_column = _spread(coefficients, x.ndim, runs, width).contiguous()
    recurrence = _recurrence(basis, coefficients.shape[-1] - 1, x.ndim, runs, width, x)
    columns = x if x.ndim == 2 else x.permute(1, 0, 2).reshape(n, runs * width)
    z = _Polynomial.apply(columns, per_column, operator, recurrence)
    return z if x.ndim == 2 else z.view(n, runs, width).permute(1, 0, 2)


#: a_n, b_n, c_n of one step: numbers, or one number for each column.
Step = tuple[Any, Any, Any]


class _Polynomial(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficients: Tensor, operator: Operator, recurrence: list[Step]) -> Tensor:
        ctx.operator, ctx.recurrence = operator, recurrence
        ctx.save_for_backward(x, coefficients)
        terms = _terms(operator.matrix, x, recurrence)
        z = next(terms) * coefficients[0]
        for term, c in zip(terms, coefficients[1:], strict=True):
            z.addcmul_(term, c)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        x, coefficients = ctx.saved_tensors
        wants_x, wants_coefficients = ctx.needs_input_grad[:2]
        grad_x = torch.zeros_like(x) if wants_x else None
        grad_coefficients = torch.empty(len(coefficients), x.shape[1], dtype=x.dtype, device=x.device)
        for k, term in enumerate(_terms(ctx.operator.adjoint, g.contiguous(), ctx.recurrence)):
            if grad_x is not None:
                grad_x.addcmul_(term, coefficients[k])
            if wants_coefficients:
                grad_coefficients[k] = _column_sums(x * term)
        if not wants_coefficients:
            return grad_x, None, None, None
        if coefficients.shape[1] == 1:
            grad_coefficients = grad_coefficients.sum(dim=1, keepdim=True)
        return grad_x, grad_coefficients, None, None


def _terms(matrix: CSR, x: Tensor, recurrence: list[Step]) -> Iterator[Tensor]:
    """P_0(M) x, P_1(M) x, … ; three column blocks are alive at a time."""
    previous, current = x, x
    yield current
    for a, b, c in recurrence:
        following = product(matrix, current)
        if not _is(a, 1.0):
            following.mul_(a)
        if not _is(b, 0.0):
            _add_scaled(following, current, b)
        if not _is(c, 0.0):
            _add_scaled(following, previous, -c)
        previous, current = current, following
        yield current


def _column_sums(x: Tensor) -> Tensor:
    """1ᵀx. `torch.sum` rounds a column differently depending on how many stand beside it; bags of rows do not."""
    if x.device.type != "cpu" or x.dtype != torch.float32:
        return x.sum(dim=0)
    rows = torch.arange(len(x), dtype=torch.int32)
    while len(x) > 1:
        # Sums of short sums lose fewer digits than one long sum.
        x = torch.embedding_bag(x, rows[: len(x)], rows[: len(x) : 128].contiguous(), False, 0)[0]
    return x[0]


def _add_scaled(target: Tensor, x: Tensor, scale: float | Tensor) -> None:
    if isinstance(scale, Tensor):
        target.addcmul_(x, scale)
    else:
        target.add_(x, alpha=scale)


def _is(value: float | Tensor, number: float) -> bool:
    return not isinstance(value, Tensor) and value == number


def _spread(coefficients: Tensor, ndim: int, runs: int, width: int) -> Tensor:
    """Coefficients as (N+1, columns), or (N+1, 1) where all columns share them."""
    shape, tail = tuple(coefficients.shape), coefficients.shape[-1:]
    if len(shape) == 1:
        return coefficients.unsqueeze(1)
    if ndim == 2 and shape == (width, *tail):
        return coefficients.t()
    if ndim == 3 and shape == (runs, *tail):
        return coefficients.unsqueeze(1).expand(-1, width, -1).reshape(runs * width, -1).t()
    if ndim == 3 and shape == (runs, width, *tail):
        return coefficients.reshape(runs * width, -1).t()
    form = f"({runs}, N+1) or ({runs}, {width}, N+1)" if ndim == 3 else f"({width}, N+1)"
    raise PcnetError(f"Coefficients have shape {shape}; this x needs (N+1,), {form}.")


def _recurrence(basis: Basis, order: int, ndim: int, runs: int, width: int, like: Tensor) -> list[Step]:
    """The basis's steps as plain numbers, or as one number for each column."""
    a, b, c = (np.asarray(part, dtype=np.float64) for part in basis.recurrence(order))
    if a.ndim == b.ndim == c.ndim == 1:
        return list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    groups, each = (runs, width) if ndim == 3 else (width, 1)

    def per_column(part: np.ndarray) -> list[Any]:
        if part.ndim == 1:
            return list(part.tolist())
        if part.shape[0] != groups:
            raise PcnetError(f"The basis has {part.shape[0]} groups, but x has {groups}.")
        spread = torch.from_numpy(part).repeat_interleave(each, dim=0).t().contiguous()
        # A step at which every group agrees stays a plain number.
        return [float(row[0]) if bool((row == row[0]).all()) else row.to(like.dtype).to(like.device) for row in spread]

    return list(zip(per_column(a), per_column(b), per_column(c), strict=True))
