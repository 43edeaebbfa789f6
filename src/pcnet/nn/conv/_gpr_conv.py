"""GPRGNN's filter, and APPNP's, which is where it begins."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from pcnet._checks import finite_number, whole_number
from pcnet.errors import PcnetError
from pcnet.graph import Operator, SelfLoops
from pcnet.nn.conv._polynomial_conv import FixedBasisConv
from pcnet.polynomial import Basis, Powers

Start = Literal["ppr", "nppr"]


class GPRConv(FixedBasisConv):
    """Z = Σ_{k=0..K} θ_k S^k X, S = (D+I)^-½ (A+I) (D+I)^-½ (a native self loop is not doubled).

    θ starts as personalised PageRank, θ_k = α(1−α)^k and θ_K = (1−α)^K: all of it on X for α = 1 and on S^K X for
    α = 0; or with `start="nppr"` as α^k divided by its sum, which does not fall off for α near 1.
    """

    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "K")
    self_loops: SelfLoops = "fill"

    def __init__(self, K: int = 10, alpha: float = 0.1, start: Start = "ppr") -> None:
        super().__init__()
        self.K, self.alpha, self.start = whole_number("K", K), finite_number("alpha", alpha), start
        if start not in get_args(Start):
            raise PcnetError(f"start can be {' or '.join(get_args(Start))}, not {start!r}.")
        self.theta = nn.Parameter(torch.empty(K + 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """θ at the beginning; of a single layer."""
        start = page_rank(self.K, self.alpha) if self.start == "ppr" else _normalised_powers(self.K, self.alpha)
        self.theta.data = torch.from_numpy(start).to(self.theta)

    @property
    def basis(self) -> Basis:
        return Powers()

    def coefficients(self) -> Tensor:
        return self.theta

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={self.alpha:g}, start={self.start!r}"


class PPRConv(FixedBasisConv):
    """Z_{k+1} = (1−α) S Z_k + α X, K times from Z_0 = X: GPRConv with a θ that stays as it begins."""

    groups: ClassVar[tuple[str, ...]] = ()
    per_run: ClassVar[tuple[str, ...]] = ("alpha",)
    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "K")
    self_loops: SelfLoops = "fill"

    def __init__(self, K: int = 10, alpha: float = 0.1) -> None:
        super().__init__()
        self.K = whole_number("K", K)
        self.alpha: tuple[float, ...] = (finite_number("alpha", alpha),)

    @property
    def basis(self) -> Basis:
        return Powers()

    def coefficients(self, device: torch.device | str = "cpu") -> Tensor:
        rows = _page_ranks(self.K, self.alpha, torch.device(device))
        return rows if self.runs is not None else rows[0]

    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        return self.basis, self.coefficients(operator.matrix.device)

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={', '.join(f'{alpha:g}' for alpha in self.alpha)}"


def page_rank(K: int, alpha: float) -> np.ndarray:
    """α(1−α)^k for k < K, and (1−α)^K: what K steps of APPNP weigh the powers of S with."""
    weights = alpha * (1 - alpha) ** np.arange(K + 1.0)
    weights[K] = (1 - alpha) ** K
    return weights


def _normalised_powers(K: int, alpha: float) -> np.ndarray:
    weights = alpha ** np.arange(K + 1.0)
    return weights / np.abs(weights).sum()


@lru_cache(maxsize=64)
def _page_ranks(K: int, alphas: tuple[float, ...], device: torch.device) -> Tensor:
    """On the device to stay: a captured step cannot wait for a copy."""
    return torch.from_numpy(np.stack([page_rank(K, alpha) for alpha in alphas])).to(device)
