"""Layer upon layer: the shape of the methods that are no filter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import torch
from torch import Tensor, nn

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, made_once
from pcnet.nn._dropout import draws_from_torch, drop
from pcnet.nn._module import device_vector
from pcnet.nn._perceptron import Perceptron
from pcnet.nn._products import over_nodes, times
from pcnet.nn.models._model import Memory, Model, ModelSettings, setting
from pcnet.propagate import product

#: What `directed` means where a method has it.
DIRECTED = "whether a page hears only from the pages it links to, as in the published code"
#: On a GPU, where a model's own dropout begins to count its places; the perceptron inside has those before.
FIRST_PLACE = 16


@dataclass(frozen=True)
class LayeredNetSettings(ModelSettings):
    """What layered methods have in common.

    Matrix products of many runs in one call round differently from one by one, so on the CPU these runs are trained
    one by one, each on a core; on a GPU they are trained side by side.
    """

    side_by_side: ClassVar[bool] = False

    hidden: int = setting(64, "width of hidden layers", least=1)
    dropout: float = setting(0.5, "dropout rate of hidden layers")

    def memory(self, classes: int) -> Memory:
        return Memory(12 * (self.hidden + classes), max(self.hidden, classes))


L = TypeVar("L", bound=ModelSettings)


class LayeredNet(Model[L]):
    """Maps sparse or dense features once, by `self.first` = δ(X) W, and goes on with dense blocks from there.

    A block is (n, d), or (R, n, d) for R runs side by side; weights are (d, d'), or (R, d, d'). `@`, sums and
    `apply_operator` mean the same for both; biases need `over_nodes`, settings that vary between runs `each`.
    """

    first: Perceptron

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
            return self.layers(self.first(self.scaled(x), self.draws), operator)
        finally:
            self.draws = given

    def scaled(self, x: Tensor | CSR) -> Tensor | CSR:
        """Features as the method wants them."""
        return x

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        """Everything after `first`, which has come to h."""
        raise NotImplementedError

    def check_graph(self, what: str, known: int, found: int) -> None:
        """Refuse a graph that has more or fewer of what this model has a weight for each of."""
        if known != found:
            raise PcnetError(
                f"This model has weights for {known} {what}, the graph has {found}; "
                "train one on the graph itself, with settings from settings.for_graph(graph)."
            )

    def opening(self, columns: int, drop: float = 0.0, bias: bool = False) -> Perceptron:
        """δ(X) W + b with so many columns."""
        return Perceptron([self.in_channels, columns], dropout=(drop,), bias=bias)

    def drop(self, h: Tensor, rate: str = "dropout") -> Tensor:
        """δ(h) while training, with the rates of a setting."""
        if not self.training or self.draws is None:
            return h
        self._place += 1
        stacked = h if self.runs is not None else h.unsqueeze(0)
        dropped = drop(stacked, self.rates(rate), self.draws, self._place)
        return dropped if self.runs is not None else dropped[0]

    def each(self, setting: str) -> Tensor:
        """A setting of every run as a factor of its block: (R, 1, 1), or a single number of a single run."""
        weight = self.first.weights[0]
        held = device_vector(self.rates(setting), weight.device, weight.dtype)
        return held[0] if self.runs is None else held.view(-1, 1, 1)


def empty(*shape: int) -> nn.Parameter:
    """A parameter that `reset_parameters` fills."""
    return nn.Parameter(torch.empty(*shape))


def normed(h: Tensor, eps: float, shift: Tensor, gain: Tensor | None = None) -> Tensor:
    """γ (h − mean) / √(variance + ε) + β, for each column over all nodes."""
    variance, mean = torch.var_mean(h, dim=-2, correction=0, keepdim=True)
    h = (h - mean) * (variance + eps).rsqrt()
    nodes = h.shape[-2]
    return (h if gain is None else h * over_nodes(gain, nodes)) + over_nodes(shift, nodes)


def unit_rows(x: Tensor | CSR, order: float, binary: bool = False) -> Tensor | CSR:
    """x_i / ‖x_i‖, the norm of order 2 or ∞, rows of zeros as they are; with `binary`, of 1 where x is not 0."""
    if isinstance(x, CSR):
        return _sparse_unit_rows(x, order, binary)
    x = (x != 0).to(x) if binary else x
    lengths = torch.linalg.vector_norm(x, order, dim=1, keepdim=True)
    return x / lengths.masked_fill(lengths == 0, 1.0)


@made_once
def _sparse_unit_rows(x: CSR, order: float, binary: bool) -> CSR:
    """Kept with the features, for the transpose is kept with it."""
    values = (x.values != 0).to(x.values) if binary else x.values
    if order == math.inf:
        lengths = values.new_zeros(x.shape[0]).scatter_reduce_(0, x.rows, values.abs(), "amax")
    else:
        lengths = product(x, values.new_ones(x.shape[1], 1), values.square()).sqrt().squeeze(-1)
    return x.with_values(values / lengths.masked_fill(lengths == 0, 1.0)[x.rows])


def linear(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """h W + b."""
    return times(h, weight) + over_nodes(bias, h.shape[-2])


def zeros(parameters: Iterable[Tensor]) -> None:
    for parameter in parameters:
        nn.init.zeros_(parameter)


def uniform(parameters: Iterable[Tensor], bound: float, generator: torch.Generator | None) -> None:
    """Uniform in ±bound."""
    for parameter in parameters:
        nn.init.uniform_(parameter, -bound, bound, generator=generator)


def uniform_by_inputs(parameters: Iterable[Tensor], inputs: int, generator: torch.Generator | None) -> None:
    """Uniform in ±1/√d, d the number of inputs: weights and biases as torch's linear layers begin."""
    uniform(parameters, max(1, inputs) ** -0.5, generator)


def glorot(weights: Iterable[Tensor], generator: torch.Generator | None, blocks: int = 1) -> None:
    """Uniform in ±√(6 / (d + d')), for each of the `blocks` matrices that stand side by side in a weight."""
    for weight in weights:
        for block in weight.detach().chunk(blocks, dim=-1):
            nn.init.xavier_uniform_(block, generator=generator)
