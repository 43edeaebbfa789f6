"""The same filter four ways: Z = Σ_n c_n (Ã − (p−1)I)^n X on one graph, c = Bθ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from benchmarks.graphs import Sample, random_graph
from benchmarks.plain import PlainConv, normalised
from benchmarks.timing import elapsed, torch_threads
from pcnet.graph import CSR
from pcnet.nn import PCConv, PCNetSettings
from pcnet.polynomial import charlier_matrix


@dataclass(frozen=True, eq=False)
class Filter:
    """A way to propagate: `apply` maps X to Z, `theta` is learned, `constants` live as long as the graph."""

    name: str
    apply: Callable[[Tensor], Tensor]
    theta: nn.Parameter
    constants: tuple[Tensor, ...] = ()
    #: Which of several forms of the way this is.
    form: str = ""

    def step(self, x: Tensor, gradient: Tensor) -> None:
        """Forward and backward, for the gradients of X and of θ."""
        torch.autograd.grad(self.apply(x), [x, self.theta], gradient)


def filters(sample: Sample, settings: PCNetSettings, runs: int = 1) -> list[Filter]:
    """This library, the plain scheme, and two ways between them, on an X of `runs` · C columns.

    The library gives every run a θ of its own, as in training; the others filter all columns with one.
    """
    return [build(sample, settings, runs) for build in WAYS.values()]


def library(sample: Sample, settings: PCNetSettings, runs: int) -> Filter:
    """`PCConv` over a cached operator."""
    s, matrix = settings, sample.operator.matrix
    conv = PCConv.stack([PCConv(s.K, s.N, s.t, s.p, s.eta, init=s.init) for _ in range(runs)])
    conv = conv.to(device=matrix.device, dtype=matrix.dtype)

    def by_runs(x: Tensor) -> Tensor:
        stacked = x.view(len(x), runs, -1).permute(1, 0, 2)
        return conv(stacked, sample.operator).permute(1, 0, 2).reshape(x.shape)

    return Filter("pcnet", by_runs, conv.theta, (matrix.values,))


def plain(sample: Sample, settings: PCNetSettings, runs: int) -> Filter:
    """The authors' scheme: K·(N+1) scaled terms of N+1 powers, the edges weighed again in every forward."""
    matrix, edges = sample.operator.matrix, sample.edge_index
    conv = PlainConv(settings).to(device=matrix.device, dtype=matrix.dtype)
    return Filter("plain", lambda x: conv(x, edges), conv.theta, (edges,))


def sparse(sample: Sample, settings: PCNetSettings, runs: int) -> Filter:
    """`torch.sparse.mm` (`torch.spmm` is the same function) and autograd, in the layout that is faster here."""
    combined, layout = Combined(settings, sample), faster_layout(sample.operator.matrix.device.type)
    matrix = as_torch(sample.operator.matrix, layout)
    product = partial(torch.sparse.mm, matrix)
    return Filter("torch.sparse.mm", lambda x: combined(x, product), combined.theta, (matrix,), layout)


def messages(sample: Sample, settings: PCNetSettings, runs: int) -> Filter:
    """PyG's gather and scatter over edges that were weighed once."""
    like = sample.operator.matrix.values.new_empty(sample.nodes, 0)
    edges, weight = normalised(sample.edge_index, like, settings.eta)
    combined, propagate = Combined(settings, sample), Messages()
    return Filter(
        "PyG messages",
        lambda x: combined(x, lambda h: propagate(h, edges, weight)),
        combined.theta,
        (edges, weight),
    )


WAYS: dict[str, Callable[[Sample, PCNetSettings, int], Filter]] = {
    "pcnet": library,
    "plain": plain,
    "torch.sparse.mm": sparse,
    "PyG messages": messages,
}


class Combined(nn.Module):
    """Σ_n c_n M^n X by autograd, one scaled term for each power and none that is not used."""

    def __init__(self, settings: PCNetSettings, sample: Sample) -> None:
        super().__init__()
        like = sample.operator.matrix.values
        self.shift = settings.p - 1
        self.theta = nn.Parameter(torch.full((settings.K + 1,), settings.init).to(like))
        self.matrix = torch.as_tensor(charlier_matrix(settings.K, settings.N, settings.t), device=like.device)

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


def as_torch(matrix: CSR, layout: str) -> Tensor:
    """The matrix as torch has it, "CSR" with 32-bit indices or "COO"."""
    parts = (matrix.crow, matrix.col, matrix.values)
    csr = torch.sparse_csr_tensor(*parts, matrix.shape, check_invariants=False)
    return csr if layout == "CSR" else csr.to_sparse_coo().coalesce()


@lru_cache(maxsize=2)
def faster_layout(device: str) -> str:
    """The layout in which a product and its gradient take less time; one that has no gradient is not faster."""
    sample = random_graph(10_000).to(device)
    x = torch.rand(sample.nodes, 64, device=device, requires_grad=True)
    gradient = torch.rand_like(x)
    seconds = {}
    for layout in ("CSR", "COO"):
        matrix = as_torch(sample.operator.matrix, layout)
        step = partial(_product_and_gradient, matrix, x, gradient)
        try:
            # One thread: beside a busy process several would measure how they wait for each other.
            with torch_threads(1):
                seconds[layout] = min(elapsed(step, 1, device) for _ in range(4))
        except RuntimeError:
            continue
    return min(seconds, key=lambda layout: seconds[layout], default="CSR")


def _product_and_gradient(matrix: Tensor, x: Tensor, gradient: Tensor) -> None:
    torch.autograd.grad(torch.sparse.mm(matrix, x), x, gradient)
