"""EGNN (Zhou et al., NeurIPS 2021): deep layers whose Dirichlet energy is kept within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._module import Groups, held
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, linear, uniform_by_inputs
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class EGNNSettings(LayeredNetSettings):
    dropout: float = setting(0.6, "dropout rate of features and layers")
    drop_out: float = setting(0.2, "dropout rate before the last linear layer")
    layers: int = setting(64, "number of layers L", least=1)
    c_min: float = setting(0.2, "how much of the energy a layer keeps at least", varies=True)
    c_max: float = setting(1.0, "how much of it the first layer may keep", positive=True)
    beta: float = setting(0.1, "share of H_0 in every layer, β")
    shift: float = setting(-10.0, "first value of every s_k")
    loss_weight: float = setting(20.0, "weight of the penalty")

    def memory(self, classes: int) -> Memory:
        """Of every layer its mask, the factor of W_k and both arguments of the maximum."""
        common = super().memory(classes)
        return common._replace(nodes=common.nodes + 4 * self.layers * self.hidden)


@method("egnn", title="EGNN")
class EGNN(LayeredNet[EGNNSettings]):
    """H_k = max(s_k, [(1−c_min) S δ(H_{k−1}) + (c_min−β) δ(H_{k−1}) + β H_0] W_k), H_0 = relu(δ(X) W + b).

    Z = δ(H_L) W' + b'. W_k begins as √c_k I, c_1 = c_max and c_k = 1 after it, and the loss grows by
    `loss_weight` · Σ_k ‖W_k − √c_k I‖ (Frobenius, not squared). All shifts s_k are learned; the authors' code leaves
    the last one as it begins.
    """

    self_loops: SelfLoops = "fill"
    groups: ClassVar[Groups] = {"conv": ("weights",), "linear": ("first", "last", "bias"), "shift": ("shifts",)}

    def setup(self, s: EGNNSettings) -> None:
        self.first = self.opening(s.hidden, drop=s.dropout, bias=True)
        # All layers in one parameter each: an optimiser's step is as long as its list of parameters.
        self.weights, self.shifts = empty(s.layers, s.hidden, s.hidden), empty(s.layers, s.hidden)
        self.last, self.bias = empty(s.hidden, self.out_channels), empty(self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's, W_k = √c_k I, s_k = `shift`."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([self.last, self.bias], self.last.shape[0], generator)
        with torch.no_grad():
            self.weights.copy_(self._centres())
            self.shifts.fill_(self.settings.shift)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = h.relu()
        c_min, beta = self.each("c_min"), self.settings.beta
        origin = beta * h
        for weight, shift in zip(self.weights.unbind(-3), self.shifts.unbind(-2), strict=True):
            h = self.drop(h)
            mixed = (1 - c_min) * apply_operator(operator, h) + (c_min - beta) * h + origin
            h = torch.maximum(mixed @ weight, over_nodes(shift, h.shape[-2]))
        return linear(self.drop(h, "drop_out"), self.last, self.bias)

    def penalty(self) -> Tensor:
        # Where W_k has not moved yet, torch's derivative of the norm is 0.
        return self.settings.loss_weight * torch.linalg.vector_norm(self.weights - self._centres(), dim=(-2, -1)).sum()

    def _centres(self) -> Tensor:
        centres = held(_centres, *self.weights.shape[-3:-1], self.settings.c_max, device=self.weights.device)
        return centres.to(self.weights.dtype)


def _centres(layers: int, width: int, c_max: float) -> Tensor:
    """√c_k I for every layer."""
    centres = torch.eye(width).repeat(layers, 1, 1)
    centres[0] *= c_max**0.5
    return centres
