"""GAT (Veličković et al., ICLR 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._edges import Entries, entries, pair_scores
from pcnet.nn._products import by_runs
from pcnet.nn.models._layered_net import DIRECTED, empty, uniform
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.nn.models._stacked_net import StackedNet, StackedNetSettings
from pcnet.propagate import apply_matrix, weighted_sums


@dataclass(frozen=True)
class GATSettings(StackedNetSettings):
    hidden: int = setting(8, "width of each head")
    dropout: float = setting(0.6, "dropout rate of the features and of h")
    drop_attention: float = setting(0.6, "dropout rate of α")
    heads: int = setting(8, "number of heads in a hidden layer", least=1)
    out_heads: int = setting(1, "number of heads in a last layer that gives the logits itself", least=1)
    slope: float = setting(0.2, "of the leaky ReLU below 0")
    closing: Literal["elu", "none"] = setting(
        "elu", 'whether logits get an ELU, too: "elu" as in the code behind the published figures, "none" in the paper'
    )
    directed: bool = setting(False, DIRECTED)

    def memory(self, classes: int) -> Memory:
        """Of every head its scores, powers and weights for each edge; of the layer at work, its messages."""
        hidden, last = self.heads * self.hidden, self.out_heads * classes
        widest, heads = max(2 * hidden, last), self.layers * self.heads + self.out_heads
        return Memory(12 * (self.layers * hidden + last), widest, 12 * heads + 3 * widest)


@method("gat", title="GAT")
class GAT(StackedNet[GATSettings]):
    """g_i = ‖_h Σ_j δ(α_ij) z_j, z = h W_h, α_i· = softmax_j(leaky(a_h·z_i + a'_h·z_j)) in each head h; σ is an ELU.

    j runs over the neighbours of i and i itself; edge weights do not count. A last layer that gives the logits itself
    takes the mean of its heads instead of joining them. Features are dropped, and there are no biases without a norm.
    """

    self_loops: SelfLoops = "fill"
    drop_first = "dropout"

    def setup(self, s: GATSettings) -> None:
        heads = [(s.heads, s.hidden)] * (s.layers - 1)
        heads.append((s.heads, s.hidden) if s.has_head else (s.out_heads, self.out_channels))
        columns = [count * width for count, width in heads]
        self.stacked(s, columns, norm=s.norm, skip=s.residual, head=s.has_head, biases=False)
        #: a and a' of every head, (2, heads, width) in each layer.
        self.attention = nn.ParameterList([empty(2, count, width) for count, width in heads])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform by Glorot for each head by itself, times √2; a and a' are one vector of twice the width."""
        for weight, attention in zip([*self.first.weights, *self.weights], self.attention, strict=True):
            width = attention.shape[-1]
            for parameter, ends in ((weight, weight.shape[-2] + width), (attention, 2 * width + 1)):
                uniform([parameter], math.sqrt(2 * 6 / ends), generator)
        self._reset_rest(generator)

    def passed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        z = self._attend(h, self.attention[layer], operator)
        if self.head or layer < len(self.weights):
            return z
        z = z.unflatten(-1, (-1, self.out_channels)).mean(-2)
        return by_runs(elu, z) if self.settings.closing == "elu" else z

    def activation(self, h: Tensor) -> Tensor:
        return by_runs(elu, h)

    def _attend(self, z: Tensor, attention: Tensor, operator: Operator) -> Tensor:
        """Σ_j δ(α_ij) z_j in each head."""
        scores = pair_scores(operator, z, attention)
        alpha = _softmax(leaky_relu(scores, self.settings.slope), entries(operator))
        return weighted_sums(operator.matrix, self.drop(alpha, "drop_attention"), z)


def _softmax(scores: Tensor, edges: Entries) -> Tensor:
    """exp e_ij / Σ_j exp e_ij over the entries of each row, with the row's largest e taken off them first."""
    to_rows = edges.row_sums.transposed
    index = to_rows.col.long().unsqueeze(-1).expand_as(scores)
    largest = scores.new_full((*scores.shape[:-2], to_rows.shape[1], scores.shape[-1]), -math.inf)
    largest.scatter_reduce_(-2, index, scores.detach(), "amax")
    powers = by_runs(torch.exp, scores - apply_matrix(to_rows, largest))
    return powers / apply_matrix(to_rows, apply_matrix(edges.row_sums, powers))
