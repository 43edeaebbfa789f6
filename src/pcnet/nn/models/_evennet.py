"""EvenNet (Lei et al., NeurIPS 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pcnet.nn.conv import EvenConv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class EvenNetSettings(FilterNetSettings):
    """K: the degree; alpha: how θ begins, see `EvenConv`."""

    varying: ClassVar[tuple[str, ...]] = ("alpha",)

    K: int = 10
    alpha: float = 0.1


@method("evennet", title="EvenNet")
class EvenNet(FilterNet[EvenNetSettings]):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} Θ(X), every θ_k learned."""

    filter = EvenConv
