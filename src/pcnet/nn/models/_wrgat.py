"""WRGAT (Suresh et al., KDD 2021): attention over nodes whose surroundings are alike, ring by ring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from pcnet._progress import Progress
from pcnet.graph import CSR, Graph, Operator, SelfLoops, StructuralEdges, StructuralPairs, made_once, structural_pairs
from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._edges import csr_like
from pcnet.nn._module import RunModule
from pcnet.nn._perceptron import Perceptron
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, uniform, zeros
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import product, weighted_sums

#: Slope of the attention's ReLU where it is closed.
SLOPE = 0.2


@dataclass(frozen=True)
class WRGATSettings(LayeredNetSettings):
    hidden: int = setting(128, "width of the hidden layer")
    dropout: float = setting(0.5, "dropout rate between the layers")
    rings: int | None = setting(None, "how many relations are rings at most; None for all that the graph has")
    edges: bool = setting(False, "whether the graph's own edges are one of the relations")
    edge_weight: float = setting(1.0, "w_ij of the graph's own edges", positive=True)
    relations: int = setting(0, "number of relations; `for_graph` fills it in")
    links: int = setting(0, "number of their edges for each node; `for_graph` fills it in")

    def for_graph(self, graph: Graph, progress: Progress | None = None) -> WRGATSettings:
        operator = self.operator(graph)
        _pairs(operator, progress=progress)
        found = _relations(operator, self.rings, self.edges, self.edge_weight)
        links = -(-found.pattern.nnz // graph.num_nodes)
        return replace(self, relations=found.count, links=links)

    def memory(self, classes: int) -> Memory:
        """Every relation's map there and back, attention of every link, and the messages that a GPU writes out."""
        nodes = 6 * (self.relations + 2) * (self.hidden + classes) + self.links * (2 * self.hidden + 16)
        return Memory(nodes, max(1 + self.relations, self.links) * max(self.hidden, classes))


@method("wrgat", title="WRGAT")
class WRGAT(LayeredNet[WRGATSettings]):
    """h'_i = W_0 h_i + b + Σ_r 1/|N_r(i)| Σ_{j ∈ N_r(i)} w_ij α_ij W_r h_j, in two layers: relu and δ between them.

    α_ij = softmax over j ∈ N_r(i) of leakyrelu(a_r · [W_r h_i ‖ W_r h_j]). Relation r links nodes whose surroundings
    are alike up to ring r (`structural_pairs`), with the weights w_ij that they have there; two nodes that chose each
    other are linked twice. The graph's own edges may come before them as a relation with w_ij = 1. Features are not
    dropped.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "remove"

    def setup(self, s: WRGATSettings) -> None:
        widths, count = (s.hidden, self.out_channels), s.relations
        self.first = _Maps(self.in_channels, s.hidden, 1 + count)  # type: ignore[assignment]
        self.second = empty(1 + count, *widths)
        self.biases = nn.ParameterList([empty(width) for width in widths])
        #: a_r of each layer: the half for the node that is reached, and that for those it is reached from.
        self.attention = nn.ParameterList([empty(2, count, width) for width in widths])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """All by Glorot, a_r as rows of one matrix; biases zero."""
        sizes = [(weight, sum(weight.shape)) for weight in self.first.weights]
        sizes += [(self.second, sum(self.second.shape[1:]))]
        sizes += [(halves, halves.shape[1] + 2 * halves.shape[2]) for halves in self.attention]
        for weight, size in sizes:
            uniform([weight], (6 / size) ** 0.5, generator)
        zeros(self.biases)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        s = self.settings
        relations = _relations(operator, s.rings, s.edges, s.edge_weight)
        self.check_graph("relations", s.relations, relations.count)
        h = self._gathered(h, 0, relations).relu()
        return self._gathered(self.drop(h).unsqueeze(-3) @ self.second, 1, relations)

    def _gathered(self, mapped: Tensor, layer: int, relations: Relations) -> Tensor:
        """h' of a layer, from W_0 h, W_1 h, …, (1 + relations, n, d)."""
        own, z = mapped.select(-3, 0), mapped.narrow(-3, 1, relations.count)
        h = own + over_nodes(self.biases[layer], own.shape[-2])
        if relations.pattern.nnz == 0:
            return h
        # Scores of a relation's nodes: (relations, n), once for each half of a_r.
        reached, reaching = ((z @ a.unsqueeze(-1)).squeeze(-1) for a in self.attention[layer].unbind(-3))
        alpha = _Attention.apply(reached.flatten(-2), reaching.flatten(-2), relations)
        weights = alpha * relations.factors
        return h + weighted_sums(relations.pattern, weights.unsqueeze(-1), z.flatten(-3, -2))


class _Maps(RunModule):
    """X W_0, X W_1, …, as (count, n, d), or (R, count, n, d)."""

    def __init__(self, in_channels: int, out_channels: int, count: int) -> None:
        super().__init__()
        self.maps = nn.ModuleList([Perceptron([in_channels, out_channels], bias=False) for _ in range(count)])

    @property
    def weights(self) -> list[nn.Parameter]:
        return [weight for each in self.maps for weight in each.parameters()]

    def forward(self, x: Tensor | CSR, draws: Draws | DeviceDraws | None = None) -> Tensor:
        return torch.stack([each(x, draws) for each in self.maps], dim=-3)


class _Attention(torch.autograd.Function):
    """α_e = c_e exp(l_e) / Σ c exp(l) over the entries of e's node and relation, l = leakyrelu(s_i + t_j), c copies.

    s and t are numbers of every relation's nodes, (relations·n), or (R, relations·n).
    """

    @staticmethod
    def forward(ctx: Any, s: Tensor, t: Tensor, relations: Relations) -> Tensor:
        ctx.relations = relations
        score = s.index_select(-1, relations.target) + t.index_select(-1, relations.pattern.col)
        level = leaky_relu(score, SLOPE)
        # The largest of a group is taken off first: its exponential is 1 and no other one overflows.
        peak = torch.full_like(s, -torch.inf).scatter_reduce_(-1, relations.target.expand(level.shape), level, "amax")
        alpha = relations.copies * (level - peak.index_select(-1, relations.target)).exp()
        alpha = alpha / _sums(relations.by_target, alpha).index_select(-1, relations.target)
        ctx.save_for_backward(alpha, score > 0)
        return alpha

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (alpha, open_), relations = ctx.saved_tensors, ctx.relations
        weighed = alpha * grads[0]
        mean = _sums(relations.by_target, weighed).index_select(-1, relations.target)
        level = weighed - alpha * mean
        score = torch.where(open_, level, SLOPE * level)
        return _sums(relations.by_target, score), _sums(relations.by_source, score), None


def _sums(matrix: CSR, x: Tensor) -> Tensor:
    """M x for the last axis of x; sums in a fixed order, which atomic additions have not."""
    return product(matrix, x.reshape(-1, x.shape[-1]).T.contiguous()).T.reshape(*x.shape[:-1], matrix.shape[0])


@dataclass(frozen=True, eq=False)
class Relations:
    """All relations of a graph in one matrix, n × relations·n: entry (i, r·n + j) is relation r's edge from j to i."""

    count: int
    pattern: CSR
    #: r·n + i of every entry.
    target: Tensor
    #: How often the edge is there, and w_ij / |N_r(i)|.
    copies: Tensor
    factors: Tensor
    #: Sums of entries by r·n + i, and by r·n + j.
    by_target: CSR
    by_source: CSR


@made_once
def _pairs(operator: Operator, *, progress: Progress | None = None) -> StructuralPairs:
    """Nodes of a graph that are alike."""
    return structural_pairs(operator.matrix.to_scipy(), progress)


@made_once
def _relations(operator: Operator, rings: int | None, edges: bool, edge_weight: float) -> Relations:
    """Those of a graph."""
    n, pairs, like = operator.num_nodes, _pairs(operator), operator.matrix.values
    kinds = [pairs.ring(k) for k in range(pairs.rings if rings is None else min(rings, pairs.rings))]
    if edges:
        adjacency = operator.matrix.to_scipy().tocoo()
        ones = np.ones(adjacency.nnz)
        own = StructuralEdges(adjacency.col.astype(np.int64), adjacency.row.astype(np.int64), edge_weight * ones, ones)
        kinds.insert(0, own)
    size = len(kinds) * n

    def matrix(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int]) -> CSR:
        """Ones at (rows, columns)."""
        return csr_like(operator, scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape))

    # Without any relation they are empty.
    joined: list[tuple[NDArray[Any], ...]] = [(np.empty(0, dtype=np.int64),) * 5]
    joined += [(e.target, e.source + r * n, e.target + r * n, e.copies, e.weight) for r, e in enumerate(kinds)]
    unordered = [np.concatenate(each) for each in zip(*joined, strict=True)]
    order = np.lexsort((unordered[1], unordered[0]))
    row, source, target, copies, weight = (each[order] for each in unordered)
    every, degree = np.arange(len(order)), np.bincount(target, weights=copies, minlength=size)
    return Relations(
        count=len(kinds),
        pattern=matrix(row, source, (n, size)),
        target=torch.from_numpy(target).to(like.device),
        copies=torch.from_numpy(copies).to(like),
        factors=torch.from_numpy(weight / degree[target]).to(like),
        by_target=matrix(target, every, (size, len(every))),
        by_source=matrix(source, every, (size, len(every))),
    )
