"""GPRGNN (Chien et al., ICLR 2021) and APPNP (Gasteiger et al., ICLR 2019), whose filter it learns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.conv import GPRConv, PPRConv
from pcnet.nn.conv._gpr_conv import Start
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings


@dataclass(frozen=True)
class GPRGNNSettings(FilterNetSettings):
    """Z = Σ_{k=0..K} θ_k S^k Θ(X), every θ_k learned; with `directed`, a page hears from the pages it links to."""

    method: ClassVar[str] = "gprgnn"
    self_loops: ClassVar[SelfLoops] = "fill"

    K: int = 10
    alpha: float = 0.1
    start: Start = "ppr"
    directed: bool = False

    def conv(self, classes: int) -> GPRConv:
        return GPRConv(self.K, self.alpha, self.start)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return self.K, self.directed

    def make(self, in_channels: int, out_channels: int) -> FilterNet:
        model = super().make(in_channels, out_channels)
        model.directed = self.directed
        return model


@dataclass(frozen=True)
class APPNPSettings(FilterNetSettings):
    """Z = ((1−α) S)^K Θ(X) + α Σ_{k<K} ((1−α) S)^k Θ(X): personalised PageRank, nothing of it learned."""

    method: ClassVar[str] = "appnp"
    self_loops: ClassVar[SelfLoops] = "fill"
    filter_groups: ClassVar[tuple[str, ...]] = ()

    K: int = 10
    alpha: float = 0.1

    def conv(self, classes: int) -> PPRConv:
        return PPRConv(self.K, self.alpha)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return (self.K,)
