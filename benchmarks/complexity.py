"""`python -m benchmarks.complexity`: the paper's table of computational complexity, measured.

Time of a forward and a backward against each size that its formulas name, and the exponents that follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.command import Command, console, page, show, start, with_origin
from benchmarks.exponents import Exponent, fit_exponent
from benchmarks.graphs import Sample, random_graph
from benchmarks.plots import plot_complexity
from benchmarks.timing import Others, Spread, complaint, per_call, take_turns
from pcnet._checks import positive_number, whole_number
from pcnet._files import write_json, write_text
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetWarning
from pcnet.graph import Operator, SelfLoops
from pcnet.nn import BernConv, Cheb2Conv, GPRConv, JacobiConv, PCConv, Perceptron
from pcnet.paper import published_complexity
from pcnet.show import Table


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
class Letter:
    """One letter takes several values while all others stay.

    `field` is what varies in `Size`; `expected` is the exponent that follows from how this package computes, and
    `regime` says where it holds.
    """

    symbol: str
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
    letters: tuple[Letter, ...]
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
    Letter(
        "|E|", "degree", (128, 256, 512, 768, 1024, 1536), "1", "many neighbours a node, beside which nodes cost little"
    ),
    Letter("N", "N", (4, 6, 8, 12, 16, 24), "1", "a sparse product forwards and one back for each order"),
    Letter("C", "C", (32, 64, 128, 256, 512), "1", "from 32 columns on, two lines of the cache"),
    Letter(
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
        (*FILTER, Letter("K", "K", (2, 4, 8, 16, 32, 64), "0", "K enters only the N + 1 coefficients c = Bθ")),
    ),
    "gprgnn": Method("GPRGNN", lambda size: GPRConv(size.N), FILTER),
    "bernnet": Method("BernNet", lambda size: BernConv(size.N), FILTER),
    "jacobiconv": Method("JacobiConv", lambda size: JacobiConv(size.N, channels=size.C), FILTER),
    "chebnetii": Method("ChebNetII", lambda size: Cheb2Conv(size.N), FILTER),
    "mlp": Method(
        "MLP",
        lambda size: Transform(size.F, size.d, size.C),
        (
            Letter("m", "m", (1_000, 2_000, 4_000, 8_000, 16_000), "1", "each node by itself"),
            Letter("F", "F", (128, 256, 512, 1024, 2048), "1", "F ≫ C: the first layer is most of the work"),
            Letter("d", "d", (64, 128, 256, 512, 1024), "1", "F ≫ C; with few units it is reading X that takes time"),
        ),
        columns="F",
    ),
}

#: What a range does not vary.
BASE = Size()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Command("complexity", __doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    options = parser.options(arguments)
    screen = console()
    with screen.status("complexity"):
        report = with_origin(options, run_complexity())
    sheet = complexity_table(report)
    write_json(options.out / "complexity.json", report)
    write_text(options.out / "complexity.md", page(report, sheet))
    plot_complexity(report, options.out / "complexity.png")
    show(screen, sheet)


def run_complexity(
    methods: Mapping[str, Method] = METHODS,
    *,
    base: Size = BASE,
    rounds: int = 7,
    seconds: float = 0.03,
    threads: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Time a forward and a backward of each method at the values of its letters, and fit the exponents.

    Args:
        methods: what is measured, by the keys of `published_complexity()`.
        base: all sizes that are not varied.
        rounds: the values of a letter take turns in so many rounds.
        seconds: of one measurement; shorter calls are repeated for so long.
        threads: inside a kernel.
        progress: is told how many of the letters are done.
    """
    rounds, threads = whole_number("rounds", rounds, least=1), whole_number("threads", threads, least=1)
    seconds = positive_number("seconds", seconds)
    progress = progress or Silent()
    plan = [(method, letter) for method in methods.values() for letter in method.letters]
    rows, others = [], Others()
    with warnings.catch_warnings():
        # Time does not depend on whether θ is identifiable.
        warnings.simplefilter("ignore", PcnetWarning)
        progress.stage("complexity", len(plan))
        for method, letter in plan:
            rows.append(_measure(method, letter, base, rounds, seconds, threads))
            progress.advance()
    return {
        "what": "Milliseconds of a forward and a backward against the sizes in the paper's formulas",
        "rule": (
            "exponent: slope of the least-squares line through log time and log size, times being medians over rounds "
            "in which all sizes take turns; its interval: 95 % of the slopes when rounds are drawn again"
        ),
        "settings": {
            **asdict(base),
            "|E|": base.m * base.degree // 2,
            "graph": "links between nodes drawn uniformly; a letter that does not vary has the value given here",
            "rounds": rounds,
            "seconds": seconds,
            "threads": threads,
            "precision": "float32",
        },
        "formulas": {method.name: published_complexity()[key] for key, method in methods.items()},
        "rows": rows,
        "other_processes": others.cores(),
    }


def _measure(method: Method, letter: Letter, base: Size, rounds: int, seconds: float, threads: int) -> dict[str, Any]:
    """One letter of one method."""
    values, clocks = [], {}
    for size in letter.sizes(base):
        sample = random_graph(size.m, size.degree)
        values.append((sample.entries - sample.nodes) // 2 if letter.field == "degree" else getattr(size, letter.field))
        clocks[str(values[-1])] = partial(per_call, Step(method, size, sample), seconds, threads)
    taken = list(take_turns(clocks, rounds).values())
    exponent = fit_exponent(values, list(zip(*taken, strict=True)))
    return {
        "method": method.name,
        "letter": letter.symbol,
        "expected": letter.expected,
        "regime": letter.regime,
        "exponent": asdict(exponent),
        "points": [{"value": v, "ms": asdict(Spread.of(ms))} for v, ms in zip(values, taken, strict=True)],
    }


def with_loops(sample: Sample, self_loops: SelfLoops) -> Operator:
    """The operator of a generated graph, with the loops that a layer wants."""
    if self_loops in ("add", "fill"):
        # The graph has no loops of its own, so that both give one to each node.
        return replace(sample.operator, self_loops=self_loops)
    return Operator.from_edges(sample.edge_index, sample.nodes, self_loops=self_loops)


class Step:
    """A forward and a backward, for the gradients of all parameters and, of a filter, of x."""

    def __init__(self, method: Method, size: Size, sample: Sample) -> None:
        self.layer: nn.Module = method.layer(size)
        self.operator = with_loops(sample, getattr(self.layer, "self_loops", sample.operator.self_loops))
        # Features are data and need no gradient; what a filter is given was computed from weights.
        self.x = torch.rand(size.m, getattr(size, method.columns), requires_grad=method.columns == "C")
        self.wanted = [*self.layer.parameters(), *([self.x] if self.x.requires_grad else [])]
        self.gradient = torch.rand_like(self.layer(self.x, self.operator))

    def __call__(self) -> None:
        torch.autograd.grad(self.layer(self.x, self.operator), self.wanted, self.gradient)


def complexity_table(report: dict[str, Any]) -> Table:
    """A row for each method and letter."""
    rows = []
    for row in report["rows"]:
        first, last = row["points"][0], row["points"][-1]
        sizes, times = (
            f"{first['value']:,} – {last['value']:,}",
            f"{first['ms']['median']:.3g} – {last['ms']['median']:.3g}",
        )
        rows.append([row["method"], row["letter"], sizes, times, str(Exponent.of(row)), row["expected"], row["regime"]])
    settings = ", ".join(f"{key} = {value}" for key, value in report["settings"].items() if key != "graph")
    notes: tuple[str, ...] = (
        *(f"The paper's formula for {name}: {formula}" for name, formula in report["formulas"].items()),
        f"{report['what']}. {report['rule']}.",
        "N is the order of the polynomial, which all methods but PC-Conv call K. The K² of BernNet is that of its "
        "authors' scheme; here its filter, too, is one polynomial of N products.",
        "An exponent below the expected one: at the small end time is also spent on what does not grow with the size; "
        "above it: at the large end more has to come from beyond a cache.",
        "The paper's term O(mNKC) is the cost of combining K filters of N + 1 terms. Here they are combined before, as "
        "the N + 1 coefficients of one polynomial, so that time does not depend on K.",
        f"{settings}. Graph: {report['settings']['graph']}.",
    )
    if busy := complaint(report["other_processes"]):
        notes = (*notes, busy)
    columns = ("method", "size", "from – to", "ms", "exponent", "expected", "where")
    return Table("Computational complexity, measured", columns, rows, notes)


if __name__ == "__main__":
    start(main)
