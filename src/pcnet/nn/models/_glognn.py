"""GloGNN and GloGNN++ (Li et al., ICML 2022): every node gathers from all nodes, in linear time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._progress import Progress
from pcnet.errors import PcnetError
from pcnet.graph import Graph, Operator, SelfLoops, made_once
from pcnet.nn._edges import in_full, like, row_means
from pcnet.nn._module import held
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, linear, uniform_by_inputs
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.polynomial import Powers
from pcnet.propagate import apply_operator, apply_polynomial

#: What Â is: rows of A + I divided by their sums, or A as it stands.
Walk = Literal["rows", "raw"]


@dataclass(frozen=True)
class GloGNNSettings(LayeredNetSettings):
    dropout: float = setting(0.5, "dropout rate of hidden layers; features are not dropped")
    depth: int = setting(2, "linear layers of H_0; a third, with ReLU and dropout, stands before W_2", least=2, most=3)
    layers: int = setting(2, "how often H is renewed")
    K: int = setting(4, "powers of Â", least=1)
    alpha: float = setting(0.0, "weight of the penalty on Z, α", least=0)
    beta: float = setting(1000.0, "weight of the penalty on what Z is besides powers of Â, β", least=0)
    gamma: float = setting(0.5, "share of H_0 in every layer, γ", least=0, most=1)
    delta: float = setting(1.0, "share of the features in H_0, δ'", least=0, most=1)
    diagonal: bool = setting(True, "whether it is GloGNN++")
    walk: Walk = setting("rows", 'Â = (D+I)^-1 (A+I), "rows", or A, "raw"')
    nodes: int = setting(0, "number of nodes, which a `delta` below 1 needs; `for_graph` fills it in")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma == 1:
            raise PcnetError(f"gamma = {self.gamma} must be less than 1: at 1 the layers do nothing.")
        if self.alpha == self.beta == 0:
            raise PcnetError("alpha and beta are both 0; one of them must be above 0.")

    def for_graph(self, graph: Graph, progress: Progress | None = None) -> GloGNNSettings:
        return self if self.delta == 1 else replace(self, nodes=graph.num_nodes)

    def memory(self, classes: int) -> Memory:
        """The embedding there and back, and of every layer H, Q and what comes of them."""
        nodes = (4 * self.depth + 4) * self.hidden + (8 * self.layers + 16) * classes
        return super().memory(classes)._replace(nodes=nodes)


@method("glognn++", title="GloGNN++")
class GloGNN(LayeredNet[GloGNNSettings]):
    """H ← (1−γ) Z H + γ H_0, and Z minimises ‖H − (1−γ) Z H − γ H_0‖² + α‖Z‖² + β‖Z − Σ_{k=1..K} λ_k Â^k‖².

    Z = [(1−γ) (H − γ H_0) Hᵀ + β Σ λ_k Â^k] [(1−γ)² H Hᵀ + (α+β) I]^-1 has n² entries, but what it multiplies has few
    columns: with Q = (1−γ) H [(1−γ)² HᵀH + (α+β) I]^-1 (as [u HHᵀ + I]^-1 H = H [u HᵀH + I]^-1) a layer is

        H ← (1−γ) (H − γ H_0) Hᵀ Q + β Σ_k λ_k Â^k Q + γ H_0.

    GloGNN++ weighs the columns of H by a learned diagonal D: it has Q D for Q, and D Hᵀ Q D for Hᵀ Q. All layers share
    D and λ. The first embedding is H_0 = δ(relu(δ' (X W_1 + b_1) + (1−δ') (Â W_3 + b_3))) W_2 + b_2, W_3 a row for
    each node; with δ' = 1 there is no W_3.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "add"

    def setup(self, s: GloGNNSettings) -> None:
        self.first = self.opening(s.hidden, bias=True)
        inner = list(itertools.pairwise([s.hidden] * (s.depth - 1) + [self.out_channels]))
        self.weights = nn.ParameterList([empty(*shape) for shape in inner])
        self.biases = nn.ParameterList([empty(width) for _, width in inner])
        self.of_nodes = empty(s.nodes, s.hidden) if s.delta < 1 else None
        self.node_bias = empty(s.hidden) if s.delta < 1 else None
        self.orders = empty(s.K)
        self.diagonal = empty(self.out_channels) if s.diagonal else None

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's, λ = 1/K, D = I / classes."""
        self.first.reset_parameters(generator)
        for weight, bias in ((self.of_nodes, self.node_bias), *zip(self.weights, self.biases, strict=True)):
            if weight is not None and bias is not None:
                uniform_by_inputs([weight, bias], weight.shape[0], generator)
        for mean in (self.orders, self.diagonal):
            if mean is not None:
                nn.init.constant_(mean, 1 / len(mean))

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        s, walk = self.settings, _walk(operator, self.settings.walk)
        if self.of_nodes is not None and self.node_bias is not None:
            self.check_graph("nodes", self.of_nodes.shape[-2], operator.num_nodes)
            h = s.delta * h + (1 - s.delta) * (
                apply_operator(walk, self.of_nodes) + over_nodes(self.node_bias, h.shape[-2])
            )
        for weight, bias in zip(self.weights, self.biases, strict=True):
            h = linear(self.drop(h.relu()), weight, bias)
        origin = h
        for _ in range(s.layers):
            h = self._renewed(h, origin, walk)
        return h

    def _renewed(self, h: Tensor, origin: Tensor, walk: Operator) -> Tensor:
        """(1−γ) Z H + γ H_0."""
        s, keep = self.settings, 1 - self.settings.gamma
        q = keep * h @ _Inverse.apply(keep**2 * h.mT @ h + (s.alpha + s.beta) * _eye(h))
        if self.diagonal is None:
            seen = h.mT @ q
        else:
            q = q * over_nodes(self.diagonal, q.shape[-2])
            seen = self.diagonal.unsqueeze(-1) * (h.mT @ q)
        nothing = torch.zeros_like(self.orders[..., :1])
        walked = apply_polynomial(walk, q, s.beta * torch.cat([nothing, self.orders], dim=-1), Powers())
        return keep * (h - s.gamma * origin) @ seen + walked + s.gamma * origin


class _Inverse(torch.autograd.Function):
    """M^-1 of a positive definite M, (…, c, c), by elimination: [M | I] → [D | D M^-1].

    It needs no pivots, so that it is the same few operations on every device, and a step with it can be captured.
    """

    @staticmethod
    def forward(ctx: Any, matrix: Tensor) -> Tensor:
        size, eye = matrix.shape[-1], _eye(matrix)
        both = torch.cat([matrix, eye.expand_as(matrix)], dim=-1)
        for k in range(size):
            factors = both[..., k] * (1 - eye[k]) / both[..., k, k, None]
            both = torch.addcmul(both, factors.unsqueeze(-1), both[..., k, None, :], value=-1)
        inverse = both[..., size:] / both.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (inverse,) = ctx.saved_tensors
        return -inverse.mT @ grads[0] @ inverse.mT


def _eye(like: Tensor) -> Tensor:
    """I with as many columns, of the same type."""
    return held(torch.eye, like.shape[-1], device=like.device).to(like.dtype)


@made_once
def _walk(operator: Operator, walk: Walk) -> Operator:
    """Â, from A + I."""
    if walk == "rows":
        return replace(operator, matrix=row_means(operator), symmetric=False)
    W = in_full(operator)
    own = W.rows == W.col
    adjacency = W.with_values(W.values - own.double()).only(~own | (W.values != 1))
    return replace(operator, matrix=like(operator, adjacency, adjacency.values))
