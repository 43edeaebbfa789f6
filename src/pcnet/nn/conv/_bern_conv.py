"""BernNet's filter: Bernstein polynomials with positive weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.special

from pcnet._checks import FloatArray
from pcnet.nn.conv._cheb2_conv import chebyshev_nodes, interpolation_matrix
from pcnet.nn.conv._matrix_conv import MatrixConv
from pcnet.polynomial import Basis, Chebyshev


class BernConv(MatrixConv):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k X, L = I − S. θ = 1 is the identity.

    Term by term that takes K + K(K+1)/2 products; as one polynomial, expanded in Chebyshev's of S, it takes K.
    """

    positive: ClassVar[bool] = True

    def __init__(self, K: int = 10) -> None:
        super().__init__(K)

    @staticmethod
    def matrix(K: int) -> FloatArray:
        return bernstein_matrix(K)

    @property
    def basis(self) -> Basis:
        return Chebyshev()


def bernstein_matrix(K: int) -> FloatArray:
    """Chebyshev coefficients of C(K,k) ((1+s)/2)^{K−k} ((1−s)/2)^k, k = 0..K, in columns.

    Of degree K, each is known exactly by its values at K + 1 nodes.
    """
    k, s = np.arange(K + 1), chebyshev_nodes(K)[:, None]
    values: FloatArray = scipy.special.binom(K, k) * ((1 + s) / 2) ** (K - k) * ((1 - s) / 2) ** k
    return interpolation_matrix(K) @ values
