"""Layers in hidden space: the shape that GCN, GraphSAGE, GAT and stacked PC-Conv share."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, layer_norm

from pcnet.graph import Operator
from pcnet.nn._products import ROUND, by_runs, over_nodes, times
from pcnet.nn.models._layered_net import (
    LayeredNet,
    LayeredNetSettings,
    empty,
    glorot,
    linear,
    uniform_by_inputs,
    zeros,
)
from pcnet.nn.models._model import Memory, ModelSettings, setting

Norm = Literal["none", "layer", "batch"]

#: What is added to a variance before its root is taken.
EPSILON = 1e-5


@dataclass(frozen=True)
class StackedNetSettings(LayeredNetSettings):
    """What stacked methods have in common, as in Luo et al., NeurIPS 2024; by default the two published layers."""

    side_by_side: ClassVar[bool] = True

    layers: int = setting(2, "number of layers", least=1, most=15)
    norm: Norm = setting(
        "none",
        'what is normalised after a layer: "layer", every node over its columns; "batch", every column over the nodes '
        'of the graph at hand; or "none"',
    )
    residual: bool = setting(False, "whether a linear map of what goes into a layer is added to what comes out")
    jumping: bool = setting(False, "whether the logits are read off the sum of all layers, not off the last one")

    def memory(self, classes: int) -> Memory:
        """Of every layer the mask, what is mapped, mixed, normalised and what comes out."""
        return stack_memory(self.layers, self.hidden, classes)

    @property
    def has_head(self) -> bool:
        """Whether a linear layer reads the logits off hidden layers; as published, the last layer gives them itself."""
        return self.norm != "none" or self.residual or self.jumping


def stack_memory(layers: int, hidden: int, classes: int) -> Memory:
    """What training a stack of layers takes."""
    return Memory((10 * layers + 12) * hidden + 12 * classes, max(2 * hidden, classes))


T = TypeVar("T", bound=ModelSettings)


class StackedNet(LayeredNet[T]):
    """h^(l) = δ(σ(norm(g_l(h^(l−1) W_l) + h^(l−1) V_l) + b_l)), l = 1, …, L, h^(0) = X, and Z = h^(L) W + b.

    g_l is what the method does over the links, δ dropout, σ the ReLU, and a norm has a factor for every column. V_l is
    there where a `skip` is asked for, W and b where a `head` is; without a head the last layer is
    Z = g_L(h^(L−1) W_L) + b_L. With `jumping`, the head reads Σ_l h^(l).
    """

    #: Rates of dropout: of the features, and of hidden layers.
    drop_first: ClassVar[str | None] = None
    drop_hidden: ClassVar[str] = "dropout"

    def setup(self, s: Any) -> None:
        last = s.hidden if s.has_head else self.out_channels
        self.stacked(s, [*[s.hidden] * (s.layers - 1), last], norm=s.norm, skip=s.residual, head=s.has_head)

    def stacked(self, s: Any, columns: list[int], *, norm: Norm, skip: bool, head: bool, biases: bool = True) -> None:
        """Make the parameters of layers whose W_l have so many columns, and g_l gives as many to the next."""
        self.norm, self.skip, self.head = norm, skip, head
        rate = 0.0 if self.drop_first is None else getattr(s, self.drop_first)
        self.first = self.opening((1 + skip) * columns[0], drop=rate)
        inner = itertools.pairwise(columns)
        self.weights = nn.ParameterList([empty(width, (1 + skip) * following) for width, following in inner])
        widths = columns if head else [*columns[:-1], self.out_channels]
        self.biases = nn.ParameterList([empty(width) for width in widths if biases or norm != "none"])
        self.scales = nn.ParameterList([empty(width) for width in widths if norm != "none"])
        if head:
            self.last, self.bias = empty(columns[-1], self.out_channels), empty(self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights by Glorot, biases zero, factors one; the head as torch's linear layers begin."""
        glorot([*self.first.weights, *self.weights], generator, blocks=1 + self.skip)
        self._reset_rest(generator)

    def _reset_rest(self, generator: torch.Generator | None) -> None:
        zeros(self.biases)
        for scale in self.scales:
            nn.init.ones_(scale)
        if self.head:
            uniform_by_inputs([self.last, self.bias], self.last.shape[0], generator)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *how: Any) -> None:
        """Files of earlier versions have two layers, the second under a name of its own."""
        if f"{prefix}second" in state_dict:
            state_dict[f"{prefix}weights.0"] = state_dict.pop(f"{prefix}second")
        super()._load_from_state_dict(state_dict, prefix, *how)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        jumping, total = getattr(self.settings, "jumping", False), h.new_zeros(())
        for layer in range(1 + len(self.weights)):
            h = self._mixed(layer, h, operator)
            if not self.head and layer == len(self.weights):
                return h
            h = self.drop(self.activation(h), self.drop_hidden)
            total = total + h if jumping else h
        return linear(total, self.last, self.bias)

    def _mixed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        """norm(g(h W) + h V) + b; of the first layer, h is X [W ‖ V] already."""
        if layer == 0:
            mapped, *kept = h.chunk(1 + self.skip, dim=-1)
            h = self.passed(0, mapped, operator)
            h = h + kept[0] if self.skip else h
        else:
            weight, *skip = self.weights[layer - 1].chunk(1 + self.skip, dim=-1)
            mixed = self.passed(layer, times(h, weight), operator)
            h = times(h, skip[0], plus=mixed) if self.skip else mixed
        if self.norm != "none":
            return normalised(h, self.norm, self.scales[layer], self.biases[layer])
        return h + over_nodes(self.biases[layer], h.shape[-2]) if len(self.biases) else h

    def passed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        """g_l(h)."""
        raise NotImplementedError

    def activation(self, h: Tensor) -> Tensor:
        """σ(h)."""
        return h.relu()


def normalised(h: Tensor, norm: Norm, scale: Tensor, shift: Tensor) -> Tensor:
    """γ (h − mean) / √(variance + ε) + β, over the columns of a node ("layer") or the nodes of a column ("batch")."""
    if norm == "layer":
        scale, shift = (over_nodes(row, h.shape[-2]) for row in (scale, shift))
        return torch.addcmul(shift, layer_norm(h, h.shape[-1:], eps=EPSILON), scale)
    # Where columns fill whole vectors, those of all runs are normalised together.
    return _over_columns(h, scale, shift) if h.shape[-1] % ROUND == 0 else by_runs(_over_columns, h, scale, shift)


def _over_columns(h: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    columns = h if h.ndim == 2 else h.permute(1, 0, 2).flatten(1)
    found = batch_norm(columns, None, None, scale.flatten(), shift.flatten(), training=True, eps=EPSILON)
    return found if h.ndim == 2 else found.view(-1, h.shape[0], h.shape[2]).permute(1, 0, 2)
