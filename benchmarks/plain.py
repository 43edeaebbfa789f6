"""PCNet, GPRGNN, BernNet, ChebNetII and JacobiConv written plainly: what the library is measured against.

The arithmetic is that of the library's layers (tests say so); the way there is that of the published code as its
descriptions have it: messages gathered and scattered edge by edge, everything about the graph and the filter
computed again in every forward, all products kept by autograd, dense features, one run at a time.
"""

from __future__ import annotations

from math import comb, cos, factorial, pi

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, log_softmax
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, degree, get_laplacian

from pcnet.nn import (
    BernNetSettings,
    ChebNetIISettings,
    FilterNetSettings,
    GPRConv,
    GPRGNNSettings,
    JacobiConvSettings,
    ModelSettings,
    PCNetSettings,
)

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


class PlainGPR(PlainFilter):
    """Z = Σ_{k=0..K} θ_k S^k X, S = (D+I)^-½ (A+I) (D+I)^-½: K products."""

    def __init__(self, settings: GPRGNNSettings, *, cached: bool = False) -> None:
        super().__init__(cached=cached)
        self.theta = nn.Parameter(GPRConv(settings.K, settings.alpha, settings.start).theta.detach().clone())

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        return (gcn_norm(edge_index, num_nodes=len(x), dtype=x.dtype),)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        (S,) = self.operators(edge_index, x)
        z = self.theta[0] * x
        for theta in self.theta[1:]:
            x = self.product(S, x)
            z = z + theta * x
        return z


class PlainBern(PlainFilter):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K L^k (2I−L)^{K−k} X: K products with 2I−L, then k with L for every k."""

    def __init__(self, settings: BernNetSettings, *, cached: bool = False) -> None:
        super().__init__(cached=cached)
        self.K = settings.K
        self.theta = nn.Parameter(torch.ones(settings.K + 1))

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        """L, and 2I−L, whose diagonal is in the list twice: 2 and −1."""
        places, weight = get_laplacian(edge_index, normalization="sym", dtype=x.dtype, num_nodes=len(x))
        return (places, weight), add_self_loops(places, -weight, fill_value=2.0, num_nodes=len(x))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        L, rest = self.operators(edge_index, x)
        theta, powers = self.theta.relu(), [x]
        for _ in range(self.K):
            powers.append(self.product(rest, powers[-1]))
        z = theta[0] / 2**self.K * powers[self.K]
        for k in range(1, self.K + 1):
            term = powers[self.K - k]
            for _ in range(k):
                term = self.product(L, term)
            z = z + comb(self.K, k) / 2**self.K * theta[k] * term
        return z


class PlainCheb2(PlainFilter):
    """Z = w_0/2 X + Σ_{k=1..K} w_k T_k(L−I) X, w_k = 2/(K+1) Σ_j relu(θ_j) T_k(x_j): K products, (K+1)² scalars."""

    def __init__(self, settings: ChebNetIISettings, *, cached: bool = False) -> None:
        super().__init__(cached=cached)
        self.K = settings.K
        self.theta = nn.Parameter(torch.ones(settings.K + 1))

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        """L−I, whose diagonal is in the list twice: 1 and −1."""
        places, weight = get_laplacian(edge_index, normalization="sym", dtype=x.dtype, num_nodes=len(x))
        return (add_self_loops(places, weight, fill_value=-1.0, num_nodes=len(x)),)

    def coefficients(self) -> list[Tensor]:
        """w_0 … w_K, in every forward."""
        values, w = self.theta.relu(), []
        for k in range(self.K + 1):
            total = torch.zeros_like(values[0])
            for j in range(self.K + 1):
                total = total + values[j] * chebyshev(k, cos((self.K - j + 0.5) * pi / (self.K + 1)))
            w.append(2 / (self.K + 1) * total)
        return w

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        w = self.coefficients()
        (M,) = self.operators(edge_index, x)
        z, terms = w[0] / 2 * x, [x]
        for k in range(1, self.K + 1):
            product = self.product(M, terms[-1])
            terms.append(product if k == 1 else 2 * product - terms[-2])
            z = z + w[k] * terms[-1]
        return z


def chebyshev(k: int, x: float) -> float:
    """T_k = 2x T_{k−1} − T_{k−2}, T_0 = 1, T_1 = x."""
    before, now = 1.0, x
    for _ in range(k - 1):
        before, now = now, 2 * x * now - before
    return 1.0 if k == 0 else now


class PlainJacobi(PlainFilter):
    """Z_{:,c} = Σ_{k=0..K} θ_{k,c} X_k[:,c], γ_l = α tanh(e_l), S = D^-½ A D^-½: K products, all X_k stacked.

    X_k = γ_{k−1} (slope_k S − offset_k) X_{k−1} − γ_{k−1} γ_{k−2} back_k X_{k−2}, in the published code's recurrence.
    """

    def __init__(self, settings: JacobiConvSettings, classes: int, *, cached: bool = False) -> None:
        s = settings
        if s.hidden is not None or s.basis != "jacobi" or s.sign != "published" or s.frozen:
            raise ValueError(
                "The plain scheme is the published model: one linear layer, and Jacobi's basis as published."
            )
        super().__init__(cached=cached)
        self.settings = s
        self.theta = nn.Parameter(torch.ones(s.K + 1, classes))
        self.e = nn.Parameter(torch.full((s.K,), min(1 / s.alpha, 1.0)))

    def weigh(self, edge_index: Tensor, x: Tensor) -> tuple[Edges, ...]:
        return (gcn_norm(edge_index, num_nodes=len(x), add_self_loops=False, dtype=x.dtype),)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        a, b = self.settings.a, self.settings.b
        (S,) = self.operators(edge_index, x)
        gamma, bases = self.settings.alpha * self.e.tanh(), [x]
        for k in range(1, self.settings.K + 1):
            last = bases[-1]
            product = self.product(S, last)
            if k == 1:
                bases.append(gamma[0] * ((a - b) / 2 * last + (a + b + 2) / 2 * product))
                continue
            n = 2 * k + a + b
            share = 2 * k * (k + a + b) * (n - 2)
            slope, offset = (n - 1) * n * (n - 2) / share, (n - 1) * (a**2 - b**2) / share
            back = 2 * (k - 1 + a) * (k - 1 + b) * n / share
            damped = gamma[k - 1] * (slope * product - offset * last)
            bases.append(damped - gamma[k - 1] * gamma[k - 2] * back * bases[-2])
        return (torch.stack(bases, dim=1) * self.theta).sum(dim=1)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"theta": [self.theta], "alpha": [self.e]}


def plain_filter(settings: FilterNetSettings, classes: int, *, cached: bool = False) -> PlainFilter:
    """The filter of a method, for so many columns."""
    match settings:
        case GPRGNNSettings():
            return PlainGPR(settings, cached=cached)
        case BernNetSettings():
            return PlainBern(settings, cached=cached)
        case ChebNetIISettings():
            return PlainCheb2(settings, cached=cached)
        case JacobiConvSettings():
            return PlainJacobi(settings, classes, cached=cached)
    raise ValueError(f"There is no plain version of {settings.method}.")


def plain_model(in_channels: int, out_channels: int, settings: ModelSettings, *, cached: bool = False) -> PlainNet:
    """The plain model with the settings of a method."""
    if isinstance(settings, PCNetSettings):
        return PlainPCNet(in_channels, out_channels, settings, cached=cached)
    assert isinstance(settings, FilterNetSettings)
    return PlainNet(in_channels, out_channels, settings, plain_filter(settings, out_channels, cached=cached))
