"""APPNP (Gasteiger et al., ICLR 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pcnet.nn.conv import PPRConv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class APPNPSettings(FilterNetSettings):
    """K: the degree; alpha: the share of Θ(X) in every step."""

    varying: ClassVar[tuple[str, ...]] = ("alpha",)

    K: int = 10
    alpha: float = 0.1


@method("appnp", title="APPNP")
class APPNP(FilterNet[APPNPSettings]):
    """Z = ((1−α) S)^K Θ(X) + α Σ_{k<K} ((1−α) S)^k Θ(X): personalised PageRank, nothing of it learned."""

    filter = PPRConv
