"""ARMA (Bianchi, Grattarola, Livi & Alippi, TPAMI 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Operator, SelfLoops
from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._module import RunModule
from pcnet.nn._perceptron import Perceptron
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, glorot
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class ARMASettings(LayeredNetSettings):
    hidden: int = 16
    dropout: float = setting(0.5, "dropout rate between the layers")
    stacks: int = setting(1, "number of stacks", least=1)
    steps: int = setting(1, "number of steps, PyG's `num_layers`", least=1)
    shared: bool = setting(False, "whether all steps have one V and b, and all after the first one W")
    activation_out: Literal["relu"] | None = setting("relu", "σ of the second layer; that of the first is the ReLU")
    drop_skip: float = setting(0.75, "dropout rate on the X added in each step; one mask is drawn for all steps")

    @property
    def copies(self) -> int:
        """How many V and b a stack has."""
        return 1 if self.shared else self.steps

    def memory(self, classes: int) -> Memory:
        """What begins, what is added and what each step leaves, there and back."""
        nodes = 8 * (self.steps + 1) * self.stacks * (self.hidden + classes) + 8 * self.hidden
        return Memory(nodes, (1 + self.copies) * self.stacks * max(self.hidden, classes))


@method("arma", title="ARMA")
class ARMA(LayeredNet[ARMASettings]):
    """Z = f_2(δ(f_1(X))), each f a mean of stacks that step towards a rational filter.

    A stack steps X_{t+1} = σ(S X_t W_t + δ(X) V_t + b_t) from X_0 = X. S = D^-½ A D^-½ has the self loops that the
    graph has; W_0 maps to the stack's width, later ones keep it. All stacks stand side by side in one block.
    """

    self_loops: SelfLoops = "keep"
    first: _WithSkip

    def setup(self, s: ARMASettings) -> None:
        columns = s.stacks * s.hidden
        self.inner, self.outer = _Steps(s, s.hidden, "relu"), _Steps(s, self.out_channels, s.activation_out)
        self.first = _WithSkip(self.in_channels, columns, s.copies * columns, s.drop_skip)
        self.second = empty(s.hidden, s.stacks * self.out_channels)
        self.second_skip = empty(s.hidden, s.copies * s.stacks * self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Every stack's weights by Glorot, biases zero."""
        s = self.settings
        glorot([*self.first.weights, self.second], generator, blocks=s.stacks)
        glorot([*self.first.skip.weights, self.second_skip], generator, blocks=s.copies * s.stacks)
        for steps in (self.inner, self.outer):
            steps.reset_parameters(generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        columns = self.first.weights[0].shape[-1]
        h = self.drop(self.inner(h[..., :columns], h[..., columns:], operator))
        return self.outer(h @ self.second, self.drop(h, "drop_skip") @ self.second_skip, operator)


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

    def __init__(self, s: ARMASettings, channels: int, activation: str | None) -> None:
        super().__init__()
        self.channels, self.stacks, self.steps, self.copies = channels, s.stacks, s.steps, s.copies
        self.activation = activation
        self.bias = empty(s.copies * s.stacks * channels)
        later = min(s.steps - 1, s.copies)
        self.weights = nn.ParameterList([empty(s.stacks, channels, channels) for _ in range(later)])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        glorot([own for weight in self.weights for own in weight.detach()], generator)
        nn.init.zeros_(self.bias)

    def forward(self, h: Tensor, skip: Tensor, operator: Operator) -> Tensor:
        added = (skip + over_nodes(self.bias, skip.shape[-2])).chunk(self.copies, dim=-1)
        for step in range(self.steps):
            if step > 0:
                # Each stack with its own W.
                by_stack = self._apart(h).transpose(-3, -2) @ self.weights[min(step, len(self.weights)) - 1]
                h = by_stack.transpose(-3, -2).flatten(-2)
            h = apply_operator(operator, h) + added[min(step, self.copies - 1)]
            h = h.relu() if self.activation else h
        return self._apart(h).mean(dim=-2)

    def _apart(self, h: Tensor) -> Tensor:
        return h.unflatten(-1, (self.stacks, self.channels))
