"""BernNet (He et al., NeurIPS 2021)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.conv import BernConv
from pcnet.nn.models._filter_net import FilterNetSettings


@dataclass(frozen=True)
class BernNetSettings(FilterNetSettings):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k Θ(X)."""

    method: ClassVar[str] = "bernnet"
    self_loops: ClassVar[SelfLoops] = "remove"

    K: int = 10

    def conv(self, classes: int) -> BernConv:
        return BernConv(self.K)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return (self.K,)
