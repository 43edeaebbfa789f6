"""MLP: no graph at all."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.models._filter_net import FilterNetSettings


@dataclass(frozen=True)
class MLPSettings(FilterNetSettings):
    """Z = W_2 δ(σ(W_1 δ(X) + b_1)) + b_2, σ the ReLU; Table 3's row has an ELU (`activation`)."""

    method: ClassVar[str] = "mlp"
    self_loops: ClassVar[SelfLoops] = "fill"
    filter_groups: ClassVar[tuple[str, ...]] = ()

    def conv(self, classes: int) -> None:
        return None

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return ()
