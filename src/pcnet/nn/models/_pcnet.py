"""PCNet: features to classes, then PC-Conv."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Graph, Operator, cached_operator
from pcnet.nn._dense_features import Precision
from pcnet.nn._dropout import DeviceDraws, Draws, check_rate, draws_from_torch
from pcnet.nn._perceptron import Activation, Perceptron
from pcnet.nn._runs import RunModule
from pcnet.nn.conv import PCConv
from pcnet.polynomial import Mode


class PCNet(RunModule):
    """Z = PCConv(δ(Θ(X))): the logits of every node; softmax and loss are the caller's.

    Θ is two linear layers with dropout before each, without a ReLU between them in the published model
    (`activation="relu"` puts it there), or with `hidden_channels=None` a single linear layer (PCNet-Lin).

    Args:
        in_channels: number of features.
        hidden_channels: width of the hidden layer, or None for PCNet-Lin.
        out_channels: number of classes.
        K, N, t, p, eta, identity, mode, init: see `PCConv`.
        activation: "relu" or None.
        drop_in: dropout rate on the features (of sparse ones, on their non-zeros).
        drop_hidden: dropout rate between the two layers.
        drop_prop: dropout rate before the propagation.
        precision: how a GPU multiplies features and hidden layers: "float32"; "tf32", whose factors have eleven bits;
            "bfloat16", whose factors and hidden layers have eight. Sums are float32 always, and so is the CPU.
    """

    per_run: ClassVar[tuple[str, ...]] = ("drop_prop",)

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int | None,
        out_channels: int,
        *,
        K: int = 4,
        N: int = 4,
        t: float = 0.5,
        p: float = 2.0,
        eta: float = 0.5,
        identity: bool = True,
        mode: Mode = "truncated",
        init: float = 1.0,
        activation: Activation = None,
        drop_in: float = 0.0,
        drop_hidden: float = 0.0,
        drop_prop: float = 0.0,
        precision: Precision = "float32",
    ) -> None:
        super().__init__()
        check_rate("drop_prop", drop_prop)
        inner = () if hidden_channels is None else (hidden_channels,)
        rates = (drop_in, drop_hidden)[: 1 + len(inner)]
        self.transform = Perceptron(
            [in_channels, *inner, out_channels], dropout=rates, activation=activation, precision=precision
        )
        self.conv = PCConv(K, N, t, p, eta, identity=identity, mode=mode, init=init)
        self.drop_prop: tuple[float, ...] = (drop_prop,)
        #: Where dropout takes its bits from; None lets `torch.manual_seed` govern them.
        self.draws: Draws | DeviceDraws | None = None

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.transform.reset_parameters(generator)
        self.conv.reset_parameters()

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Logits (n, classes), or (R, n, classes) for a stack of runs. x may be dense, torch-sparse or a `CSR`."""
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = CSR.from_torch(x)
        draws = self.draws
        if self.training and draws is None:
            draws = draws_from_torch(self.runs or 1, self.conv.theta.device)
        return self.conv(self.transform(x, draws, self.drop_prop), edge_index, edge_weight)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by the names under which learning rates and decays are given."""
        names = ("first", "second")[: len(self.transform.weights)]
        layers = zip(names, self.transform.weights, self.transform.biases, strict=True)
        return {"theta": [self.conv.theta]} | {name: [weight, bias] for name, weight, bias in layers}


@dataclass(frozen=True)
class PCNetSettings:
    """What defines a PCNet apart from its weights; the arguments of `PCNet` under the same names.

    The defaults did well on validation nodes of graphs of all kinds (Cora, CiteSeer, Texas, Wisconsin, Actor, Reed98,
    synthetic ones): N above K so that θ is identifiable, a small θ to begin with, some dropout.
    """

    hidden: int | None = 64
    K: int = 4
    N: int = 6
    t: float = 0.5
    p: float = 2.0
    eta: float = 0.5
    identity: bool = True
    mode: Mode = "truncated"
    init: float = 0.2
    activation: Activation = None
    drop_in: float = 0.3
    drop_hidden: float = 0.5
    drop_prop: float = 0.0
    precision: Precision = "float32"

    @property
    def groups(self) -> tuple[str, ...]:
        """Parameter groups that take a learning rate and a decay of their own."""
        return ("first", "theta") if self.hidden is None else ("first", "theta", "second")

    @property
    def batch_key(self) -> Hashable:
        """Runs whose keys agree can be trained side by side."""
        return PCNet, self.hidden, self.eta, self.mode, self.activation, self.precision

    def build(self, in_channels: int, out_channels: int, seed: int | None = None) -> PCNet:
        """A PCNet with fresh weights, the same ones for the same seed."""
        arguments = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "hidden"}
        model = PCNet(in_channels, self.hidden, out_channels, **arguments)
        if seed is not None:
            model.reset_parameters(torch.Generator().manual_seed(seed))
        return model

    def operator(self, graph: Graph, *, device: torch.device | str = "cpu") -> Operator:
        """The operator that this model propagates with; built once for a graph and η, whoever asks."""
        edges = (graph.edge_index, graph.num_nodes, graph.edge_weight)
        return cached_operator(*edges, eta=self.eta, dtype=torch.float32).to(device)
