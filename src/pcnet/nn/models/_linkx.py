"""LINKX (Lim et al., NeurIPS 2021): a perceptron of the adjacency matrix beside one of the features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from pcnet._progress import Progress
from pcnet.graph import CSR, Graph, Operator, SelfLoops
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import (
    LayeredNet,
    LayeredNetSettings,
    empty,
    linear,
    normed,
    uniform_by_inputs,
    unit_rows,
)
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator

#: Added to variances before their root, as torch does.
EPSILON = 1e-5


@dataclass(frozen=True)
class LINKXSettings(LayeredNetSettings):
    """The settings of `LINKX`.

    `unit_peaks` gives back the 0/1 features that the method is published for where rows were scaled to sum to 1.
    """

    dropout: float = setting(0.5, "dropout rate in MLP_f")
    edge_layers: int = setting(1, "linear layers of MLP_A", least=1)
    node_layers: int = setting(1, "linear layers of MLP_X", least=1)
    layers: int = setting(1, "linear layers of MLP_f", least=1)
    unit_peaks: bool = setting(False, "whether rows of features are scaled so that their largest entry is 1")
    nodes: int = setting(0, "number of nodes of the graph that it is for; `for_graph` fills it in")

    def for_graph(self, graph: Graph, progress: Progress | None = None) -> LINKXSettings:
        return self if self.nodes == graph.num_nodes else replace(self, nodes=graph.num_nodes)

    def memory(self, classes: int) -> Memory:
        """Of every linear layer what goes in and comes out, normalised and dropped, and on the way back."""
        layers = self.edge_layers + self.node_layers + self.layers
        return Memory((8 * layers + 12) * self.hidden + 12 * classes, max(2 * self.hidden, classes))


@method("linkx", title="LINKX")
class LINKX(LayeredNet[LINKXSettings]):
    """Z = MLP_f(relu([H_A ‖ H_X] W + b + H_A + H_X)), H_A = MLP_A(A), H_X = MLP_X(X).

    A is the adjacency as it is, without normalisation; the first layer of MLP_A is A W_A, W_A having a row for each
    node. Between two layers of a perceptron there are a ReLU and batch normalisation, and in MLP_f dropout. Batches are
    whole graphs, so normalisation takes the mean and variance over all nodes when it is evaluated, too, and keeps no
    running averages.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "keep"

    def setup(self, s: LINKXSettings) -> None:
        p, out = s.hidden, self.out_channels
        self.first = self.opening(p, bias=True)
        self.links, self.links_bias = empty(s.nodes, p), empty(p)
        self.after_links, self.after_first = FurtherLayers([p] * s.edge_layers), FurtherLayers([p] * s.node_layers)
        self.joint, self.joint_bias = empty(2 * p, p), empty(p)
        widths = [p] * s.layers + [out]
        self.last, self.last_bias = empty(p, widths[1]), empty(widths[1])
        self.after_last = FurtherLayers(widths[1:])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's."""
        self.first.reset_parameters(generator)
        pairs = (self.links, self.links_bias), (self.joint, self.joint_bias), (self.last, self.last_bias)
        for weight, bias in pairs:
            uniform_by_inputs([weight, bias], weight.shape[-2], generator)
        for further in (self.after_links, self.after_first, self.after_last):
            further.reset_parameters(generator)

    def scaled(self, x: Tensor | CSR) -> Tensor | CSR:
        return unit_rows(x, math.inf) if self.settings.unit_peaks else x

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        self.check_graph("nodes", self.links.shape[-2], operator.num_nodes)
        h_A = self.after_links(apply_operator(operator, self.links) + over_nodes(self.links_bias, h.shape[-2]))
        h_X = self.after_first(h)
        z = (linear(torch.cat([h_A, h_X], dim=-1), self.joint, self.joint_bias) + h_A + h_X).relu()
        return self.after_last(linear(z, self.last, self.last_bias), self.drop)


class FurtherLayers(nn.Module):
    """What follows the first linear layer of a perceptron: h ← δ(norm(relu(h))) W + b, for each further one."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        pairs = list(itertools.pairwise(widths))
        self.weights = nn.ParameterList([empty(*pair) for pair in pairs])
        self.biases = nn.ParameterList([empty(width) for _, width in pairs])
        self.gains = nn.ParameterList([empty(width) for width, _ in pairs])
        self.shifts = nn.ParameterList([empty(width) for width, _ in pairs])

    def reset_parameters(self, generator: torch.Generator | None) -> None:
        for weight, bias, gain, shift in self._layers():
            uniform_by_inputs([weight, bias], weight.shape[-2], generator)
            nn.init.ones_(gain)
            nn.init.zeros_(shift)

    def forward(self, h: Tensor, drop: Callable[[Tensor], Tensor] = lambda h: h) -> Tensor:
        for weight, bias, gain, shift in self._layers():
            h = linear(drop(normed(h.relu(), EPSILON, shift, gain)), weight, bias)
        return h

    def _layers(self) -> list[tuple[Tensor, ...]]:
        return list(zip(self.weights, self.biases, self.gains, self.shifts, strict=True))
