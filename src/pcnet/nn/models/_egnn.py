"""EGNN (Zhou et al., NeurIPS 2021): deep layers whose Dirichlet energy is kept within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet._checks import finite_number, positive_number, whole_number
from pcnet.graph import Operator, SelfLoops
from pcnet.nn._dropout import check_rate
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, over_nodes, uniform_by_inputs
from pcnet.propagate import apply_operator


class EGNN(LayeredNet):
    """H_k = max(s_k, [(1−c_min) S δ(H_{k−1}) + (c_min−β) δ(H_{k−1}) + β H_0] W_k), H_0 = relu(δ(X) W + b).

    Z = δ(H_L) W' + b'. W_k begins as √c_k I, c_1 = c_max and c_k = 1 after it, and the loss grows by
    `loss_weight` · Σ_k ‖W_k − √c_k I‖ (Frobenius, not squared). All shifts s_k are learned; the authors' code leaves
    the last one as it begins.

    Args:
        in_channels: number of features.
        hidden_channels: width of all layers.
        out_channels: number of classes.
        layers: their number L.
        c_min: how much of the energy a layer keeps at least.
        c_max: how much of it the first layer may keep.
        beta: share of H_0 in every layer, β.
        shift: first value of every s_k.
        loss_weight: weight of the penalty.
        dropout: dropout rate of features and layers.
        drop_out: dropout rate before the last linear layer.
    """

    self_loops: SelfLoops = "fill"
    per_run: ClassVar[tuple[str, ...]] = ("dropout", "drop_out", "c_min")
    common: ClassVar[tuple[str, ...]] = ("c_max", "beta", "loss_weight")

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 64,
        c_min: float = 0.2,
        c_max: float = 1.0,
        beta: float = 0.1,
        shift: float = -10.0,
        loss_weight: float = 20.0,
        dropout: float = 0.6,
        drop_out: float = 0.2,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, drop_in=dropout, dropout=dropout, bias=True)
        check_rate("drop_out", drop_out)
        depth = whole_number("layers", layers, least=1)
        self.drop_out: tuple[float, ...] = (drop_out,)
        self.c_min: tuple[float, ...] = (finite_number("c_min", c_min),)
        self.c_max, self.beta = positive_number("c_max", c_max), beta
        self.shift, self.loss_weight = finite_number("shift", shift), finite_number("loss_weight", loss_weight)
        # All layers in one parameter each: an optimiser's step is as long as its list of parameters.
        self.weights = nn.Parameter(torch.empty(depth, hidden_channels, hidden_channels))
        self.shifts = nn.Parameter(torch.empty(depth, hidden_channels))
        self.last = nn.Parameter(torch.empty(hidden_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's, W_k = √c_k I, s_k = `shift`."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([self.last, self.bias], self.last.shape[0], generator)
        with torch.no_grad():
            self.weights.copy_(self._centres())
            self.shifts.fill_(self.shift)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = h.relu()
        c_min, origin = self.each(self.c_min), self.beta * h
        for weight, shift in zip(self.weights.unbind(-3), self.shifts.unbind(-2), strict=True):
            h = self.drop(h)
            mixed = (1 - c_min) * apply_operator(operator, h) + (c_min - self.beta) * h + origin
            h = torch.maximum(mixed @ weight, over_nodes(shift))
        return self.drop(h, self.drop_out) @ self.last + over_nodes(self.bias)

    def penalty(self) -> Tensor:
        # Where W_k has not moved yet, torch's derivative of the norm is 0.
        return self.loss_weight * torch.linalg.vector_norm(self.weights - self._centres(), dim=(-2, -1)).sum()

    def _centres(self) -> Tensor:
        return _centres(*self.weights.shape[-3:-1], self.c_max, self.weights.device).to(self.weights.dtype)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        linear = [*self.first.weights, *self.first.biases, self.last, self.bias]
        return {"conv": [self.weights], "linear": linear, "shift": [self.shifts]}


@lru_cache(maxsize=64)
def _centres(layers: int, width: int, c_max: float, device: torch.device) -> Tensor:
    """√c_k I for every layer, on the device to stay."""
    centres = torch.eye(width).repeat(layers, 1, 1)
    centres[0] *= c_max**0.5
    return centres.to(device)


@dataclass(frozen=True)
class EGNNSettings(LayeredNetSettings):
    """The arguments of `EGNN`."""

    method: ClassVar[str] = "egnn"
    self_loops: ClassVar[SelfLoops] = "fill"
    varying: ClassVar[tuple[str, ...]] = ("c_min",)

    dropout: float = 0.6
    drop_out: float = 0.2
    layers: int = 64
    c_min: float = 0.2
    c_max: float = 1.0
    beta: float = 0.1
    shift: float = -10.0
    loss_weight: float = 20.0

    @property
    def groups(self) -> tuple[str, ...]:
        return ("conv", "linear", "shift")

    def make(self, in_channels: int, out_channels: int) -> EGNN:
        names = ("layers", "c_min", "c_max", "beta", "shift", "loss_weight", "dropout", "drop_out")
        rest = {name: getattr(self, name) for name in names}
        return EGNN(in_channels, self.hidden, out_channels, **rest)

    def node_floats(self, classes: int) -> int:
        """Of every layer its mask, the factor of W_k and both arguments of the maximum."""
        return (4 * self.layers + 12) * self.hidden + 12 * classes
