"""GCN (Kipf & Welling, ICLR 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, glorot, over_nodes
from pcnet.propagate import apply_operator


class GCN(LayeredNet):
    """Z = S δ(relu(S X W_1 + b_1)) W_2 + b_2, S = (D+I)^-½ (A+I) (D+I)^-½; the features are not dropped."""

    self_loops: SelfLoops = "fill"

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, dropout: float = 0.5) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, dropout=dropout)
        self.second = nn.Parameter(torch.empty(hidden_channels, out_channels))
        self.biases = nn.ParameterList([torch.empty(hidden_channels), torch.empty(out_channels)])
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights by Glorot, biases zero."""
        for weight in (self.first.weights[0], self.second):
            glorot(weight, generator)
        for bias in self.biases:
            nn.init.zeros_(bias)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = apply_operator(operator, h) + over_nodes(self.biases[0])
        return apply_operator(operator, self.drop(h.relu()) @ self.second) + over_nodes(self.biases[1])


@dataclass(frozen=True)
class GCNSettings(LayeredNetSettings):
    """The arguments of `GCN`; with `directed`, a page hears from the pages it links to, as in the published code."""

    method: ClassVar[str] = "gcn"
    self_loops: ClassVar[SelfLoops] = "fill"

    directed: bool = False

    def make(self, in_channels: int, out_channels: int) -> GCN:
        return GCN(in_channels, self.hidden, out_channels, dropout=self.dropout)
