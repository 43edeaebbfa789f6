"""Layer upon layer: the shape of the methods that are no filter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Operator
from pcnet.nn._dropout import check_rate, device_vector, draws_from_torch, drop
from pcnet.nn._perceptron import Perceptron
from pcnet.nn.models._settings import Model, ModelSettings

#: On a GPU, where a model's own dropout begins to count its places; the perceptron inside has those before.
FIRST_PLACE = 16


class LayeredNet(Model):
    """Maps sparse or dense features once, by `self.first` = δ(X) W, and goes on with dense blocks from there.

    A block is (n, d), or (R, n, d) for R runs side by side; weights are (d, d'), or (R, d, d'). `@`, sums and
    `apply_operator` mean the same for both; biases need `over_nodes`.

    Args:
        in_channels: number of features.
        first_channels: columns of W.
        out_channels: number of classes.
        drop_in: dropout rate on the features.
        dropout: dropout rate of hidden layers.
        bias: whether `first` adds a bias.
    """

    per_run: ClassVar[tuple[str, ...]] = ("dropout",)

    def __init__(
        self,
        in_channels: int,
        first_channels: int,
        out_channels: int,
        *,
        drop_in: float = 0.0,
        dropout: float = 0.5,
        bias: bool = False,
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_rate("dropout", dropout)
        self.first = Perceptron([in_channels, first_channels], dropout=(drop_in,), bias=bias)
        self.dropout: tuple[float, ...] = (dropout,)

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Logits (n, classes), or (R, n, classes) for a stack of runs. x may be dense, torch-sparse or a `CSR`."""
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = CSR.from_torch(x)
        given = self.draws
        if self.training and given is None:
            self.draws = draws_from_torch(self.runs or 1, self.first.weights[0].device)
        self._place = FIRST_PLACE
        try:
            operator = self.operator(edge_index, x.shape[0], edge_weight, self.first.weights[0].dtype)
            return self.layers(self.first(x, self.draws), operator)
        finally:
            self.draws = given

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        """Everything after `first`, which has come to h."""
        raise NotImplementedError

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"all": list(self.parameters())}

    def drop(self, h: Tensor, rates: tuple[float, ...] | None = None) -> Tensor:
        """δ(h) while training, with this model's dropout rates or others."""
        if not self.training or self.draws is None:
            return h
        self._place += 1
        stacked = h if self.runs is not None else h.unsqueeze(0)
        dropped = drop(stacked, self.dropout if rates is None else rates, self.draws, self._place)
        return dropped if self.runs is not None else dropped[0]

    def each(self, values: tuple[float, ...]) -> Tensor:
        """A setting of every run as a factor of its block: (R, 1, 1), or a single number of a single run."""
        weight = self.first.weights[0]
        held = device_vector(values, weight.device, weight.dtype)
        return held[0] if self.runs is None else held.view(-1, 1, 1)


def over_nodes(bias: Tensor) -> Tensor:
    """A bias, or one for each of R runs, as a row that is added to every node."""
    return bias.unsqueeze(-2)


def normed(h: Tensor, eps: float) -> Tensor:
    """(h − mean) / √(variance + ε), for each column over all nodes."""
    variance, mean = torch.var_mean(h, dim=-2, correction=0, keepdim=True)
    return (h - mean) * (variance + eps).rsqrt()


def uniform_by_inputs(parameters: Iterable[Tensor], inputs: int, generator: torch.Generator | None) -> None:
    """Uniform in ±1/√d, d the number of inputs: weights and biases as torch's linear layers begin."""
    bound = max(1, inputs) ** -0.5
    for parameter in parameters:
        nn.init.uniform_(parameter, -bound, bound, generator=generator)


def glorot(weight: nn.Parameter, generator: torch.Generator | None) -> None:
    """Uniform in ±√(6 / (d + d'))."""
    nn.init.xavier_uniform_(weight, generator=generator)


@dataclass(frozen=True)
class LayeredNetSettings(ModelSettings):
    """What layered methods have in common.

    Matrix products of many runs in one call round differently from one by one, so on the CPU these runs are trained
    one by one, each on a core; on a GPU they are trained side by side.
    """

    side_by_side: ClassVar[bool] = False
    #: Settings, besides rates of dropout, in which the runs of a block may differ.
    varying: ClassVar[tuple[str, ...]] = ()

    hidden: int = 64
    dropout: float = 0.5

    @property
    def groups(self) -> tuple[str, ...]:
        return ("all",)

    @property
    def batch_key(self) -> Hashable:
        """All settings but the rates of dropout and those that vary."""
        free = {name for name in vars(self) if name.startswith("drop")}.union(self.varying)
        return type(self), *((name, value) for name, value in vars(self).items() if name not in free)

    def node_floats(self, classes: int) -> int:
        return 12 * self.hidden + 12 * classes

    def widest(self, classes: int) -> int:
        return max(self.hidden, classes)
