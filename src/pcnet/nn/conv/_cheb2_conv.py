"""ChebNetII's filter: values at Chebyshev's nodes, interpolated."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pcnet._checks import FloatArray
from pcnet.nn.conv._matrix_conv import MatrixConv
from pcnet.polynomial import Basis, Chebyshev


class Cheb2Conv(MatrixConv):
    """Z = h(L) X, L = I − S, h the polynomial of degree K with h(1 + x_j) = relu(θ_j), x_j = −cos((j+½)π/(K+1)).

    In the paper Z = w_0/2 X + Σ_{k=1..K} w_k T_k(L − I) X with w_k = 2/(K+1) Σ_j relu(θ_j) T_k(x_j). Here L − I = −S
    and x_j change their signs together, which changes no product T_k(L − I) T_k(x_j). θ = 1 is the identity.
    """

    positive: ClassVar[bool] = True

    def __init__(self, K: int = 10) -> None:
        super().__init__(K)

    @staticmethod
    def matrix(K: int) -> FloatArray:
        return interpolation_matrix(K)

    @property
    def basis(self) -> Basis:
        return Chebyshev()


def chebyshev_nodes(K: int) -> FloatArray:
    """s_j = cos((j+½)π/(K+1)), j = 0..K, the zeros of T_{K+1}: low frequencies λ = 1 − s first."""
    nodes: FloatArray = np.cos((np.arange(K + 1) + 0.5) * np.pi / (K + 1))
    return nodes


def interpolation_matrix(K: int) -> FloatArray:
    """M[n, j] = (2 − [n=0])/(K+1) T_n(s_j): from a polynomial's values at the nodes to its Chebyshev coefficients."""
    M = 2 / (K + 1) * Chebyshev().evaluate(chebyshev_nodes(K), K)
    M[0] /= 2
    return M
