"""PCNet: features to classes, then PC-Conv; and PC-Conv in stacked layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn._perceptron import Activation
from pcnet.nn._products import by_runs
from pcnet.nn.conv import PCConv
from pcnet.nn.conv._polynomial_conv import FilterBasis
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, Model, setting
from pcnet.nn.models._stacked_net import Norm, StackedNet, stack_memory
from pcnet.polynomial import Mode, filter_warnings


@dataclass(frozen=True)
class PCNetSettings(FilterNetSettings):
    """The settings of `PCNet`; K, N, t, p, eta, identity, mode, init and basis are the arguments of `PCConv`.

    With more than one of `layers` they make a `StackedPCNet`, whose layers have a `norm` and one Θ each.

    The defaults did well on validation nodes of graphs of all kinds (Cora, CiteSeer, Texas, Wisconsin, Actor, Reed98,
    synthetic ones): N above K so that θ is identifiable, a small θ to begin with, some dropout.

    >>> PCNetSettings(K=3, t=0.4).build(in_channels=10, out_channels=2, seed=0).conv
    PCConv(K=3, N=6, t=0.4, p=2, eta=0.5, identity=True, mode='truncated')
    """

    activation: Activation = None
    drop_in: float = 0.3
    K: int = setting(4, least=1, most=1000, varies=True)
    N: int = setting(6, most=1000, varies=True)
    t: float = setting(0.5, varies=True)
    p: float = setting(2.0, varies=True)
    eta: float = 0.5
    identity: bool = setting(True, varies=True)
    mode: Mode = "truncated"
    init: float = setting(0.2, varies=True)
    basis: FilterBasis = setting("plain", varies=True)
    layers: int = setting(1, least=1, most=15)
    norm: Norm = "layer"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers > 1 and self.hidden is None:
            raise PcnetError(f"{self.layers} layers need a hidden width; set hidden, or layers to 1.")

    @property
    def network(self) -> type[Model[Any]]:
        return PCNet if self.layers == 1 else StackedPCNet

    @property
    def groups(self) -> tuple[str, ...]:
        return super().groups if self.layers == 1 else tuple(StackedPCNet.groups)

    def memory(self, classes: int) -> Memory:
        return super().memory(classes) if self.layers == 1 else stack_memory(self.layers, self.hidden or 0, classes)

    def remarks(self) -> list[str]:
        return filter_warnings(self.K, self.N, self.t, self.p, self.identity, self.mode)


@method("pcnet", title="PCNet")
class PCNet(FilterNet[PCNetSettings]):
    """Z = PCConv(δ(Θ(X))): the logits of every node; softmax and loss are the caller's.

    Θ is two linear layers with dropout before each, without a ReLU between them in the published model
    (`activation="relu"` puts it there), or with `hidden=None` a single linear layer (PCNet-Lin).

    Args:
        in_channels, hidden, out_channels: numbers of features, hidden units (or None) and classes.
        settings: the other fields of `PCNetSettings`, as keywords.

    >>> import torch
    >>> model = PCNet(3, 8, 2, K=4, t=0.5)
    >>> model(torch.ones(4, 3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([4, 2])
    """

    filter = PCConv
    conv: PCConv


class StackedPCNet(StackedNet[PCNetSettings]):
    """h^(l) = δ(σ(norm(PCConv_l(h^(l−1) W_l) + h^(l−1) V_l) + b_l)), h^(0) = δ(X), and Z = h^(L) W + b.

    Every layer has a θ of its own; K, N and t are the same in all of them. A polynomial of each hidden layer, with a
    ReLU after it (or what `activation` says), can answer questions about a neighbourhood that no single filter can.
    """

    convs: Any
    drop_first, drop_hidden = "drop_in", "drop_hidden"
    seeded = ("first", "weights", "biases", "scales", "last", "bias")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "first": ("first",),
        "theta": ("convs",),
        "second": ("weights", "biases", "scales", "last", "bias"),
    }

    def setup(self, s: PCNetSettings) -> None:
        self.eta = s.eta
        self.stacked(s, [s.hidden or 0] * s.layers, norm=s.norm, skip=True, head=True)
        convs: list[Any] = [s.conv(self.out_channels) for _ in range(s.layers)]
        self.convs = nn.ModuleList(convs)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights by Glorot, biases zero, factors one, every θ as PC-Conv's begins."""
        super().reset_parameters(generator)
        for conv in self.convs:
            conv.reset_parameters()

    def passed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        return self.convs[layer](h, operator)

    def activation(self, h: Tensor) -> Tensor:
        return by_runs(elu, h) if self.settings.activation == "elu" else h.relu()
