"""ChebNetII (He, Wei & Wen, NeurIPS 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from pcnet.nn.conv import Cheb2Conv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class ChebNetIISettings(FilterNetSettings):
    """K: the degree."""

    K: int = 10


@method("chebnetii", title="ChebNetII")
class ChebNetII(FilterNet[ChebNetIISettings]):
    """Z = h(L) Θ(X), h through the learned values relu(θ_j) at Chebyshev's nodes."""

    filter = Cheb2Conv
