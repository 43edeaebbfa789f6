"""GloGNN and GloGNN++ (Li et al., ICML 2022): every node gathers from all nodes, in linear time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._checks import finite_number, whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph, Operator, Preparing, SelfLoops
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, over_nodes, uniform_by_inputs
from pcnet.polynomial import Powers
from pcnet.propagate import apply_operator, apply_polynomial

#: What Â is: rows of A + I divided by their sums, or A as it stands.
Walk = Literal["rows", "raw"]


class GloGNN(LayeredNet):
    """H ← (1−γ) Z H + γ H_0, and Z minimises ‖H − (1−γ) Z H − γ H_0‖² + α‖Z‖² + β‖Z − Σ_{k=1..K} λ_k Â^k‖².

    Z = [(1−γ) (H − γ H_0) Hᵀ + β Σ λ_k Â^k] [(1−γ)² H Hᵀ + (α+β) I]^-1 has n² entries, but what it multiplies has few
    columns: with Q = (1−γ) H [(1−γ)² HᵀH + (α+β) I]^-1 (as [u HHᵀ + I]^-1 H = H [u HᵀH + I]^-1) a layer is

        H ← (1−γ) (H − γ H_0) Hᵀ Q + β Σ_k λ_k Â^k Q + γ H_0.

    GloGNN++ weighs the columns of H by a learned diagonal D: it has Q D for Q, and D Hᵀ Q D for Hᵀ Q. All layers share
    D and λ. The first embedding is H_0 = δ(relu(δ' (X W_1 + b_1) + (1−δ') (Â W_3 + b_3))) W_2 + b_2, W_3 a row for
    each node; with δ' = 1 there is no W_3.

    Args:
        in_channels: number of features.
        hidden_channels: width of the embedding.
        out_channels: number of classes, and columns of H.
        nodes: number of nodes, which a `delta` below 1 needs.
        depth: linear layers of H_0, 2 or 3; a third one, with ReLU and dropout, stands before W_2.
        layers: how often H is renewed.
        K: powers of Â.
        alpha, beta: weights of the penalties on Z, α and β.
        gamma: share of H_0 in every layer, γ.
        delta: share of the features in H_0, δ'.
        diagonal: whether it is GloGNN++.
        walk: Â = (D+I)^-1 (A+I), "rows", or A, "raw".
        dropout: dropout rate of hidden layers; features are not dropped.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "add"
    common: ClassVar[tuple[str, ...]] = ("depth", "rounds", "K", "alpha", "beta", "gamma", "delta", "walk")

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        nodes: int = 0,
        depth: int = 2,
        layers: int = 2,
        K: int = 4,
        alpha: float = 0.0,
        beta: float = 1000.0,
        gamma: float = 0.5,
        delta: float = 1.0,
        diagonal: bool = True,
        walk: Walk = "rows",
        dropout: float = 0.5,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, dropout=dropout, bias=True)
        if depth not in (2, 3):
            raise PcnetError(f"GloGNN's first embedding has a depth of 2 or 3, not {depth}.")
        if not 0 <= gamma < 1:
            raise PcnetError(f"gamma = {gamma} must be at least 0 and less than 1: at 1 the layers do nothing.")
        if not 0 <= delta <= 1:
            raise PcnetError(f"delta = {delta} is not a share; it must lie between 0 and 1.")
        if min(alpha, beta) < 0 or alpha + beta <= 0:
            raise PcnetError(f"alpha = {alpha} and beta = {beta} must not be negative, and one of them above 0.")
        if walk not in get_args(Walk):
            raise PcnetError(f"walk can be {' or '.join(get_args(Walk))}, not {walk!r}.")
        self.depth, self.rounds, self.K = depth, whole_number("layers", layers), whole_number("K", K, least=1)
        self.alpha, self.beta = finite_number("alpha", alpha), finite_number("beta", beta)
        self.gamma, self.delta, self.walk = gamma, delta, walk
        widths = [hidden_channels] * (depth - 1) + [out_channels]
        inner = list(itertools.pairwise(widths))
        self.weights = nn.ParameterList([torch.empty(*shape) for shape in inner])
        self.biases = nn.ParameterList([torch.empty(width) for _, width in inner])
        by_node = delta < 1
        self.of_nodes = nn.Parameter(torch.empty(nodes, hidden_channels)) if by_node else None
        self.node_bias = nn.Parameter(torch.empty(hidden_channels)) if by_node else None
        self.orders = nn.Parameter(torch.empty(K))
        self.diagonal = nn.Parameter(torch.empty(out_channels)) if diagonal else None
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Linear layers as torch's, λ = 1/K, D = I / classes."""
        self.first.reset_parameters(generator)
        layers: list[tuple[nn.Parameter | None, nn.Parameter | None]]
        layers = [(self.of_nodes, self.node_bias), *zip(self.weights, self.biases, strict=True)]
        for weight, bias in layers:
            if weight is not None and bias is not None:
                uniform_by_inputs([weight, bias], weight.shape[0], generator)
        for mean in (self.orders, self.diagonal):
            if mean is not None:
                nn.init.constant_(mean, 1 / len(mean))

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        walk = _walk(operator, self.walk)
        if self.of_nodes is not None and self.node_bias is not None:
            if self.of_nodes.shape[-2] != operator.num_nodes:
                raise PcnetError(
                    f"This model has weights for {self.of_nodes.shape[-2]} nodes, the graph has {operator.num_nodes}; "
                    "make it from settings.for_graph(graph)."
                )
            h = self.delta * h + (1 - self.delta) * (apply_operator(walk, self.of_nodes) + over_nodes(self.node_bias))
        for weight, bias in zip(self.weights, self.biases, strict=True):
            h = self.drop(h.relu()) @ weight + over_nodes(bias)
        origin = h
        for _ in range(self.rounds):
            h = self._renewed(h, origin, walk)
        return h

    def _renewed(self, h: Tensor, origin: Tensor, walk: Operator) -> Tensor:
        """(1−γ) Z H + γ H_0."""
        keep = 1 - self.gamma
        q = keep * h @ _Inverse.apply(keep**2 * h.mT @ h + (self.alpha + self.beta) * _eye(h))
        if self.diagonal is not None:
            q = q * over_nodes(self.diagonal)
        seen = h.mT @ q
        if self.diagonal is not None:
            seen = self.diagonal.unsqueeze(-1) * seen
        nothing = torch.zeros_like(self.orders[..., :1])
        walked = apply_polynomial(walk, q, self.beta * torch.cat([nothing, self.orders], dim=-1), Powers())
        return keep * (h - self.gamma * origin) @ seen + walked + self.gamma * origin


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
    return _eyes(like.shape[-1], like.device).to(like.dtype)


@lru_cache(maxsize=64)
def _eyes(size: int, device: torch.device) -> Tensor:
    """On the device to stay: a captured step cannot wait for a copy."""
    return torch.eye(size).to(device)


@lru_cache(maxsize=8)
def _walk(operator: Operator, walk: Walk) -> Operator:
    """Â, from A + I."""
    values, looped = operator.matrix.values, operator.matrix.to_scipy()
    if walk == "rows":
        matrix = scipy.sparse.diags(1 / np.asarray(looped.sum(axis=1)).ravel()) @ looped
    else:
        matrix = looped - scipy.sparse.identity(operator.num_nodes)
    matrix = scipy.sparse.csr_matrix(matrix)
    matrix.eliminate_zeros()
    symmetric = operator.symmetric and walk == "raw"
    return replace(operator, matrix=CSR.from_scipy(matrix, values.dtype).to(values.device), symmetric=symmetric)


@dataclass(frozen=True)
class GloGNNSettings(LayeredNetSettings):
    """The arguments of `GloGNN`."""

    method: ClassVar[str] = "glognn++"
    eta: ClassVar[float] = 0.0
    self_loops: ClassVar[SelfLoops] = "add"

    depth: int = 2
    layers: int = 2
    K: int = 4
    alpha: float = 0.0
    beta: float = 1000.0
    gamma: float = 0.5
    delta: float = 1.0
    diagonal: bool = True
    walk: Walk = "rows"
    #: Number of nodes, where the model has weights for each; `for_graph` fills it in.
    nodes: int = 0

    def for_graph(self, graph: Graph, tell: Preparing | None = None) -> GloGNNSettings:
        return self if self.delta == 1 else replace(self, nodes=graph.num_nodes)

    def make(self, in_channels: int, out_channels: int) -> GloGNN:
        names = ("nodes", "depth", "layers", "K", "alpha", "beta", "gamma", "delta", "diagonal", "walk", "dropout")
        rest = {name: getattr(self, name) for name in names}
        return GloGNN(in_channels, self.hidden, out_channels, **rest)

    def node_floats(self, classes: int) -> int:
        """The embedding there and back, and of every layer H, Q and what comes of them."""
        return (4 * self.depth + 4) * self.hidden + (8 * self.layers + 16) * classes
