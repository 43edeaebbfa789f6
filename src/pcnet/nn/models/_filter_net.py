"""Transform, then filter: the shape of every spectral method here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Operator
from pcnet.nn._dense_features import Precision
from pcnet.nn._dropout import check_rate, draws_from_torch
from pcnet.nn._perceptron import Activation, Perceptron
from pcnet.nn.conv import PolynomialConv
from pcnet.nn.models._settings import Model, ModelSettings


class FilterNet(Model):
    """Z = g(S) δ(Θ(X)): a perceptron from features to classes, dropout, and a filter; without a filter, an MLP.

    Args:
        in_channels: number of features.
        hidden_channels: width of the hidden layer, or None for a single linear layer.
        out_channels: number of classes.
        conv: the filter g, or None.
        activation: "relu", "elu" or None, between the two layers.
        drop_in: dropout rate on the features (of sparse ones, on their non-zeros).
        drop_hidden: dropout rate between the two layers.
        drop_prop: dropout rate before the propagation.
        precision: how a GPU multiplies features and hidden layers: "float32"; "tf32", whose factors have eleven bits;
            "bfloat16", whose factors and hidden layers have eight. Sums are float32 always, and so is the CPU.
    """

    per_run: ClassVar[tuple[str, ...]] = ("drop_prop",)
    seeded: ClassVar[tuple[str, ...]] = ("transform.",)
    #: Whether it was made for edges that count one way: such an S has no real frequencies that g could be drawn over.
    directed: bool = False

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int | None,
        out_channels: int,
        conv: PolynomialConv | None,
        *,
        activation: Activation = None,
        drop_in: float = 0.0,
        drop_hidden: float = 0.0,
        drop_prop: float = 0.0,
        precision: Precision = "float32",
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_rate("drop_prop", drop_prop)
        inner = () if hidden_channels is None else (hidden_channels,)
        rates = (drop_in, drop_hidden)[: 1 + len(inner)]
        self.transform = Perceptron(
            [in_channels, *inner, out_channels], dropout=rates, activation=activation, precision=precision
        )
        self.conv = conv
        self.drop_prop: tuple[float, ...] = (drop_prop,)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.transform.reset_parameters(generator)
        if self.conv is not None:
            self.conv.reset_parameters()

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Logits (n, classes), or (R, n, classes) for a stack of runs. x may be dense, torch-sparse or a `CSR`."""
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = CSR.from_torch(x)
        draws = self.draws
        if self.training and draws is None:
            draws = draws_from_torch(self.runs or 1, self.transform.weights[0].device)
        z = self.transform(x, draws, self.drop_prop)
        return z if self.conv is None else self.conv(z, edge_index, edge_weight)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Those of the filter, and `first` and `second` for the layers."""
        names = ("first", "second")[: len(self.transform.weights)]
        layers = zip(names, self.transform.weights, self.transform.biases, strict=True)
        filters = {} if self.conv is None else self.conv.parameter_groups()
        return filters | {name: [weight, bias] for name, weight, bias in layers}


def filters_of(models: Iterable[Model]) -> list[PolynomialConv]:
    """The learned filters of models, of those that have one and whose graph has frequencies to draw it over."""
    nets = (model for model in models if isinstance(model, FilterNet) and not model.directed)
    return [net.conv for net in nets if net.conv is not None]


@dataclass(frozen=True)
class FilterNetSettings(ModelSettings):
    """What filter methods have in common, with the defaults of the GPRGNN line of papers."""

    #: Parameter groups of the filter.
    filter_groups: ClassVar[tuple[str, ...]] = ("theta",)

    hidden: int | None = 64
    activation: Activation = "relu"
    drop_in: float = 0.5
    drop_hidden: float = 0.5
    drop_prop: float = 0.0
    precision: Precision = "float32"

    @abstractmethod
    def conv(self, classes: int) -> PolynomialConv | None:
        """The filter, with its first coefficients."""

    @property
    @abstractmethod
    def filter_key(self) -> tuple[Hashable, ...]:
        """What filters must have in common to be computed side by side."""

    @property
    def groups(self) -> tuple[str, ...]:
        return ("first", *self.filter_groups, *(() if self.hidden is None else ("second",)))

    @property
    def batch_key(self) -> Hashable:
        return type(self), self.hidden, self.activation, self.precision, *self.filter_key

    def make(self, in_channels: int, out_channels: int) -> FilterNet:
        names = ("activation", "drop_in", "drop_hidden", "drop_prop", "precision")
        rest = {name: getattr(self, name) for name in names}
        return FilterNet(in_channels, self.hidden, out_channels, self.conv(out_channels), **rest)

    def node_floats(self, classes: int) -> int:
        """Hidden layers there and back, logits and what propagates them."""
        return 5 * (self.hidden or 0) + 12 * classes + 4

    def widest(self, classes: int) -> int:
        return max(self.hidden or 0, classes)
