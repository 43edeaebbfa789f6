"""Filters whose coefficients are a fixed matrix times what is learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet._checks import FloatArray, whole_number
from pcnet.graph import SelfLoops
from pcnet.nn._combine import combine
from pcnet.nn.conv._polynomial_conv import FixedBasisConv


class MatrixConv(FixedBasisConv):
    """Z = Σ_n c_n P_n(S) X, c = M φ(θ), S = D^-½ A D^-½ without self loops; φ is the ReLU or nothing.

    A ReLU that is closed stays closed: its θ has no gradient, and only a weight decay moves it.
    """

    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "K")
    self_loops: SelfLoops = "remove"
    #: Whether φ is the ReLU.
    positive: ClassVar[bool] = False
    theta: nn.Parameter

    def __init__(self, K: int) -> None:
        super().__init__()
        self.K = whole_number("K", K)
        self.theta = nn.Parameter(torch.ones(type(self).matrix(self.K).shape[1]))

    @staticmethod
    @abstractmethod
    def matrix(K: int) -> FloatArray:
        """M, with K + 1 rows."""

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
