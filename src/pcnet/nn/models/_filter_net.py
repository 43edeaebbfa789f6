"""Transform, then filter: the shape of every spectral method here."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.nn._device_perceptron import Precision
from pcnet.nn._perceptron import Activation, Perceptron
from pcnet.nn.conv import PolynomialConv
from pcnet.nn.models._model import Memory, Model, ModelSettings, setting


@dataclass(frozen=True)
class FilterNetSettings(ModelSettings):
    """What filter methods have in common, with the defaults of the GPRGNN line of papers."""

    hidden: int | None = setting(64, "width of the hidden layer, or None for a single linear layer", least=1)
    activation: Activation = setting("relu", '"relu", "elu" or None, between the two layers')
    drop_in: float = setting(0.5, "dropout rate on the features (of sparse ones, on their non-zeros)")
    drop_hidden: float = setting(0.5, "dropout rate between the two layers")
    drop_prop: float = setting(0.0, "dropout rate before the propagation")
    #: Sums are float32 always, and so is the CPU.
    precision: Precision = setting(
        "float32",
        'how a GPU multiplies features and hidden layers: "float32"; "tf32", whose factors have eleven bits; '
        '"bfloat16", whose factors and hidden layers have eight',
    )

    model: ClassVar[type[FilterNet[Any]]]

    @property
    def groups(self) -> tuple[str, ...]:
        of_filter = () if self.model.filter is None else self.model.filter.groups
        return ("first", *of_filter, *(() if self.hidden is None else ("second",)))

    def conv(self, classes: int) -> PolynomialConv | None:
        """The filter with its first coefficients: its arguments are the settings of the same names."""
        kind, known = self.model.filter, {"channels": classes, **vars(self)}
        return None if kind is None else kind(**{name: known[name] for name in inspect.signature(kind).parameters})

    def memory(self, classes: int) -> Memory:
        """Hidden layers there and back, logits and what propagates them."""
        hidden = self.hidden or 0
        return Memory(5 * hidden + 12 * classes + 4, max(hidden, classes))


F = TypeVar("F", bound=FilterNetSettings)


class FilterNet(Model[F]):
    """Z = g(S) δ(Θ(X)): a perceptron from features to classes, dropout, and a filter; without a filter, an MLP."""

    seeded: ClassVar[tuple[str, ...]] = ("transform.",)
    #: The layer g, or None.
    filter: ClassVar[type[PolynomialConv] | None] = None
    conv: Any

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.self_loops = "fill" if cls.filter is None else cls.filter.self_loops
        of_filter = {} if cls.filter is None else cls.filter.groups
        cls.groups = {group: tuple(f"conv.{start}" for start in starts) for group, starts in of_filter.items()} | {
            group: (f"transform.weights.{layer}", f"transform.biases.{layer}")
            for layer, group in enumerate(("first", "second"))
        }

    def setup(self, s: F) -> None:
        inner = () if s.hidden is None else (s.hidden,)
        widths, rates = [self.in_channels, *inner, self.out_channels], (s.drop_in, s.drop_hidden)[: 1 + len(inner)]
        self.transform = Perceptron(widths, dropout=rates, activation=s.activation, precision=s.precision)
        self.conv = s.conv(self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.transform.reset_parameters(generator)
        if self.conv is not None:
            self.conv.reset_parameters()

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Logits (n, classes), or (R, n, classes) for a stack of runs. x may be dense, torch-sparse or a `CSR`."""
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = CSR.from_torch(x)
        z = self.transform(x, self.draws, self.rates("drop_prop"))
        return z if self.conv is None else self.conv(z, edge_index, edge_weight)


def filters_of(models: Iterable[Model]) -> list[PolynomialConv]:
    """The learned filters of models, of those that have one and whose graph has frequencies to draw it over.

    A filter of edges that count one way is none of these: their S has no real frequencies.
    """
    nets = [model for model in models if isinstance(model, FilterNet) and model.conv is not None]
    return [net.conv for net in nets if not getattr(net.settings, "directed", False)]
