"""What all filters of this library are: polynomials of a graph's operator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn._graph_module import GraphModule
from pcnet.polynomial import Basis, evaluate_polynomial
from pcnet.propagate import apply_polynomial


class PolynomialConv(GraphModule, ABC):
    """Z = Σ_n c_n P_n(S) X: a basis P, and coefficients c that follow from what is learned."""

    common: ClassVar[tuple[str, ...]] = ("eta", "self_loops")
    #: The names of `parameter_groups`.
    groups: ClassVar[tuple[str, ...]] = ("theta",)

    @abstractmethod
    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        """The basis and c, (N+1,) or for each column (d, N+1); of a stacked layer with the run as first axis."""

    @abstractmethod
    def response(self, lam: ArrayLike) -> NDArray[np.float64]:
        """g(λ) at eigenvalues of the Laplacian; of a stacked layer, one row for each run."""

    def frequency(self, s: ArrayLike) -> NDArray[np.float64]:
        """The eigenvalue of the Laplacian where S has the eigenvalue s: L = I − S."""
        return 1 - np.asarray(s, dtype=np.float64)

    def reset_parameters(self) -> None:
        """Initial coefficients."""

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by the names under which learning rates and decays are given."""
        return {name: list(self.parameters()) for name in self.groups}

    def forward(self, x: Tensor, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Filter the columns of x, (n, d) or (R, n, d); `edge_index` may be edges, a sparse tensor or an `Operator`."""
        if x.ndim not in (2, 3) or x.dtype not in (torch.float32, torch.float64):
            raise PcnetError(
                f"x is {x.dtype} of shape {tuple(x.shape)}; a filter takes float32 or float64, (n, d) or (R, n, d)."
            )
        operator = self.operator(edge_index, x.shape[-2], edge_weight, x.dtype)
        basis, coefficients = self.expansion(operator)
        return apply_polynomial(operator, x, coefficients.to(x.dtype), basis)


class FixedBasisConv(PolynomialConv):
    """A filter whose basis and coefficients do not depend on the graph."""

    @property
    @abstractmethod
    def basis(self) -> Basis:
        """P_n, as polynomials of s = 1 − λ."""

    @abstractmethod
    def coefficients(self) -> Tensor:
        """c, (N+1,) or (d, N+1); of a stacked layer with the run as first axis."""

    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        return self.basis, self.coefficients()

    def response(self, lam: ArrayLike) -> NDArray[np.float64]:
        """g at eigenvalues λ of L = I − S, with a leading axis for runs and then columns that have their own."""
        c = self.coefficients().detach().double().cpu().numpy()
        s = 1 - np.asarray(lam, dtype=np.float64)
        values = evaluate_polynomial(c.reshape(-1, c.shape[-1]), self.basis, s)
        return values.reshape(*c.shape[:-1], *s.shape)
