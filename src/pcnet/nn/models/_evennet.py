"""EvenNet (Lei et al., NeurIPS 2022)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.conv import EvenConv
from pcnet.nn.models._filter_net import FilterNetSettings


@dataclass(frozen=True)
class EvenNetSettings(FilterNetSettings):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} Θ(X), every θ_k learned."""

    method: ClassVar[str] = "evennet"
    self_loops: ClassVar[SelfLoops] = "remove"

    K: int = 10
    alpha: float = 0.1

    def conv(self, classes: int) -> EvenConv:
        return EvenConv(self.K, self.alpha)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return (self.K,)
