"""GPRGNN (Chien et al., ICLR 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pcnet.nn.conv import GPRConv
from pcnet.nn.conv._gpr_conv import Start
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class GPRGNNSettings(FilterNetSettings):
    """K: the degree; alpha, start: how θ begins, see `GPRConv`.

    With `directed`, a page hears from the pages it links to.
    """

    varying: ClassVar[tuple[str, ...]] = ("alpha", "start")

    K: int = 10
    alpha: float = 0.1
    start: Start = "ppr"
    directed: bool = False


@method("gprgnn", title="GPRGNN")
class GPRGNN(FilterNet[GPRGNNSettings]):
    """Z = Σ_{k=0..K} θ_k S^k Θ(X), every θ_k learned."""

    filter = GPRConv
