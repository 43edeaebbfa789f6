"""Milliseconds per run and epoch: a training step and an evaluation, Table 2's settings, ten runs."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from benchmarks.plain import PlainTraining
from benchmarks.timing import Spread, fastest, per_call, take_turns
from pcnet import Graph, Run, Targets, make_split, train
from pcnet.experiments import Experiment
from pcnet.training import available_threads

#: Times faster than the plain scheme that the library sets out to be.
TARGETS = {"cora": 40.0, "actor": 40.0, "texas": 15.0, "pubmed": 15.0}
WARM_UP = 3


class Enough(Exception):  # noqa: N818
    """Ends a training that is only timed."""


class Clock:
    """A reporter that times the epochs of each worker by itself and ends the training after some seconds.

    The rates of workers that run at the same time add up, so that nobody's unfinished epoch is counted.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        #: Time and number of epochs of every report, by worker.
        self.reports: dict[int, list[tuple[float, int]]] = defaultdict(list)

    def advance(self, epochs: int) -> None:
        mine = self.reports[threading.get_ident()]
        mine.append((time.perf_counter(), epochs))
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


def time_library(graph: Graph, runs: Sequence[Run], threads: int | None, seconds: float) -> float:
    """Steady epochs of `pcnet.train`, its setting up left out."""
    clock = Clock(seconds)
    with suppress(Enough):
        train(graph, runs, threads=threads, reporter=clock)
    return clock.milliseconds


def compare_training(
    graph: Graph, experiment: Experiment, threads: int | None, rounds: int, seconds: float
) -> dict[str, Any]:
    """The library beside the plain scheme with one thread and with a thread on each core.

    `threads=None` lets the library choose its number of workers and the plain scheme use every core.
    """
    runs = endless_runs(graph, experiment)
    split = make_split(graph, experiment.protocol, experiment.seeds[0])
    plain = PlainTraining(graph, split, experiment, experiment.seeds[0])
    choices = sorted({1, threads or available_threads()})
    measurements = {f"plain {number}": partial(per_call, plain.epoch, seconds, number) for number in choices} | {
        "pcnet": partial(time_library, graph, runs, threads, seconds)
    }
    taken = take_turns(measurements, rounds)
    plain_threads, slow = fastest({number: taken[f"plain {number}"] for number in choices})
    ratio, target = Spread.of_ratio(slow, taken["pcnet"]), TARGETS.get(experiment.dataset)
    return {
        "dataset": experiment.dataset,
        "runs": len(runs),
        "plain_ms": asdict(Spread.of(slow)),
        "plain_threads": plain_threads,
        "pcnet_ms": asdict(Spread.of(taken["pcnet"])),
        "pcnet_threads": threads,
        "ratio": asdict(ratio),
        "target": target,
        "met": None if target is None else ratio.median >= target,
    }
