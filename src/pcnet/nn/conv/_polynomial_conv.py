"""What all filters of this library are: polynomials of a graph's operator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet._checks import FloatArray
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn._module import GraphModule, Groups
from pcnet.polynomial import Basis
from pcnet.propagate import apply_polynomial

#: What is learned: the weights θ of a method's own filters, or φ = Rθ, those of orthonormal ones that span the same.
FilterBasis = Literal["plain", "orthonormal"]


class PolynomialConv(GraphModule, ABC):
    """Z = Σ_n c_n P_n(S) X: a basis P, and coefficients c that follow from what is learned."""

    common: ClassVar[tuple[str, ...]] = ("eta", "self_loops")
    groups: ClassVar[Groups] = {"theta": ("theta",)}

    @abstractmethod
    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        """The basis and c, (N+1,) or for each column (d, N+1); of a stacked layer with the run as first axis."""

    @abstractmethod
    def response(self, lam: ArrayLike) -> FloatArray:
        """g(λ) at eigenvalues of the Laplacian; of a stacked layer, one row for each run."""

    def frequency(self, s: ArrayLike) -> FloatArray:
        """The eigenvalue of the Laplacian where S has the eigenvalue s: L = I − S."""
        return 1 - np.asarray(s, dtype=np.float64)

    def reset_parameters(self) -> None:
        """Initial coefficients, of a single layer."""

    def forward(self, x: Tensor, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Filter the columns of x, (n, d) or (R, n, d); `edge_index` may be edges, a sparse tensor or an `Operator`."""
        if x.ndim not in (2, 3) or x.dtype not in (torch.float32, torch.float64):
            raise PcnetError(
                f"x is {x.dtype} of shape {tuple(x.shape)}; a filter takes float32 or float64, (n, d) or (R, n, d)."
            )
        operator = self.operator(edge_index, x.shape[-2], edge_weight, x.dtype)
        basis, coefficients = self.expansion(operator)
        return apply_polynomial(operator, x, coefficients.to(x.dtype), basis)


def combine(matrix: Tensor, theta: Tensor) -> Tensor:
    """c = Bθ for B (rows, columns) and θ (columns,), or for R of each side by side.

    Coefficients are few and reach far: they are computed in double precision whatever θ's own is.
    """
    if theta.is_cuda and theta.ndim == 2:
        return _Combined.apply(matrix, theta)
    return (matrix * theta.double().unsqueeze(-2)).sum(dim=-1).to(theta.dtype)


class _Combined(torch.autograd.Function):
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
