"""ACM-GCN and ACMII-GCN (Luan et al., NeurIPS 2022): every node mixes a low-pass, a high-pass and its own channel."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn._edges import row_means
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, uniform
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_matrix

#: Low pass, high pass, identity.
CHANNELS = 3


@dataclass(frozen=True)
class ACMGCNSettings(LayeredNetSettings):
    dropout: float = setting(0.5, "dropout rate of the features and of the hidden layer")
    variant: bool = setting(False, "whether it is ACMII")

    def memory(self, classes: int) -> Memory:
        """Of both layers three channels, mapped, passed, mixed, and on the way back."""
        return Memory(CHANNELS * 8 * (self.hidden + classes) + 12 * classes, CHANNELS * max(self.hidden, classes))


@method("acmgcn", title="ACM-GCN")
class ACMGCN(LayeredNet[ACMGCNSettings]):
    """H' = 3 (α_L H_L + α_H H_H + α_I H_I), two such layers; relu and dropout before each but the first relu.

        H_L = relu(P H W_L),  H_H = relu((I − P) H W_H),  H_I = relu(H W_I)      P = (D+I)^-1 (A+I)
        α = softmax(σ([H_L v_L, H_H v_H, H_I v_I]) M / 3), for every node its own

    ACMII has P relu(H W_L) and (I − P) relu(H W_H) instead. There are no biases. The second layer's H' are the logits,
    so those of ACM-GCN are never negative.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "add"

    def setup(self, s: ACMGCNSettings) -> None:
        self.first = self.opening(CHANNELS * s.hidden, drop=s.dropout)
        #: [W_L ‖ W_H ‖ W_I] of the second layer; those of the first are `first`.
        self.second = empty(s.hidden, CHANNELS * self.out_channels)
        widths = (s.hidden, self.out_channels)
        #: v_L, v_H and v_I of each layer, and M.
        self.tastes = nn.ParameterList([empty(CHANNELS, width, 1) for width in widths])
        self.mixes = nn.ParameterList([empty(CHANNELS, CHANNELS) for _ in widths])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform: W in ±1/√d', d' the columns of one channel, v in ±1, M in ±1/√3."""
        for weight in (self.first.weights[0], self.second):
            uniform([weight], (weight.shape[1] / CHANNELS) ** -0.5, generator)
        for taste, mix in zip(self.tastes, self.mixes, strict=True):
            uniform([taste], 1, generator)
            uniform([mix], CHANNELS**-0.5, generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        P = row_means(operator)
        h = self.drop(self._mixed(h, P, 0).relu())
        return self._mixed(h @ self.second, P, 1)

    def _mixed(self, mapped: Tensor, P: CSR, layer: int) -> Tensor:
        """H' from H [W_L ‖ W_H ‖ W_I]."""
        variant, width = self.settings.variant, mapped.shape[-1] // CHANNELS
        mapped = mapped.relu() if variant else mapped
        # One product serves two channels.
        averaged_low, averaged_high = apply_matrix(P, mapped[..., : 2 * width]).split(width, dim=-1)
        _, high, same = mapped.split(width, dim=-1)
        channels = [averaged_low, high - averaged_high, same]
        channels = channels if variant else [each.relu() for each in channels]
        tastes = self.tastes[layer].unbind(-3)
        liked = torch.cat([h @ v for h, v in zip(channels, tastes, strict=True)], dim=-1).sigmoid()
        shares = (liked @ self.mixes[layer] / CHANNELS).softmax(dim=-1) * CHANNELS
        low, high, same = (share * h for share, h in zip(shares.split(1, dim=-1), channels, strict=True))
        return low + high + same
