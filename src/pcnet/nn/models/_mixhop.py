"""MixHop (Abu-El-Haija et al., ICML 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn._module import Groups
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, normed, uniform, unit_rows, zeros
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator

#: TensorFlow's, for which a column's variance is small against it now and then.
EPSILON = 1e-3


@dataclass(frozen=True)
class MixHopSettings(LayeredNetSettings):
    hidden: int = setting(64, "width of H, shared out evenly among the powers; the last one takes what is left over")
    dropout: float = setting(0.9, "dropout rate of H")
    drop_in: float = setting(0.7, "dropout rate of the features")
    hops: int = setting(2, "the highest power")
    binary: bool = setting(False, "whether every feature that is not 0 counts as 1")

    def __post_init__(self) -> None:
        super().__post_init__()
        powers = self.hops + 1
        if self.hidden < powers:
            raise PcnetError(f"{powers} powers cannot share {self.hidden} hidden channels; give each at least one.")

    @property
    def widths(self) -> list[int]:
        """Columns of H for each power."""
        even = [self.hidden // (self.hops + 1)] * self.hops
        return [*even, self.hidden - sum(even)]

    def memory(self, classes: int) -> Memory:
        return super().memory(classes)._replace(nodes=16 * self.hidden + 6 * (self.hops + 2) * classes)


@method("mixhop", title="MixHop")
class MixHop(LayeredNet[MixHopSettings]):
    """Z = Σ_j q_j S^j δ(H) V_j, H = relu(‖_j S^j δ(X) W_j, standardised, + b), j = 0 … hops, q = softmax(mix).

    Rows of X are scaled to length 1 (the authors scale them after dropout; and of features they keep only which are
    not 0, for which there is `binary`). Columns are standardised over all nodes of the graph at hand, while training or
    not: (h − mean) / √(variance + 10⁻³). S = (D+I)^-½ (A+I) (D+I)^-½.
    """

    self_loops: SelfLoops = "fill"
    groups: ClassVar[Groups] = {"conv": ("first", "second"), "bias": ("bias",), "mix": ("mix",)}

    def setup(self, s: MixHopSettings) -> None:
        self.first = self.opening(s.hidden, drop=s.drop_in)
        self.second = empty(s.hops + 1, s.hidden, self.out_channels)
        self.bias, self.mix = empty(s.hidden), empty(s.hops + 1)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform by Glorot for each power by itself, biases and mixture zero."""
        inner, outer = self.first.weights[0].split(self.settings.widths, -1), self.second.unbind(-3)
        for weight in (*inner, *outer):
            uniform([weight.detach()], math.sqrt(6 / sum(weight.shape)), generator)
        zeros([self.bias, self.mix])

    def scaled(self, x: Tensor | CSR) -> Tensor | CSR:
        return unit_rows(x, 2, self.settings.binary)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = self._powers(h, operator)
        h = self.drop(normed(h, EPSILON, self.bias).relu())
        weights = self.mix.softmax(-1)[..., None, None] * self.second
        z, *rest = (h @ weight for weight in reversed(weights.unbind(-3)))
        for lower in rest:  # Horner's rule
            z = apply_operator(operator, z) + lower
        return z

    def _powers(self, h: Tensor, operator: Operator) -> Tensor:
        """‖_j S^j h_j, h_j the columns of power j: each product is of the powers that still need it."""
        parts, rest = [], h
        for width in self.settings.widths[:-1]:
            part, rest = rest.split([width, rest.shape[-1] - width], -1)
            parts.append(part)
            rest = apply_operator(operator, rest)
        return torch.cat([*parts, rest], -1)
