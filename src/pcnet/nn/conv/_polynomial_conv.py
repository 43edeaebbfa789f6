"""What all filters of this library are: polynomials of a graph's operator; and what they do at its frequencies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.errors import PcnetError
from pcnet.graph import Operator, spectral_density
from pcnet.nn._module import GraphModule, Groups
from pcnet.polynomial import Basis
from pcnet.propagate import LinearMap, apply_polynomial

#: Of a drawn response: its points, and the entries of an operator up to which its interval is found exactly.
POINTS, EXACT = 600, 2_000_000
#: Moments of the density up to there and beyond.
FINE, COARSE = 120, 60

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

    @property
    def laplacian(self) -> str:
        """The Laplacian as a formula."""
        return "L = I − S"

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
        from pcnet.nn import device as kernels

        # One kernel forwards and one back, where torch needs four and six of the same length.
        combined = partial(kernels.combine, matrix)
        return LinearMap.apply(theta, partial(combined, back=False), partial(combined, back=True))
    return (matrix * theta.double().unsqueeze(-2)).sum(dim=-1).to(theta.dtype)


@dataclass(frozen=True, eq=False)
class Learned:
    """Each run's g(λ), one row a run, on the true interval of the Laplacian, and the density of its eigenvalues."""

    lam: FloatArray
    responses: FloatArray
    density: FloatArray
    #: The Laplacian as a formula.
    laplacian: str

    @property
    def mean(self) -> FloatArray:
        """The mean of the runs."""
        return self.responses.mean(axis=0)


def learned(convs: Sequence[PolynomialConv], operator: Operator) -> Learned:
    """The Laplacian is L = I − S, or PC-Conv's L̃ = (p−1)I − S, and then all runs must share p.

    Filters with a response for each class are represented by their mean over the classes.

    >>> from pcnet import PCConv, csbm
    >>> operator = Operator.from_graph(csbm(40, 0.5, features=3, seed=0), eta=0.5)
    >>> learned([PCConv(K=2, N=4, t=0.5, p=2.0, eta=0.5)], operator).responses.shape
    (1, 600)
    """
    first = convs[0]
    matrix = operator.matrix.to_scipy()
    small = operator.matrix.nnz <= EXACT
    low, high = operator.interval if small else _rough_interval(matrix, operator.eta)
    # All eigenvalues are one where no edge joins two nodes.
    room = max(0.0, 0.01 - (high - low))
    s = np.linspace(low - room, high + room, POINTS)
    density = spectral_density(matrix, (s[0], s[-1]), s, moments=FINE if small else COARSE)
    lam = first.frequency(s)
    responses = np.array([conv.response(lam).reshape(-1, len(lam)).mean(axis=0) for conv in convs])
    return Learned(lam, responses, density, f"{first.laplacian}, η = {operator.eta:g}")


def _rough_interval(matrix: scipy.sparse.csr_matrix, eta: float) -> tuple[float, float]:
    """Good enough to draw: [−1, 1] holds for η = ½; else both ends by Lanczos to a hundredth, and as much room."""
    # Imported here: most commands need no eigenvalues.
    import scipy.sparse.linalg

    if eta == 0.5:
        return -1.0, 1.0
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    low, high = sorted(scipy.sparse.linalg.eigsh(matrix, 2, which="BE", v0=start, tol=1e-2, return_eigenvectors=False))
    room = 0.02 * (high - low)
    return float(low - room), float(high + room)
