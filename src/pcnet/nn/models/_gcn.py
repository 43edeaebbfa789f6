"""GCN (Kipf & Welling, ICLR 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn.models._layered_net import DIRECTED, LayeredNet, LayeredNetSettings, empty, glorot, over_nodes, zeros
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class GCNSettings(LayeredNetSettings):
    directed: bool = setting(False, DIRECTED)


@method("gcn", title="GCN")
class GCN(LayeredNet[GCNSettings]):
    """Z = S δ(relu(S X W_1 + b_1)) W_2 + b_2, S = (D+I)^-½ (A+I) (D+I)^-½; the features are not dropped."""

    self_loops: SelfLoops = "fill"

    def setup(self, s: GCNSettings) -> None:
        self.first = self.opening(s.hidden)
        self.second = empty(s.hidden, self.out_channels)
        self.biases = nn.ParameterList([empty(s.hidden), empty(self.out_channels)])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights by Glorot, biases zero."""
        glorot([*self.first.weights, self.second], generator)
        zeros(self.biases)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = apply_operator(operator, h) + over_nodes(self.biases[0])
        return apply_operator(operator, self.drop(h.relu()) @ self.second) + over_nodes(self.biases[1])
