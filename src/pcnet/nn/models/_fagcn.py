"""FAGCN (Bo et al., AAAI 2021): messages with signs, for low and for high frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._edges import pair_scores
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, linear, uniform_by_inputs
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import weighted_sums


@dataclass(frozen=True)
class FAGCNSettings(LayeredNetSettings):
    """The defaults are those of the authors' code."""

    hidden: int = 32
    dropout: float = setting(0.5, "dropout rate of the features, of h^(0) and of α")
    layers: int = setting(2, "number of layers L", least=1)
    eps: float = setting(0.3, "ε, the share of h^(0) in every layer", varies=True)

    def memory(self, classes: int) -> Memory:
        """Of every layer its h, and scores, α, mask and weight of each edge; of the one at work, its messages."""
        nodes, widest, _ = super().memory(classes)
        return Memory(nodes + 4 * self.layers * self.hidden, widest, 8 * self.layers + 3 * widest)


@method("fagcn", title="FAGCN")
class FAGCN(LayeredNet[FAGCNSettings]):
    """h_i^(l) = ε h_i^(0) + Σ_j δ(S_ij α_ij) h_j^(l−1), α_ij = tanh(g·h_i + g'·h_j), in each layer with its own g, g'.

    h^(0) = δ(relu(δ(X) W + b)) and Z = h^(L) W' + b'. S = D^-½ A D^-½ has no self loops: ε stands for them. An α
    above 0 averages neighbours, which is low-pass; one below 0 takes their difference, which is high-pass.
    """

    self_loops: SelfLoops = "remove"

    def setup(self, s: FAGCNSettings) -> None:
        self.first = self.opening(s.hidden, drop=s.dropout, bias=True)
        #: g and g' of each layer.
        self.gates = empty(s.layers, 2, s.hidden)
        self.last, self.bias = empty(s.hidden, self.out_channels), empty(self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Normal by Glorot, times √2, g and g' as one vector of twice the width; biases as torch's linear layers."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([self.bias], self.last.shape[0], generator)
        for weight, ends in (
            (self.first.weights[0], sum(self.first.weights[0].shape)),
            (self.gates, 2 * self.settings.hidden + 1),
            (self.last, sum(self.last.shape)),
        ):
            nn.init.normal_(weight, std=2 / ends**0.5, generator=generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        start = h = self.drop(h.relu())
        eps, S = self.each("eps"), operator.matrix.values.unsqueeze(-1)
        for gate in self.gates.unsqueeze(-2).unbind(-4):
            alpha = pair_scores(operator, h, gate).tanh()
            h = eps * start + weighted_sums(operator.matrix, self.drop(S * alpha), h)
        return linear(h, self.last, self.bias)
