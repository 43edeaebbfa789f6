"""The same filter four ways: Z = Σ_n c_n (Ã − (p−1)I)^n X on one graph, c = Bθ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from benchmarks.plain import PlainConv, normalised
from pcnet import Graph, Operator, PCConv, PCNetSettings, charlier_matrix


@dataclass(frozen=True, eq=False)
class Filter:
    """A way to propagate: `apply` maps X to Z, `theta` is learned, `constants` live as long as the graph."""

    name: str
    apply: Callable[[Tensor], Tensor]
    theta: nn.Parameter
    constants: tuple[Tensor, ...] = ()

    def step(self, x: Tensor, gradient: Tensor) -> None:
        """Forward and backward, for the gradients of X and of θ."""
        torch.autograd.grad(self.apply(x), [x, self.theta], gradient)


def filters(graph: Graph, settings: PCNetSettings, runs: int = 1, dtype: torch.dtype = torch.float32) -> list[Filter]:
    """This library, the plain scheme, and two ways between them, on an X of `runs` · C columns.

    The library gives every run a θ of its own, as in training; the others filter all columns with one.
    """
    s = settings
    operator = Operator.from_graph(graph, eta=s.eta, dtype=dtype)
    ours = PCConv.stack([PCConv(s.K, s.N, s.t, s.p, s.eta, init=s.init) for _ in range(runs)]).to(dtype)
    plain = PlainConv(s).to(dtype)
    combined = Combined(s).to(dtype)
    matrix, messages = _as_torch(operator), Messages()
    edges, weight = normalised(graph.edge_index, torch.empty(graph.num_nodes, 0, dtype=dtype), s.eta)

    def by_runs(x: Tensor) -> Tensor:
        stacked = x.view(len(x), runs, -1).permute(1, 0, 2)
        return ours(stacked, operator).permute(1, 0, 2).reshape(x.shape)

    def by_matrix(x: Tensor) -> Tensor:
        return combined(x, lambda h: torch.sparse.mm(matrix, h))

    def by_messages(x: Tensor) -> Tensor:
        return combined(x, lambda h: messages(h, edges, weight))

    return [
        Filter("pcnet", by_runs, ours.theta, (operator.matrix.values,)),
        Filter("plain", lambda x: plain(x, graph.edge_index), plain.theta, (graph.edge_index,)),
        Filter("torch.sparse.mm", by_matrix, combined.theta, (matrix,)),
        Filter("PyG messages", by_messages, combined.theta, (edges, weight)),
    ]


class Combined(nn.Module):
    """Σ_n c_n M^n X by autograd, one scaled term for each power and none that is not used."""

    def __init__(self, settings: PCNetSettings) -> None:
        super().__init__()
        self.shift = settings.p - 1
        self.theta = nn.Parameter(torch.full((settings.K + 1,), settings.init))
        self.matrix = torch.as_tensor(charlier_matrix(settings.K, settings.N, settings.t))

    def forward(self, x: Tensor, product: Callable[[Tensor], Tensor]) -> Tensor:
        c = (self.matrix @ self.theta.double()).to(x.dtype)
        z, power = c[0] * x, x
        for n in range(1, len(c)):
            power = product(power) - self.shift * power
            z = z + c[n] * power
        return z


class Messages(MessagePassing):
    """Ã X by PyG's message passing over edges that were weighed once."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.view(-1, 1) * x_j


def _as_torch(operator: Operator) -> Tensor:
    m = operator.matrix
    return torch.sparse_csr_tensor(m.crow.long(), m.col.long(), m.values, m.shape, check_invariants=True)
