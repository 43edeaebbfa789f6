"""S x and Z = Σ_n c_n P_n(S) x with their gradients: the one place where a graph is propagated over."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet._checks import whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.polynomial import Basis
from pcnet.propagate._messages import weighted_sums
from pcnet.propagate._sweep import Step, planned_sweep, product


def apply_polynomial(operator: Operator, x: Tensor, coefficients: Tensor, basis: Basis) -> Tensor:
    """Z = Σ_{n=0..N} c_n P_n(S) x, with P_{n+1} = (a_n S + b_n) P_n − c_n P_{n−1} given by the basis.

    N products forward, and the forward keeps x alone. With G = ∂loss/∂Z, one sweep of N products over G gives both
    ∂loss/∂x = Σ c_n P_n(Sᵀ) G and ∂loss/∂c_n = ⟨x, P_n(Sᵀ) G⟩.

    | x | coefficients | meaning |
    |---|---|---|
    | (n, d) | (N+1,) or (d, N+1) | one filter, or one for each column |
    | (R, n, d) | (N+1,), (R, N+1) or (R, d, N+1) | R runs: one filter for all, for each run, for each run's columns |

    There is no second derivative. Where the entries of S take a gradient (see `Operator.from_edges`), they get it by
    a slower way that keeps N products.

    A basis that differs from group to group has one recurrence for each run, or for each column when x is (n, d).
    A PcnetError says which shapes or precisions do not go together.

    >>> from pcnet.polynomial import Powers
    >>> operator = Operator.from_edges(torch.tensor([[0, 1], [1, 0]]), 2, eta=0.5)
    >>> apply_polynomial(operator, torch.tensor([[1.0], [3.0]]), torch.tensor([1.0, 0.5]), Powers(0.0))  # x + S x / 2
    tensor([[2.],
            [4.]])
    """
    columns = _columns(x, operator.num_nodes)
    if columns.shape[1] == 0:
        raise PcnetError("x has no columns, so there is nothing to filter; give each node at least one feature.")
    kinds = {x.dtype, coefficients.dtype, operator.matrix.dtype}
    if len(kinds) > 1:
        names = ", ".join(sorted(str(kind) for kind in kinds))
        raise PcnetError(f"x, coefficients and operator must have one precision, not {names}; convert them with .to().")
    # Runs and then columns, or columns alone: the first are the groups of a basis.
    groups = (*x.shape[:-2], x.shape[-1])
    grouped = _grouped(coefficients, groups)
    recurrence = _recurrence(basis, grouped.shape[1] - 1, groups[0], math.prod(groups[1:]), x.dtype, x.device)
    learned = operator.matrix.learned
    if learned or not x.is_cuda:
        # A coefficient for each column, or one for all, and the order comes first.
        repeats = columns.shape[1] // len(grouped) if len(grouped) > 1 else 1
        grouped = grouped.unsqueeze(1).expand(-1, repeats, -1).reshape(len(grouped) * repeats, grouped.shape[1]).t()
    applied = _step_by_step if learned else _Polynomial.apply
    return _runs(applied(columns, grouped.contiguous(), operator, recurrence), x)


def _step_by_step(x: Tensor, coefficients: Tensor, operator: Operator, recurrence: Any) -> Tensor:
    """Where S itself takes a gradient: each product by autograd, which keeps all N of them."""
    first, *scales = coefficients.unbind()
    previous, current, total = x, x, x * first
    for (a, b, c), scale in zip(recurrence, scales, strict=True):
        previous, current = current, a * apply_operator(operator, current) + b * current - c * previous
        total = total + scale * current
    return total


class _Polynomial(torch.autograd.Function):
    """Of columns x; on a GPU a step of the recurrence is one kernel, which takes coefficients by groups of columns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficients: Tensor, operator: Operator, recurrence: Any) -> Tensor:
        ctx.operator, ctx.recurrence = operator, recurrence
        ctx.save_for_backward(x, coefficients)
        return planned_sweep(operator.matrix, x, coefficients, recurrence)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        x, coefficients = ctx.saved_tensors
        against = x if ctx.needs_input_grad[1] else None
        grad_x, dots = planned_sweep(ctx.operator.adjoint, g.contiguous(), coefficients, ctx.recurrence, against)
        if dots is not None and coefficients.shape[1] == 1:
            dots = dots.sum(dim=1, keepdim=True)
        return grad_x, dots, None, None


def _grouped(coefficients: Tensor, groups: tuple[int, ...]) -> Tensor:
    """Coefficients as rows (N+1,), each for as many neighbouring columns."""
    shape = tuple(coefficients.shape)
    if not shape or shape[:-1] != groups[: len(shape) - 1]:
        forms = [f"({', '.join(map(str, groups[:count]))}, N+1)" for count in range(1, len(groups) + 1)]
        raise PcnetError(f"Coefficients have shape {shape}; this x needs (N+1,), {' or '.join(forms)}.")
    return coefficients.reshape(math.prod(shape[:-1]), shape[-1])


@lru_cache(maxsize=64)
def _recurrence(
    basis: Basis, order: int, groups: int, width: int, dtype: torch.dtype, device: torch.device
) -> list[Step] | Tensor:
    """The basis's steps for `groups` groups of `width` columns.

    On the CPU as plain numbers where all columns agree, else as one number for each column; on a GPU as one tensor
    (N, 3, columns) of a, b and c, which stays there from call to call.
    """
    parts = [np.asarray(part, dtype=np.float64) for part in basis.recurrence(whole_number("order", order))]
    for part in parts:
        if part.ndim == 2 and len(part) != groups:
            raise PcnetError(f"The basis has {len(part)} groups, but x has {groups}.")
    spread = [np.broadcast_to(part, (groups, order)).repeat(width, axis=0).T for part in parts]
    if device.type == "cuda":
        return torch.from_numpy(np.ascontiguousarray(np.stack(spread, axis=1))).to(dtype).to(device)

    def per_column(row: np.ndarray) -> float | Tensor:
        return float(row[0]) if (row == row[0]).all() else torch.from_numpy(row.copy()).to(dtype)

    a, b, c = ([per_column(row) for row in part] for part in spread)
    return list(zip(a, b, c, strict=True))


def apply_operator(operator: Operator, x: Tensor) -> Tensor:
    """S x for x (n, d), or for R runs at once (R, n, d); ∂loss/∂x = Sᵀ ∂loss/∂(S x).

    >>> operator = Operator.from_edges(torch.tensor([[0, 1], [1, 0]]), 2, eta=0.5)
    >>> apply_operator(operator, torch.tensor([[1.0], [3.0]]))
    tensor([[2.],
            [2.]])
    """
    return _multiplied(operator.matrix, x, lambda g: product(operator.adjoint, g))


def apply_matrix(matrix: CSR, x: Tensor) -> Tensor:
    """M x for x (m, d), or (R, m, d), and any matrix of m columns; the transpose is made once and kept.

    >>> matrix = CSR.from_torch(torch.tensor([[0.0, 2.0]]).to_sparse_csr())
    >>> apply_matrix(matrix, torch.tensor([[1.0], [3.0]]))
    tensor([[6.]])
    """
    return _multiplied(matrix, x, lambda g: product(matrix.transposed, g))


def _multiplied(matrix: CSR, x: Tensor, back: Callable[[Tensor], Tensor]) -> Tensor:
    """M x; a transpose that no gradient needs is not made, and only where M takes a gradient it gets one."""
    if matrix.learned:
        return _runs(weighted_sums(matrix, matrix.values.unsqueeze(-1), _columns(x, matrix.shape[1])), x)
    return _runs(LinearMap.apply(_columns(x, matrix.shape[1]), partial(product, matrix), back), x)


def _columns(x: Tensor, n: int) -> Tensor:
    """x (n, d), or the columns of R runs (R, n, d) side by side."""
    if x.ndim not in (2, 3) or x.shape[-2] != n:
        raise PcnetError(f"x has shape {tuple(x.shape)}; the graph needs ({n}, d), or (R, {n}, d) for R runs.")
    return x if x.ndim == 2 else x.permute(1, 0, 2).reshape(n, x.shape[0] * x.shape[2])


def _runs(columns: Tensor, x: Tensor) -> Tensor:
    """Columns that were made of those of x, run by run as x is."""
    return columns if x.ndim == 2 else columns.view(-1, x.shape[0], x.shape[2]).permute(1, 0, 2)


class LinearMap(torch.autograd.Function):
    """L x, by functions that compute L x and Lᵀ g; they are given what is contiguous."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, forwards: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.back = back
        return forwards(x.contiguous())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back(grads[0].contiguous()), None, None
