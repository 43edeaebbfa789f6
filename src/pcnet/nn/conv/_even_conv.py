"""EvenNet's filter: even powers only."""

from __future__ import annotations

import numpy as np
import torch

from pcnet._checks import FloatArray, finite_number
from pcnet.nn.conv._matrix_conv import MatrixConv
from pcnet.polynomial import Basis, Powers


class EvenConv(MatrixConv):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} X: neighbours of neighbours, who are alike whether or not neighbours are.

    θ starts as θ_k = α(1−α)^{2k}, which does not add up to 1.
    """

    def __init__(self, K: int = 10, alpha: float = 0.1) -> None:
        super().__init__(K)
        self.alpha = finite_number("alpha", alpha)
        self.reset_parameters()

    @staticmethod
    def matrix(K: int) -> FloatArray:
        """θ_k is the coefficient of S^{2k}."""
        return np.eye(K + 1)[:, ::2].copy()

    def reset_parameters(self) -> None:
        powers = np.arange(0.0, self.K + 1, 2)
        self.theta.data = torch.from_numpy(self.alpha * (1 - self.alpha) ** powers).to(self.theta)

    @property
    def basis(self) -> Basis:
        return Powers()

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={self.alpha:g}"
