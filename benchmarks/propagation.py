"""The filter alone: forward and backward over the logits of one run, and of ten side by side."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from pcnet import Graph, PCNetSettings
from pcnet.bench import Filter, Rounds, Sample, Spread, fastest, filters, per_call, take_turns

RUNS = (1, 10)
#: Times faster than the plain scheme with ten runs, which it propagates one after the other.
TARGETS = {"pubmed": 10.0}


def compare_propagation(
    graph: Graph, settings: PCNetSettings, threads: int, rounds: int, seconds: float
) -> dict[str, Any]:
    """Milliseconds per run, each way at its best number of threads."""
    best: dict[tuple[str, int], Rounds] = {}
    sample, rows = Sample.of(graph, settings.eta), []
    for runs in RUNS:
        ways = filters(sample, settings, runs)
        x = torch.rand(graph.num_nodes, runs * graph.num_classes).requires_grad_()
        for way, (number, taken) in zip(ways, _time(ways, x, threads, rounds, seconds), strict=True):
            best[way.name, runs] = [value / runs for value in taken]
            spread = asdict(Spread.of(best[way.name, runs]))
            rows.append({"way": way.name, "runs": runs, "threads": number, "ms_per_run": spread})
    for row in rows:
        row["ratio"] = asdict(Spread.of_ratio(best[row["way"], row["runs"]], best["pcnet", row["runs"]]))
    # Its own scheme knows one run at a time; that its kernels gain from width as well is seen in the rows.
    ratio, target = Spread.of_ratio(best["plain", 1], best["pcnet", 10]), TARGETS.get(graph.name)
    return {
        "dataset": graph.name,
        "N": settings.N,
        "rows": rows,
        "ratio": asdict(ratio),
        "target": target,
        "met": None if target is None else ratio.median >= target,
    }


def _time(ways: list[Filter], x: torch.Tensor, threads: int, rounds: int, seconds: float) -> list[tuple[int, Rounds]]:
    gradient = torch.rand_like(x)
    choices = sorted({1, threads})
    taken = take_turns(
        {
            f"{way.name} {number}": partial(per_call, partial(way.step, x, gradient), seconds, number)
            for number in choices
            for way in ways
        },
        rounds,
    )
    return [fastest({number: taken[f"{way.name} {number}"] for number in choices}) for way in ways]
