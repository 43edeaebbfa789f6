"""GAT (Veličković et al., ICLR 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu

from pcnet._checks import finite_number, whole_number
from pcnet.errors import PcnetError
from pcnet.graph import Operator, SelfLoops
from pcnet.nn._dropout import check_rate
from pcnet.nn._edges import Entries, entries
from pcnet.nn._messages import weighted_sums
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.propagate import apply_matrix

#: What follows the last layer, as in the code behind the published figures, or nothing, as in the paper.
Closing = Literal["elu", "none"]


class GAT(LayeredNet):
    """h_i = ‖_h elu(Σ_j δ(α_ij) z_j), z = δ(x) W_h, α_i· = softmax_j(leaky(a_h·z_i + a'_h·z_j)), then a layer like it.

    j runs over the neighbours of i and i itself; edge weights do not count. The second layer takes the mean of its
    heads instead of joining them. There are no biases.

    Args:
        in_channels: number of features.
        hidden_channels: width of each head.
        out_channels: number of classes.
        heads, out_heads: number of heads in the two layers.
        slope: of the leaky ReLU below 0.
        closing: "elu" applies an ELU to the logits, too, "none" does not.
        dropout: dropout rate of the features and of h.
        drop_attention: dropout rate of α.
    """

    self_loops: SelfLoops = "fill"
    per_run: ClassVar[tuple[str, ...]] = ("dropout", "drop_attention")
    common: ClassVar[tuple[str, ...]] = ("slope", "closing")

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        heads: int = 8,
        out_heads: int = 1,
        slope: float = 0.2,
        closing: Closing = "elu",
        dropout: float = 0.6,
        drop_attention: float = 0.6,
    ) -> None:
        columns = whole_number("heads", heads, least=1) * hidden_channels
        super().__init__(in_channels, columns, out_channels, drop_in=dropout, dropout=dropout)
        check_rate("drop_attention", drop_attention)
        if closing not in get_args(Closing):
            raise PcnetError(f"closing can be {' or '.join(get_args(Closing))}, not {closing!r}.")
        self.slope, self.closing = finite_number("slope", slope), closing
        self.drop_attention: tuple[float, ...] = (drop_attention,)
        self.second = nn.Parameter(torch.empty(columns, whole_number("out_heads", out_heads, least=1) * out_channels))
        #: a and a' of every head, (2, heads, width) in each layer.
        self.attention = nn.ParameterList(
            [torch.empty(2, heads, hidden_channels), torch.empty(2, out_heads, out_channels)]
        )
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform by Glorot for each head by itself, times √2; a and a' are one vector of twice the width."""
        for weight, attention in zip((self.first.weights[0], self.second), self.attention, strict=True):
            width = attention.shape[-1]
            for parameter, ends in ((weight, weight.shape[-2] + width), (attention, 2 * width + 1)):
                bound = math.sqrt(2 * 6 / ends)
                nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        h = elu(self._attend(h, self.attention[0], operator))
        z = self._attend(self.drop(h) @ self.second, self.attention[1], operator)
        z = z.unflatten(-1, (-1, self.out_channels)).mean(-2)
        return elu(z) if self.closing == "elu" else z

    def _attend(self, z: Tensor, attention: Tensor, operator: Operator) -> Tensor:
        """Σ_j δ(α_ij) z_j in each head."""
        edges, by_head = entries(operator), z.unflatten(-1, (attention.shape[-2], -1))
        target, source = ((by_head * a.unsqueeze(-3)).sum(-1) for a in attention.unbind(-3))
        scores = apply_matrix(edges.row_sums.transposed, target) + apply_matrix(edges.sources, source)
        alpha = _softmax(leaky_relu(scores, self.slope), edges)
        return weighted_sums(operator.matrix, self.drop(alpha, self.drop_attention), z)


def _softmax(scores: Tensor, edges: Entries) -> Tensor:
    """exp e_ij / Σ_j exp e_ij over the entries of each row, with the row's largest e taken off them first."""
    to_rows = edges.row_sums.transposed
    index = to_rows.col.long().unsqueeze(-1).expand_as(scores)
    largest = scores.new_full((*scores.shape[:-2], to_rows.shape[1], scores.shape[-1]), -math.inf)
    largest.scatter_reduce_(-2, index, scores.detach(), "amax")
    powers = (scores - apply_matrix(to_rows, largest)).exp()
    return powers / apply_matrix(to_rows, apply_matrix(edges.row_sums, powers))


@dataclass(frozen=True)
class GATSettings(LayeredNetSettings):
    """The arguments of `GAT`; `hidden` is the width of a head.

    With `directed`, a page hears from the pages it links to, as in the published code.
    """

    method: ClassVar[str] = "gat"
    self_loops: ClassVar[SelfLoops] = "fill"

    hidden: int = 8
    dropout: float = 0.6
    drop_attention: float = 0.6
    heads: int = 8
    out_heads: int = 1
    slope: float = 0.2
    closing: Closing = "elu"
    directed: bool = False

    def make(self, in_channels: int, out_channels: int) -> GAT:
        names = ("heads", "out_heads", "slope", "closing", "dropout", "drop_attention")
        return GAT(in_channels, self.hidden, out_channels, **{name: getattr(self, name) for name in names})

    def node_floats(self, classes: int) -> int:
        return 12 * (self.heads * self.hidden + self.out_heads * classes)

    def edge_floats(self, classes: int) -> int:
        """Of every head its scores, powers and weights; of the layer at work, its messages."""
        return 12 * (self.heads + self.out_heads) + 3 * self.widest(classes)

    def widest(self, classes: int) -> int:
        return max(self.heads * self.hidden, self.out_heads * classes)
