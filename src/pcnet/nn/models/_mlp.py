"""MLP: no graph at all."""

from __future__ import annotations

from dataclasses import dataclass

from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class MLPSettings(FilterNetSettings):
    """Those of `FilterNet`; Table 3's row has an ELU (`activation`)."""


@method("mlp", title="MLP")
class MLP(FilterNet[MLPSettings]):
    """Z = W_2 δ(σ(W_1 δ(X) + b_1)) + b_2, σ the ReLU."""
