"""The paper's table of computational complexity, measured: time against each size that its formulas name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from pcnet._checks import positive_number, whole_number
from pcnet._progress import Progress, Silent
from pcnet.bench import TOLERATED, Others, Sample, Spread, per_call, random_graph, take_turns
from pcnet.errors import PcnetWarning
from pcnet.graph import Operator, SelfLoops
from pcnet.paper._exponents import Exponent, fit_exponent
from pcnet.paper._methods import METHODS, Method, Size, Sweep
from pcnet.paper._published import published_complexity
from pcnet.show import Table

#: What a sweep does not vary.
BASE = Size()


def run_complexity(
    methods: Mapping[str, Method] = METHODS,
    *,
    base: Size = BASE,
    rounds: int = 7,
    seconds: float = 0.03,
    threads: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Time a forward and a backward of each method at the sizes of its sweeps, and fit the exponents.

    Args:
        methods: what is measured, by the keys of `published_complexity()`.
        base: all sizes that a sweep does not vary.
        rounds: the sizes of a sweep take turns in so many rounds.
        seconds: of one measurement; shorter calls are repeated for so long.
        threads: inside a kernel.
        progress: is told how far it is.
    """
    rounds, threads = whole_number("rounds", rounds, least=1), whole_number("threads", threads, least=1)
    seconds = positive_number("seconds", seconds)
    plan = [(method, sweep) for method in methods.values() for sweep in method.sweeps]
    rows, others = [], Others()
    with warnings.catch_warnings():
        # Time does not depend on whether θ is identifiable.
        warnings.simplefilter("ignore", PcnetWarning)
        progress = progress or Silent()
        progress.stage("timing methods", len(plan))
        for method, sweep in plan:
            rows.append(_measure(method, sweep, base, rounds, seconds, threads))
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


def _measure(method: Method, sweep: Sweep, base: Size, rounds: int, seconds: float, threads: int) -> dict[str, Any]:
    """One letter of one method."""
    values, clocks = [], {}
    for size in sweep.sizes(base):
        sample = random_graph(size.m, size.degree)
        values.append((sample.entries - sample.nodes) // 2 if sweep.field == "degree" else getattr(size, sweep.field))
        clocks[str(values[-1])] = partial(per_call, Step(method, size, sample), seconds, threads)
    taken = list(take_turns(clocks, rounds).values())
    exponent = fit_exponent(values, list(zip(*taken, strict=True)))
    return {
        "method": method.name,
        "letter": sweep.letter,
        "expected": sweep.expected,
        "regime": sweep.regime,
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


def exponent_of(row: dict[str, Any]) -> Exponent:
    """The exponent of a report's row."""
    low, high = row["exponent"]["ci95"]
    return Exponent(row["exponent"]["value"], (low, high))


def complexity_table(report: dict[str, Any]) -> Table:
    """A row for each method and letter."""
    rows = []
    for row in report["rows"]:
        first, last = row["points"][0], row["points"][-1]
        sizes, times = (
            f"{first['value']:,} – {last['value']:,}",
            f"{first['ms']['median']:.3g} – {last['ms']['median']:.3g}",
        )
        rows.append([row["method"], row["letter"], sizes, times, str(exponent_of(row)), row["expected"], row["regime"]])
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
    busy = report["other_processes"]
    if busy is not None and busy > TOLERATED:
        notes = (*notes, f"Other processes kept {busy} cores busy meanwhile; repeat this.")
    columns = ("method", "size", "from – to", "ms", "exponent", "expected", "where")
    return Table("Computational complexity, measured", columns, rows, notes)
