"""ACM-GCN and ACMII-GCN (Luan et al., NeurIPS 2022): every node mixes a low-pass, a high-pass and its own channel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.propagate import apply_matrix

#: Low pass, high pass, identity.
CHANNELS = 3


class ACMGCN(LayeredNet):
    """H' = 3 (α_L H_L + α_H H_H + α_I H_I), two such layers; relu and dropout before each but the first relu.

        H_L = relu(P H W_L),  H_H = relu((I − P) H W_H),  H_I = relu(H W_I)      P = (D+I)^-1 (A+I)
        α = softmax(σ([H_L v_L, H_H v_H, H_I v_I]) M / 3), for every node its own

    ACMII has P relu(H W_L) and (I − P) relu(H W_H) instead. There are no biases. The second layer's H' are the logits,
    so those of ACM-GCN are never negative.

    Args:
        in_channels: number of features.
        hidden_channels: width of the first layer.
        out_channels: number of classes.
        variant: whether it is ACMII.
        dropout: dropout rate of the features and of the hidden layer.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "add"
    common: ClassVar[tuple[str, ...]] = ("variant",)

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        variant: bool = False,
        dropout: float = 0.5,
    ) -> None:
        super().__init__(in_channels, CHANNELS * hidden_channels, out_channels, drop_in=dropout, dropout=dropout)
        self.variant = variant
        #: [W_L ‖ W_H ‖ W_I] of the second layer; those of the first are `first`.
        self.second = nn.Parameter(torch.empty(hidden_channels, CHANNELS * out_channels))
        widths = (hidden_channels, out_channels)
        #: v_L, v_H and v_I of each layer, and M.
        self.tastes = nn.ParameterList([torch.empty(CHANNELS, width, 1) for width in widths])
        self.mixes = nn.ParameterList([torch.empty(CHANNELS, CHANNELS) for _ in widths])
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform: W in ±1/√d', d' the columns of one channel, v in ±1, M in ±1/√3."""
        for weight in (self.first.weights[0], self.second):
            bound = (weight.shape[1] / CHANNELS) ** -0.5
            nn.init.uniform_(weight, -bound, bound, generator=generator)
        for taste, mix in zip(self.tastes, self.mixes, strict=True):
            nn.init.uniform_(taste, -1, 1, generator=generator)
            nn.init.uniform_(mix, -(CHANNELS**-0.5), CHANNELS**-0.5, generator=generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        P = _averages(operator)
        h = self.drop(self._mixed(h, P, 0).relu())
        return self._mixed(h @ self.second, P, 1)

    def _mixed(self, mapped: Tensor, P: CSR, layer: int) -> Tensor:
        """H' from H [W_L ‖ W_H ‖ W_I]."""
        channels = _passed(mapped.relu(), P) if self.variant else [each.relu() for each in _passed(mapped, P)]
        tastes = self.tastes[layer].unbind(-3)
        liked = torch.cat([h @ v for h, v in zip(channels, tastes, strict=True)], dim=-1).sigmoid()
        shares = (liked @ self.mixes[layer] / CHANNELS).softmax(dim=-1) * CHANNELS
        low, high, same = (share * h for share, h in zip(shares.split(1, dim=-1), channels, strict=True))
        return low + high + same


def _passed(mapped: Tensor, P: CSR) -> list[Tensor]:
    """The thirds of a block as P x, (I − P) y and z; one product serves the first two."""
    width = mapped.shape[-1] // CHANNELS
    averaged_low, averaged_high = apply_matrix(P, mapped[..., : 2 * width]).split(width, dim=-1)
    _, high, same = mapped.split(width, dim=-1)
    return [averaged_low, high - averaged_high, same]


@lru_cache(maxsize=8)
def _averages(operator: Operator) -> CSR:
    """P: a node's mean over its neighbours and itself."""
    adjacency = operator.matrix.to_scipy()
    inverse = scipy.sparse.diags(1 / np.asarray(adjacency.sum(axis=1)).ravel())
    return CSR.from_scipy(inverse @ adjacency, operator.matrix.dtype).to(operator.matrix.device)


@dataclass(frozen=True)
class ACMGCNSettings(LayeredNetSettings):
    """The arguments of `ACMGCN`."""

    method: ClassVar[str] = "acmgcn"
    eta: ClassVar[float] = 0.0
    self_loops: ClassVar[SelfLoops] = "add"

    variant: bool = False

    def make(self, in_channels: int, out_channels: int) -> ACMGCN:
        return ACMGCN(in_channels, self.hidden, out_channels, variant=self.variant, dropout=self.dropout)

    def node_floats(self, classes: int) -> int:
        """Of both layers three channels, mapped, passed, mixed, and on the way back."""
        return CHANNELS * 8 * (self.hidden + classes) + 12 * classes

    def widest(self, classes: int) -> int:
        return CHANNELS * max(self.hidden, classes)
