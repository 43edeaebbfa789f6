"""ChebNetII (He, Wei & Wen, NeurIPS 2022)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.conv import Cheb2Conv
from pcnet.nn.models._filter_net import FilterNetSettings


@dataclass(frozen=True)
class ChebNetIISettings(FilterNetSettings):
    """Z = h(L) Θ(X), h through the learned values relu(θ_j) at Chebyshev's nodes."""

    method: ClassVar[str] = "chebnetii"
    self_loops: ClassVar[SelfLoops] = "remove"

    K: int = 10

    def conv(self, classes: int) -> Cheb2Conv:
        return Cheb2Conv(self.K)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return (self.K,)
