"""Milliseconds per run and epoch, PCNet's and other methods', with the settings of the paper's Table 2."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch

from benchmarks.effort import Effort
from benchmarks.plain_training import plain_training
from benchmarks.timing import Spread, fastest, per_call, take_turns
from pcnet._progress import Progress
from pcnet.data import make_split
from pcnet.experiment import Experiment, resolve
from pcnet.graph import Graph
from pcnet.training import Run, Targets, available_threads, train

WARM_UP = 3
#: How many times slower than the library, by scheme.
RATIOS = {"plain": "ratio", "cached": "ratio_cached"}
#: Filters that the same line of scripts trains.
METHODS = ("gprgnn", "bernnet", "chebnetii", "jacobiconv")
#: What is compared, for those who read the results.
SCHEMES = {
    "plain": "a run at a time, dense features, messages gathered and scattered, the edges weighed in every forward;"
    " five forwards an epoch, one to train and four to evaluate; of jacobiconv two, or three where validation is no"
    " worse than before",
    "cached": "the same, but the edges are weighed once, as jacobiconv's authors do",
    "pcnet": "all runs side by side",
}


class Enough(Exception):  # noqa: N818
    """Ends a training that is only timed."""


class Clock:
    """Times the epochs of each worker by itself and ends the training after some seconds.

    The rates of workers that run at the same time add up, so that nobody's unfinished epoch is counted.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        #: Time and number of epochs of every report, by worker.
        self.reports: dict[int, list[tuple[float, int]]] = defaultdict(list)

    def stage(self, title: str, total: int) -> None: ...

    def advance(self, units: int = 1) -> None:
        mine = self.reports[threading.get_ident()]
        mine.append((time.perf_counter(), units))
        warm = all(len(worker) > WARM_UP + 1 for worker in self.reports.copy().values())
        if warm and mine[-1][0] - mine[WARM_UP][0] > self.seconds:
            raise Enough

    @property
    def milliseconds(self) -> float:
        """Per epoch of a single run, all workers together."""
        rate = 0.0
        for worker in self.reports.values():
            if len(worker) > WARM_UP + 1:
                (start, _), *reports = worker[WARM_UP:]
                rate += sum(epochs for _, epochs in reports) / (reports[-1][0] - start)
        return 1e3 / rate


def endless_runs(graph: Graph, experiment: Experiment, count: int | None = None) -> list[Run]:
    """The experiment's runs, or so many, without an end."""
    training = replace(experiment.training, stopping="none", epochs=20_000)
    experiment = experiment if count is None else experiment.with_runs(count, None)
    splits = [make_split(graph, experiment.protocol, seed) for seed in experiment.seeds]
    return [
        Run(experiment.model, training, Targets.from_split(split), seed)
        for split, seed in zip(splits, experiment.seeds, strict=True)
    ]


def time_library(
    graph: Graph, runs: Sequence[Run], threads: int | None, seconds: float, device: torch.device | str = "cpu"
) -> float:
    """Steady epochs of `pcnet.train`, its setting up left out. On a GPU it reports what the device has finished."""
    clock = Clock(seconds)
    with suppress(Enough):
        train(graph, runs, threads=threads, device=device, progress=clock)
    return clock.milliseconds


def compare_training(
    graph: Graph,
    experiment: Experiment,
    threads: int | None,
    rounds: int,
    seconds: float,
    *,
    counts: Sequence[int | None] = (None,),
    device: torch.device | str = "cpu",
    cached: bool = False,
) -> list[dict[str, Any]]:
    """The library with so many runs side by side, beside the plain scheme, which trains one at a time.

    None counts the experiment's own runs. The plain scheme has one thread or one on each core, whichever is faster;
    `threads=None` lets the library choose its number of workers and the plain scheme use every core. With `cached` a
    second plain scheme takes part, which weighs the edges once.
    """
    split, seed = make_split(graph, experiment.protocol, experiment.seeds[0]), experiment.seeds[0]
    schemes = {"plain": False} | ({"cached": True} if cached else {})
    plain = {
        name: plain_training(graph, split, experiment, seed, str(device), cached=once) for name, once in schemes.items()
    }
    cores = threads or available_threads()
    choices = sorted({1, cores}) if torch.device(device).type == "cpu" else [cores]
    batches = [endless_runs(graph, experiment, count) for count in counts]
    taken = take_turns(
        {
            f"{name} {number}": partial(per_call, training.epoch, seconds, number, device)
            for name, training in plain.items()
            for number in choices
        }
        | {f"pcnet {len(runs)}": partial(time_library, graph, runs, threads, seconds, device) for runs in batches},
        rounds,
    )
    slow = {name: fastest({number: taken[f"{name} {number}"] for number in choices}) for name in plain}
    rows = []
    for runs in batches:
        row: dict[str, Any] = {"dataset": experiment.dataset, "runs": len(runs)}
        ours = taken[f"pcnet {len(runs)}"]
        for name, (number, theirs) in slow.items():
            row |= {f"{name}_ms": asdict(Spread.of(theirs)), f"{name}_threads": number}
            row[RATIOS[name]] = asdict(Spread.of_ratio(theirs, ours))
        rows.append(row | {"pcnet_ms": asdict(Spread.of(ours)), "pcnet_threads": threads})
    return rows


def training_rounds(effort: Effort) -> int:
    """Every measurement sets up a training of its own: on a GPU that takes far longer than the epochs it times."""
    return effort.rounds if effort.device.type == "cpu" else min(3, effort.rounds)


def measure_training(effort: Effort, progress: Progress, graphs: Mapping[str, Graph]) -> dict[str, Any]:
    """Milliseconds per run and epoch of PCNet on named datasets of Table 2."""
    rows: list[dict[str, Any]] = []
    rounds = training_rounds(effort)
    progress.stage("training", len(graphs))
    for name, graph in graphs.items():
        experiment, clock = resolve(name, preset="table2"), (effort.cores, rounds, effort.seconds)
        rows += compare_training(graph, experiment, *clock, counts=effort.runs, device=effort.device)
        progress.advance()
    return {"rounds": rounds, "rows": rows}


def measure_methods(
    effort: Effort, progress: Progress, graphs: Mapping[str, Graph], left_out: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """The runs of Table 2 on named datasets, with each method's settings there, or its defaults where it has none.

    `left_out` are datasets that are missing, with the reasons.
    """
    cells = [(name, method) for name in graphs for method in METHODS]
    rounds, rows = training_rounds(effort), []
    progress.stage("methods", len(cells))
    for name, method in cells:
        experiment, clock = (
            resolve(name, method, preset="table2", fallback=True),
            (effort.cores, rounds, effort.seconds),
        )
        (row,) = compare_training(graphs[name], experiment, *clock, device=effort.device, cached=True)
        rows.append({"method": method, "settings": experiment.source or "defaults", **row})
        progress.advance()
    return {"rounds": rounds, "schemes": SCHEMES, "rows": rows, "left_out": [dict(each) for each in left_out]}
