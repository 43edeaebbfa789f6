"""The methods of the paper's complexity table, and the sizes that their time is measured against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor, nn

from pcnet.nn import BernConv, Cheb2Conv, GPRConv, JacobiConv, PCConv, Perceptron


@dataclass(frozen=True)
class Size:
    """A problem, by the letters of the paper; |E| = m · degree / 2.

    `N` is the order of the polynomial, which all methods but PC-Conv call K. `F` and `d` are the features and the
    hidden width of a perceptron.
    """

    m: int = 4_000
    degree: int = 64
    N: int = 4
    K: int = 4
    C: int = 16
    F: int = 512
    d: int = 64


@dataclass(frozen=True)
class Sweep:
    """One letter takes several values while all others stay.

    `field` is what varies in `Size`; `expected` is the exponent that follows from how this package computes, and
    `regime` says where it holds.
    """

    letter: str
    field: str
    values: tuple[int, ...]
    expected: str
    regime: str

    def sizes(self, base: Size) -> list[Size]:
        """The problems to measure."""
        return [replace(base, **{self.field: value}) for value in self.values]


@dataclass(frozen=True)
class Method:
    """A layer that is called as `layer(x, operator)`; `columns` is the letter of x's columns."""

    name: str
    layer: Callable[[Size], nn.Module]
    sweeps: tuple[Sweep, ...]
    columns: str = "C"


class Transform(nn.Module):
    """A perceptron in the place of a filter: it knows no graph."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.perceptron = Perceptron(widths, activation="relu")

    def forward(self, x: Tensor, operator: object) -> Tensor:
        return self.perceptron(x)


#: What every polynomial filter is measured against.
FILTER = (
    Sweep(
        "|E|", "degree", (128, 256, 512, 768, 1024, 1536), "1", "many neighbours a node, beside which nodes cost little"
    ),
    Sweep("N", "N", (4, 6, 8, 12, 16, 24), "1", "a sparse product forwards and one back for each order"),
    Sweep("C", "C", (32, 64, 128, 256, 512), "1", "from 32 columns on, two lines of the cache"),
    Sweep(
        "C",
        "C",
        (1, 2, 4, 8, 16, 32),
        "below 1",
        "up to 32 columns: the lines of the cache are fetched for any of them",
    ),
)

#: By their keys in the published table of formulas.
METHODS: dict[str, Method] = {
    "pc-conv": Method(
        "PC-Conv",
        lambda size: PCConv(size.K, size.N, t=0.5),
        (*FILTER, Sweep("K", "K", (2, 4, 8, 16, 32, 64), "0", "K enters only the N + 1 coefficients c = Bθ")),
    ),
    "gprgnn": Method("GPRGNN", lambda size: GPRConv(size.N), FILTER),
    "bernnet": Method("BernNet", lambda size: BernConv(size.N), FILTER),
    "jacobiconv": Method("JacobiConv", lambda size: JacobiConv(size.N, channels=size.C), FILTER),
    "chebnetii": Method("ChebNetII", lambda size: Cheb2Conv(size.N), FILTER),
    "mlp": Method(
        "MLP",
        lambda size: Transform(size.F, size.d, size.C),
        (
            Sweep("m", "m", (1_000, 2_000, 4_000, 8_000, 16_000), "1", "each node by itself"),
            Sweep("F", "F", (128, 256, 512, 1024, 2048), "1", "F ≫ C: the first layer is most of the work"),
            Sweep("d", "d", (64, 128, 256, 512, 1024), "1", "F ≫ C; with few units it is reading X that takes time"),
        ),
        columns="F",
    ),
}
