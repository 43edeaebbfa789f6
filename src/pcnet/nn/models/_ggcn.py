"""GGCN (Yan et al., ICDM 2022): messages with signs, corrected for degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, normalize, softplus

from pcnet.graph import CSR, Operator, SelfLoops, made_once
from pcnet.nn._edges import in_full, like
from pcnet.nn.models._layered_net import DIRECTED, LayeredNet, LayeredNetSettings, empty, linear, uniform_by_inputs
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import entry_dots, weighted_sums


@dataclass(frozen=True)
class GGCNSettings(LayeredNetSettings):
    hidden: int = 16
    dropout: float = setting(0.5, "dropout rate of the features and of every layer")
    layers: int = setting(5, "number of layers L", least=2)
    decay: float = setting(1.0, "η", least=0)
    exponent: float = setting(3.0, "k")
    directed: bool = setting(False, DIRECTED)

    def memory(self, classes: int) -> Memory:
        """Of every layer its H with the length of its rows, the mask, what is dropped and what is summed.

        For each edge, a few numbers of every layer, and messages of the one at work.
        """
        nodes, widest, _ = super().memory(classes)
        return Memory(nodes + 10 * self.layers * self.hidden, widest, 10 * self.layers + 3 * widest)


@method("ggcn", title="GGCN")
class GGCN(LayeredNet[GGCNSettings]):
    """P_l = P_{l−1} + κ_l δ(elu(U_{l−1})), U_l = F_l(P_l), from P_1 = elu(δ(X) W_0 + b_0) and U_1 = F_1(δ(X)); Z = U_L.

    A layer maps H = P W + b by signed messages between unlike and like neighbours, j ≠ i,

        F(P)_i = softplus(s) (c_0 Σ_j relu(e_ij) h_j − c_1 Σ_j relu(−e_ij) h_j + c_2 h_i),  c = softmax(signs)
        e_ij = S_ij τ_ij cos(h_i, h_j),  τ_ij = softplus(a_0 (S_ii / S_ij − 1) + a_1)

    and has W, b, s, signs and a of its own. κ_2 = 1 and κ_l = ln(η / l^k + 1) after it. S = (D+I)^-½ (A+I) (D+I)^-½,
    with I on top of the self loops that the graph has. Everything is computed on the edges, in linear memory.
    """

    self_loops: SelfLoops = "add"

    def setup(self, s: GGCNSettings) -> None:
        # W_0 and W_1 see the same features, dropped alike.
        self.first = self.opening(2 * s.hidden, drop=s.dropout, bias=True)
        # All inner layers, if any, in one parameter each: an optimiser's step is as long as its list of parameters.
        inner = [s.layers - 2] if s.layers > 2 else []
        self.weights = nn.ParameterList([empty(count, s.hidden, s.hidden) for count in inner])
        self.biases = nn.ParameterList([empty(count, s.hidden) for count in inner])
        self.last, self.bias = empty(s.hidden, self.out_channels), empty(self.out_channels)
        self.degree, self.signs, self.scale = empty(s.layers, 2), empty(s.layers, 3), empty(s.layers)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's; a = (½, 0), signs = 0, s = 2."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([*self.weights, *self.biases, self.last, self.bias], self.last.shape[0], generator)
        with torch.no_grad():
            self.degree[:, 0], self.degree[:, 1] = 0.5, 0.0
            self.signs.zero_()
            self.scale.fill_(2.0)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        neighbours = _neighbours(operator)
        p, u = h.chunk(2, -1)
        p, u = elu(p), self._messages(0, u, *neighbours)
        weights = [*(weight for inner in self.weights for weight in inner.unbind(-3)), self.last]
        biases = [*(bias for inner in self.biases for bias in inner.unbind(-2)), self.bias]
        s = self.settings
        for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
            kappa = 1.0 if layer == 1 else math.log1p(s.decay / (layer + 1) ** s.exponent)
            p = p + kappa * self.drop(elu(u))
            u = self._messages(layer, linear(p, weight, bias), *neighbours)
        return u

    def _messages(self, layer: int, h: Tensor, neighbours: CSR, ratio: Tensor) -> Tensor:
        """F, from H on."""
        a_0, a_1 = self.degree[..., layer, :, None, None].unbind(-3)
        like, unlike, own = self.signs[..., layer, :, None, None].softmax(-3).unbind(-3)
        unit = normalize(h, dim=-1, eps=1e-9)
        e = neighbours.values.unsqueeze(-1) * softplus(a_0 * ratio + a_1) * entry_dots(neighbours, unit, unit)
        sums = weighted_sums(neighbours, torch.where(e > 0, like, unlike) * e, h)
        return softplus(self.scale[..., layer, None, None]) * (sums + own * h)


@made_once
def _neighbours(operator: Operator) -> tuple[CSR, Tensor]:
    """S without its diagonal, and S_ii / S_ij − 1 for each of its entries, as a column."""
    S = in_full(operator)
    own, off = S.values[S.rows == S.col], S.off_diagonal()
    ratio = own[off.rows] / off.values - 1
    return like(operator, off, off.values), ratio.to(operator.matrix.values).unsqueeze(-1)
