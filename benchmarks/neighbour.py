"""What a busy neighbour costs: the same training alone, and next to a process on every core."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.timing import Spread, take_turns, torch_threads
from benchmarks.training import endless_runs, time_library
from pcnet import Graph
from pcnet.experiment import Experiment
from pcnet.training._block import HostBlock

#: Two processes in turn on every core: half the speed is fair, a third is what caches and switching may cost.
TARGET = 3.0


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        time.sleep(0.2)
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


def compare_neighbour(
    graph: Graph, experiment: Experiment, threads: int, rounds: int, seconds: float
) -> dict[str, Any]:
    """One worker a core, as `pcnet.train` has it, and one worker whose kernels use all cores (OpenMP)."""
    runs = endless_runs(graph, experiment)
    operator = experiment.model.operator(graph)
    block = HostBlock(graph.x, operator, runs, runs[0].targets.num_classes)

    def by_kernel_threads() -> float:
        with torch_threads(threads):
            block.advance()
            epochs, start = 0, time.perf_counter()
            while epochs < 1 or time.perf_counter() - start < seconds:
                block.advance()
                epochs += 1
            return 1e3 * (time.perf_counter() - start) / epochs / len(runs)

    def next_to_busy(measure: Callable[[], float]) -> float:
        with busy(threads):
            return measure()

    by_workers = partial(time_library, graph, runs, threads, seconds)
    ways = {"a worker on each core": by_workers, "threads inside kernels": by_kernel_threads}
    alone = {f"{name}, alone": way for name, way in ways.items()}
    next_to = {f"{name}, busy": partial(next_to_busy, way) for name, way in ways.items()}
    taken = take_turns(alone | next_to, rounds)
    rows = [
        {
            "way": name,
            "alone_ms": asdict(Spread.of(taken[f"{name}, alone"])),
            "busy_ms": asdict(Spread.of(taken[f"{name}, busy"])),
            "slowdown": asdict(Spread.of_ratio(taken[f"{name}, busy"], taken[f"{name}, alone"])),
        }
        for name in ways
    ]
    return {
        "dataset": graph.name,
        "busy_processes": threads,
        "rows": rows,
        "target": TARGET,
        "met": rows[0]["slowdown"]["median"] <= TARGET,
    }
