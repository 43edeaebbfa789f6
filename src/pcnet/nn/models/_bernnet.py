"""BernNet (He et al., NeurIPS 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from pcnet.nn.conv import BernConv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class BernNetSettings(FilterNetSettings):
    """K: the degree."""

    K: int = 10


@method("bernnet", title="BernNet")
class BernNet(FilterNet[BernNetSettings]):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k Θ(X)."""

    filter = BernConv
