"""PCNet in the scheme of its authors, written plainly: what the library is measured against.

The arithmetic is that of `pcnet.PCNet` (a test says so); the way there is that of the published code as its
descriptions have it: messages gathered and scattered edge by edge, everything about the graph and the filter
computed again in every forward, dense features, one run at a time.
"""

from __future__ import annotations

from math import factorial

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, log_softmax
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, degree

from pcnet.nn import FilterNetSettings, PCNetSettings

#: The entries of a matrix: pairs of nodes, and a weight for each.
Edges = tuple[Tensor, Tensor]


def charlier(n: int, gamma: int, t: float) -> float:
    """C_n = (γ−n−t+1) C_{n−1} − (n−1) t C_{n−2}, C_0 = 1, C_1 = γ−t: as defined, about φⁿ calls."""
    if n == 0:
        return 1.0
    if n == 1:
        return gamma - t
    return (gamma - n - t + 1) * charlier(n - 1, gamma, t) - (n - 1) * t * charlier(n - 2, gamma, t)


class PlainFilter(MessagePassing):
    """A filter by messages along weighed edges: weighed again in every forward or, where `cached`, in the first one."""

    def __init__(self, *, cached: bool = False) -> None:
        super().__init__(aggr="add")
        self.cached = cached
        self._weighed: tuple[Edges, ...] = ()

    def operators(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        """The matrices that the filter multiplies with."""
        if not (self.cached and self._weighed):
            self._weighed = self.weigh(edge_index, x)
        return self._weighed

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        raise NotImplementedError

    def product(self, edges: Edges, x: Tensor) -> Tensor:
        edge_index, weight = edges
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.view(-1, 1) * x_j

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by the names under which learning rates and decays are given."""
        return {"theta": list(self.parameters())}


class PlainConv(PlainFilter):
    """Z = θ_0 X + Σ_{k=1..K} θ_k Σ_{n=0..N} C_n(k,t)/n! (Ã − (p−1)I)^n X, term by term.

    Each forward adds the self loops, counts the degrees, weighs the edges, computes N+1 powers of which the
    last is not used, stores them all, and adds up K·(N+1) scaled terms.
    """

    def __init__(self, settings: PCNetSettings, *, cached: bool = False) -> None:
        super().__init__(cached=cached)
        self.settings = settings
        self.theta = nn.Parameter(torch.full((settings.K + 1,), settings.init))

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        return (normalised(edge_index, x, self.settings.eta),)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        K, N, t, p = self.settings.K, self.settings.N, self.settings.t, self.settings.p
        (A,) = self.operators(edge_index, x)
        powers = [x]
        for _ in range(N + 1):
            powers.append(self.product(A, powers[-1]) - (p - 1) * powers[-1])
        z = self.theta[0] * x
        for k in range(1, K + 1):
            filtered = charlier(0, k, t) * powers[0]
            for n in range(1, N + 1):
                filtered = filtered + charlier(n, k, t) / factorial(n) * powers[n]
            z = z + self.theta[k] * filtered
        return z


def normalised(edge_index: Tensor, x: Tensor, eta: float) -> Edges:
    """The entries of Ã = (D+I)^-η (A+I) (D+I)^-η as a list of edges and their weights."""
    edge_index, _ = add_self_loops(edge_index, num_nodes=x.size(0))
    source, target = edge_index
    scale = degree(target, x.size(0), x.dtype).pow(-eta)
    return edge_index, scale[source] * scale[target]


class PlainNet(nn.Module):
    """log softmax(g(δ(W_2 δ(σ(W_1 δ(X) + b_1)) + b_2))), δ dropout, σ the ReLU or nothing; or with a single layer."""

    def __init__(self, in_channels: int, out_channels: int, settings: FilterNetSettings, conv: PlainFilter) -> None:
        super().__init__()
        s = settings
        self.first = nn.Linear(in_channels, s.hidden or out_channels)
        self.second = None if s.hidden is None else nn.Linear(s.hidden, out_channels)
        self.conv = conv
        self.activation = s.activation
        self.rates = (s.drop_in, s.drop_hidden, s.drop_prop)

    def logits(self, x: Tensor, edge_index: Tensor) -> Tensor:
        drop_in, drop_hidden, drop_prop = self.rates
        h = self.first(dropout(x, drop_in, self.training))
        if self.second is not None:
            h = h.relu() if self.activation == "relu" else h
            h = self.second(dropout(h, drop_hidden, self.training))
        return self.conv(dropout(h, drop_prop, self.training), edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return log_softmax(self.logits(x, edge_index), dim=1)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Those of the filter, and `first` and `second` for the layers."""
        layers = {"first": self.first, "second": self.second}
        own = {name: list(layer.parameters()) for name, layer in layers.items() if layer is not None}
        return own | self.conv.parameter_groups()


class PlainPCNet(PlainNet):
    """log softmax(PlainConv(δ(W_2 δ(W_1 δ(X) + b_1) + b_2))), δ dropout."""

    def __init__(self, in_channels: int, out_channels: int, settings: PCNetSettings, *, cached: bool = False) -> None:
        s = settings
        if s.hidden is None or not s.identity or s.activation or s.mode != "truncated":
            raise ValueError("The plain scheme is the published model: two linear layers and a truncated filter.")
        super().__init__(in_channels, out_channels, s, PlainConv(s, cached=cached))
