"""Filters whose coefficients are a fixed matrix times what is learned: EvenNet's, ChebNetII's and BernNet's."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy.special
import torch
from torch import Tensor, nn

from pcnet._checks import FloatArray, finite_number, whole_number
from pcnet.graph import SelfLoops
from pcnet.nn._combine import combine
from pcnet.nn.conv._polynomial_conv import FixedBasisConv
from pcnet.polynomial import Basis, Chebyshev, Powers


class MatrixConv(FixedBasisConv):
    """Z = Σ_n c_n P_n(S) X, c = M φ(θ), S = D^-½ A D^-½ without self loops; φ is the ReLU or nothing.

    A ReLU that is closed stays closed: its θ has no gradient, and only a weight decay moves it.
    """

    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "K")
    self_loops: SelfLoops = "remove"
    #: M for a degree K, with K + 1 rows; P; and whether φ is the ReLU.
    matrix: ClassVar[staticmethod[[int], FloatArray]]
    basis: ClassVar[Basis] = Chebyshev()
    positive: ClassVar[bool] = True
    theta: nn.Parameter

    def __init__(self, K: int = 10) -> None:
        super().__init__()
        self.K = whole_number("K", K)
        self.theta = nn.Parameter(torch.ones(type(self).matrix(self.K).shape[1]))

    def reset_parameters(self) -> None:
        """θ = 1; of a single layer."""
        nn.init.ones_(self.theta)

    def coefficients(self) -> Tensor:
        return transformed(type(self).matrix, self.theta.relu() if self.positive else self.theta, self.K)

    def extra_repr(self) -> str:
        return f"K={self.K}"


def transformed(matrix: Callable[[int], FloatArray], theta: Tensor, K: int) -> Tensor:
    """M θ for every θ along the last axis."""
    rows = theta.reshape(-1, theta.shape[-1])
    return combine(_copies(matrix, K, len(rows), theta.device), rows).reshape(*theta.shape[:-1], K + 1)


@lru_cache(maxsize=64)
def _copies(matrix: Callable[[int], FloatArray], K: int, count: int, device: torch.device) -> Tensor:
    """M once for each θ, on the device to stay: a captured step cannot wait for a copy."""
    return torch.from_numpy(matrix(K)).expand(count, -1, -1).contiguous().to(device)


def even_columns(K: int) -> FloatArray:
    """θ_k is the coefficient of S^{2k}."""
    return np.eye(K + 1)[:, ::2].copy()


def chebyshev_nodes(K: int) -> FloatArray:
    """s_j = cos((j+½)π/(K+1)), j = 0..K, the zeros of T_{K+1}: low frequencies λ = 1 − s first."""
    nodes: FloatArray = np.cos((np.arange(K + 1) + 0.5) * np.pi / (K + 1))
    return nodes


def interpolation_matrix(K: int) -> FloatArray:
    """M[n, j] = (2 − [n=0])/(K+1) T_n(s_j): from a polynomial's values at the nodes to its Chebyshev coefficients."""
    M = 2 / (K + 1) * Chebyshev().evaluate(chebyshev_nodes(K), K)
    M[0] /= 2
    return M


def bernstein_matrix(K: int) -> FloatArray:
    """Chebyshev coefficients of C(K,k) ((1+s)/2)^{K−k} ((1−s)/2)^k, k = 0..K, in columns.

    Of degree K, each is known exactly by its values at K + 1 nodes.
    """
    k, s = np.arange(K + 1), chebyshev_nodes(K)[:, None]
    values: FloatArray = scipy.special.binom(K, k) * ((1 + s) / 2) ** (K - k) * ((1 - s) / 2) ** k
    return interpolation_matrix(K) @ values


class EvenConv(MatrixConv):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} X: neighbours of neighbours, who are alike whether or not neighbours are.

    θ starts as θ_k = α(1−α)^{2k}, which does not add up to 1.
    """

    matrix = staticmethod(even_columns)
    basis = Powers()
    positive = False

    def __init__(self, K: int = 10, alpha: float = 0.1) -> None:
        super().__init__(K)
        self.alpha = finite_number("alpha", alpha)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        powers = np.arange(0.0, self.K + 1, 2)
        self.theta.data = torch.from_numpy(self.alpha * (1 - self.alpha) ** powers).to(self.theta)

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={self.alpha:g}"


class Cheb2Conv(MatrixConv):
    """Z = h(L) X, L = I − S, h the polynomial of degree K with h(1 + x_j) = relu(θ_j), x_j = −cos((j+½)π/(K+1)).

    In the paper Z = w_0/2 X + Σ_{k=1..K} w_k T_k(L − I) X with w_k = 2/(K+1) Σ_j relu(θ_j) T_k(x_j). Here L − I = −S
    and x_j change their signs together, which changes no product T_k(L − I) T_k(x_j). θ = 1 is the identity.
    """

    matrix = staticmethod(interpolation_matrix)


class BernConv(MatrixConv):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k X, L = I − S. θ = 1 is the identity.

    Term by term that takes K + K(K+1)/2 products; as one polynomial, expanded in Chebyshev's of S, it takes K.
    """

    matrix = staticmethod(bernstein_matrix)
