"""MixHop (Abu-El-Haija et al., ICML 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet._checks import whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, normed, over_nodes
from pcnet.propagate import apply_operator, product

#: TensorFlow's, for which a column's variance is small against it now and then.
EPSILON = 1e-3


class MixHop(LayeredNet):
    """Z = Σ_j q_j S^j δ(H) V_j, H = relu(‖_j S^j δ(X) W_j, standardised, + b), j = 0 … hops, q = softmax(mix).

    Rows of X are scaled to length 1 (the authors scale them after dropout; and of features they keep only which are
    not 0, for which there is `binary`). Columns are standardised over all nodes of the graph at hand, while training or
    not: (h − mean) / √(variance + 10⁻³). S = (D+I)^-½ (A+I) (D+I)^-½.

    Args:
        in_channels: number of features.
        hidden_channels: width of H, shared out evenly among the powers; the last one takes what is left over.
        out_channels: number of classes.
        hops: the highest power.
        binary: whether every feature that is not 0 counts as 1.
        drop_in: dropout rate of the features.
        dropout: dropout rate of H.
    """

    common: ClassVar[tuple[str, ...]] = ("binary",)
    self_loops: SelfLoops = "fill"

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        hops: int = 2,
        binary: bool = False,
        drop_in: float = 0.7,
        dropout: float = 0.9,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, drop_in=drop_in, dropout=dropout)
        self.binary = binary
        powers = whole_number("hops", hops) + 1
        if hidden_channels < powers:
            raise PcnetError(f"{powers} powers cannot share {hidden_channels} hidden channels; give each at least one.")
        self.widths = [hidden_channels // powers] * hops
        self.widths.append(hidden_channels - sum(self.widths))
        self.second = nn.Parameter(torch.empty(powers, hidden_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(hidden_channels))
        self.mix = nn.Parameter(torch.empty(powers))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform by Glorot for each power by itself, biases and mixture zero."""
        inner, outer = self.first.weights[0].split(self.widths, -1), self.second.unbind(-3)
        with torch.no_grad():
            for weight in (*inner, *outer):
                bound = math.sqrt(6 / sum(weight.shape))
                nn.init.uniform_(weight, -bound, bound, generator=generator)
        for parameter in (self.bias, self.mix):
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = CSR.from_torch(x)
        if isinstance(x, CSR):
            return super().forward(_unit_rows(x, self.binary), edge_index, edge_weight)
        return super().forward(nn.functional.normalize((x != 0).to(x) if self.binary else x), edge_index, edge_weight)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = self._powers(h, operator)
        h = self.drop((normed(h, EPSILON) + over_nodes(self.bias)).relu())
        weights = self.mix.softmax(-1)[..., None, None] * self.second
        z, *rest = (h @ weight for weight in reversed(weights.unbind(-3)))
        for lower in rest:  # Horner's rule
            z = apply_operator(operator, z) + lower
        return z

    def _powers(self, h: Tensor, operator: Operator) -> Tensor:
        """‖_j S^j h_j, h_j the columns of power j: each product is of the powers that still need it."""
        parts, rest = [], h
        for width in self.widths[:-1]:
            part, rest = rest.split([width, rest.shape[-1] - width], -1)
            parts.append(part)
            rest = apply_operator(operator, rest)
        return torch.cat([*parts, rest], -1)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"conv": [self.first.weights[0], self.second], "bias": [self.bias], "mix": [self.mix]}


@lru_cache(maxsize=8)
def _unit_rows(x: CSR, binary: bool) -> CSR:
    """x_i / ‖x_i‖, rows of zeros left as they are; made once for a graph's features."""
    values = (x.values != 0).to(x.values) if binary else x.values
    lengths = product(x, values.new_ones(x.shape[1], 1), values.square()).sqrt().squeeze(-1)
    # A row that stores nothing but zeros has no length, and stays as it is.
    lengths = lengths.masked_fill(lengths == 0, 1.0)
    return CSR(x.crow, x.col, values / lengths.repeat_interleave(x.crow.diff().long()), x.shape)


@dataclass(frozen=True)
class MixHopSettings(LayeredNetSettings):
    """The arguments of `MixHop`."""

    method: ClassVar[str] = "mixhop"
    self_loops: ClassVar[SelfLoops] = "fill"

    dropout: float = 0.9
    drop_in: float = 0.7
    hops: int = 2
    binary: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        return ("conv", "bias", "mix")

    def make(self, in_channels: int, out_channels: int) -> MixHop:
        rest = {name: getattr(self, name) for name in ("hops", "binary", "drop_in", "dropout")}
        return MixHop(in_channels, self.hidden, out_channels, **rest)

    def node_floats(self, classes: int) -> int:
        return 16 * self.hidden + 6 * (self.hops + 2) * classes
