"""ARMA (Bianchi, Grattarola, Livi & Alippi, TPAMI 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet._checks import whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn._dropout import DeviceDraws, Draws, check_rate
from pcnet.nn._perceptron import Activation, Perceptron
from pcnet.nn._runs import RunModule
from pcnet.nn.models._chebnet import glorot_blocks
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, over_nodes
from pcnet.propagate import apply_operator


class ARMA(LayeredNet):
    """Z = f_2(δ(f_1(X))), each f a mean of stacks that step towards a rational filter.

    A stack steps X_{t+1} = σ(S X_t W_t + δ(X) V_t + b_t) from X_0 = X. S = D^-½ A D^-½ has the self loops that the
    graph has; W_0 maps to the stack's width, later ones keep it. All stacks stand side by side in one block.

    Args:
        in_channels: number of features.
        hidden_channels: width of the hidden layer.
        out_channels: number of classes.
        stacks: number of stacks.
        steps: number of steps, PyG's `num_layers`.
        shared: whether all steps have one V and b, and all after the first one W.
        activation_out: σ of the second layer; that of the first is the ReLU.
        dropout: dropout rate between the layers.
        drop_skip: dropout rate on the X that is added in each step. One mask is drawn for all steps.
    """

    per_run: ClassVar[tuple[str, ...]] = ("dropout", "drop_skip")
    common: ClassVar[tuple[str, ...]] = ("stacks",)
    self_loops: SelfLoops = "keep"
    first: _WithSkip

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        stacks: int = 1,
        steps: int = 1,
        shared: bool = False,
        activation_out: Activation = "relu",
        dropout: float = 0.5,
        drop_skip: float = 0.0,
    ) -> None:
        columns = whole_number("stacks", stacks, least=1) * hidden_channels
        super().__init__(in_channels, columns, out_channels, dropout=dropout)
        check_rate("drop_skip", drop_skip)
        self.stacks, self.drop_skip = stacks, (drop_skip,)
        self.inner = _Steps(hidden_channels, stacks, steps, shared, "relu")
        self.outer = _Steps(out_channels, stacks, steps, shared, activation_out)
        self.first = _WithSkip(in_channels, columns, self.inner.copies * columns, drop_skip)
        self.second = nn.Parameter(torch.empty(hidden_channels, stacks * out_channels))
        self.second_skip = nn.Parameter(torch.empty(hidden_channels, self.outer.copies * stacks * out_channels))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Every stack's weights by Glorot, biases zero."""
        for weight in (self.first.weights[0], self.second):
            glorot_blocks(weight, self.stacks, generator)
        for weight in (self.first.skip.weights[0], self.second_skip):
            glorot_blocks(weight, self.inner.copies * self.stacks, generator)
        for steps in (self.inner, self.outer):
            steps.reset_parameters(generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        columns = self.first.weights[0].shape[-1]
        h = self.drop(self.inner(h[..., :columns], h[..., columns:], operator))
        return self.outer(h @ self.second, self.drop(h, self.drop_skip) @ self.second_skip, operator)


class _WithSkip(Perceptron):
    """[X W | δ(X) V]: what the steps begin with, and beside it what each of them adds."""

    def __init__(self, in_channels: int, columns: int, skip_columns: int, drop_skip: float) -> None:
        super().__init__([in_channels, columns], bias=False)
        self.skip = Perceptron([in_channels, skip_columns], dropout=(drop_skip,), bias=False)

    def forward(
        self, x: Tensor | CSR, draws: Draws | DeviceDraws | None = None, drop_out: tuple[float, ...] | None = None
    ) -> Tensor:
        return torch.cat([super().forward(x, draws, drop_out), self.skip(x, draws)], dim=-1)


class _Steps(RunModule):
    """From X W_0 and δ(X) V, both of all stacks, to the mean of the stacks."""

    common: ClassVar[tuple[str, ...]] = ("channels", "stacks", "steps", "copies", "activation")

    def __init__(self, channels: int, stacks: int, steps: int, shared: bool, activation: Activation) -> None:
        super().__init__()
        if activation not in ("relu", None):
            raise PcnetError(f"The activation can be 'relu' or None, not {activation!r}.")
        self.channels, self.stacks, self.activation = channels, stacks, activation
        self.steps = whole_number("steps", steps, least=1)
        #: How many V and b there are.
        self.copies = 1 if shared else steps
        self.bias = nn.Parameter(torch.empty(self.copies * stacks * channels))
        later = [torch.empty(stacks, channels, channels) for _ in range(min(steps - 1, self.copies))]
        self.weights = nn.ParameterList(later)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        for weight in self.weights:
            for own in weight.detach():
                nn.init.xavier_uniform_(own, generator=generator)
        nn.init.zeros_(self.bias)

    def forward(self, h: Tensor, skip: Tensor, operator: Operator) -> Tensor:
        added = (skip + over_nodes(self.bias)).chunk(self.copies, dim=-1)
        for step in range(self.steps):
            if step > 0:
                h = self._mix(h, self.weights[min(step, len(self.weights)) - 1])
            h = apply_operator(operator, h) + added[min(step, self.copies - 1)]
            h = h.relu() if self.activation else h
        return self._apart(h).mean(dim=-2)

    def _mix(self, h: Tensor, weight: Tensor) -> Tensor:
        """X W, each stack with its own W."""
        return (self._apart(h).transpose(-3, -2) @ weight).transpose(-3, -2).flatten(-2)

    def _apart(self, h: Tensor) -> Tensor:
        return h.unflatten(-1, (self.stacks, self.channels))


@dataclass(frozen=True)
class ARMASettings(LayeredNetSettings):
    """The arguments of `ARMA`."""

    method: ClassVar[str] = "arma"
    self_loops: ClassVar[SelfLoops] = "keep"

    hidden: int = 16
    stacks: int = 1
    steps: int = 1
    shared: bool = False
    activation_out: Activation = "relu"
    drop_skip: float = 0.75

    def make(self, in_channels: int, out_channels: int) -> ARMA:
        names = ("stacks", "steps", "shared", "activation_out", "dropout", "drop_skip")
        return ARMA(in_channels, self.hidden, out_channels, **{name: getattr(self, name) for name in names})

    def node_floats(self, classes: int) -> int:
        """What begins, what is added and what each step leaves, there and back."""
        return 8 * (self.steps + 1) * self.stacks * (self.hidden + classes) + 8 * self.hidden

    def widest(self, classes: int) -> int:
        copies = 1 if self.shared else self.steps
        return (1 + copies) * self.stacks * max(self.hidden, classes)
