"""One filter four ways: time and memory of a forward and a backward, by order, number of runs and size of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.effort import Effort
from benchmarks.filters import WAYS, Filter
from benchmarks.graphs import DEGREE, Sample, random_graph
from benchmarks.memory import peak_bytes, saved_bytes
from benchmarks.timing import Rounds, Spread, faster_threads, per_call, take_turns, torch_threads
from pcnet._progress import Progress
from pcnet.nn import PCNetSettings

OURS = "pcnet"
#: The filter that is applied; N is varied.
FILTER = PCNetSettings(K=4, N=4, t=0.5, p=2.0, eta=0.5)
#: Columns of a run where orders are compared, about as many as a graph has classes, and where sizes are.
FEW, MANY = 8, 64
#: Where sizes are compared there are a few graphs only: each may take longer than one of many cells.
LONGER = 2
#: A prediction may be wrong by so much: a way that might be this much better than predicted is tried.
DOUBT = 4.0


class TooMuch(Exception):  # noqa: N818
    """Why a way is left out."""


@dataclass(frozen=True)
class Need:
    """What a way needed for so much work (entries · columns · N): seconds of a call and bytes."""

    work: float
    seconds: float
    peak: float

    def scaled(self, work: float) -> Need:
        """The same way with other work: both grow with it, at most."""
        return Need(work, self.seconds * work / self.work, self.peak * work / self.work)


class Race:
    """Measures the ways on one graph after another, and remembers what each needed.

    From that it predicts what the next graph will need. A way that would not fit into memory, or would try the
    patience, is left out with the reason; this library is measured however long it takes.
    """

    def __init__(self, effort: Effort, patience: float | None = None) -> None:
        self.effort = effort
        self.patience = effort.patience if patience is None else patience
        self.needs: dict[str, Need] = {}
        #: Milliseconds per run of the last graph, round by round.
        self.taken: dict[str, Rounds] = {}

    def run(self, sample: Sample, settings: PCNetSettings, runs: int, columns: int) -> list[dict[str, Any]]:
        """A row for each way, on an X of `runs` times `columns` columns."""
        effort, width = self.effort, runs * columns
        if effort.device.type == "cuda":
            # What the last graph left in torch's hands may be in pieces too small for this one.
            torch.cuda.empty_cache()
        x = torch.rand(sample.nodes, width, device=effort.device, requires_grad=True)
        gradient = torch.rand_like(x)
        work = float(sample.entries * width * settings.N)
        cell = {"nodes": sample.nodes, "entries": sample.entries, "N": settings.N, "runs": runs, "columns": columns}
        rows: dict[str, dict[str, Any]] = {name: {"way": name, **cell, "x_bytes": x.nbytes} for name in WAYS}
        clocks: dict[str, Callable[[], float]] = {}
        for name, build in WAYS.items():
            try:
                self._predict(name, work)
                way = build(sample, settings, runs)
                step = partial(way.step, x, gradient)
                threads, seconds = faster_threads(step, effort.threads, effort.device)
                self._judge(name, seconds, DOUBT)
                rows[name] |= {"form": way.form, "threads": threads, **self._memory(way, x, step, threads)}
                self.needs[name] = Need(work, seconds, rows[name]["peak_bytes"])
                self._judge(name, seconds)
            except TooMuch as reason:
                rows[name]["skipped"] = str(reason)
            except (RuntimeError, MemoryError) as error:
                if name == OURS:
                    raise
                rows[name]["skipped"] = f"it failed: {(str(error) or 'out of memory').splitlines()[0][:200]}"
            else:
                clocks[name] = partial(per_call, step, effort.seconds, threads, effort.device)
        if OURS not in clocks:
            return list(rows.values())
        # Every way has been called several times by now: there is no round that does not count.
        taken = take_turns(clocks, effort.rounds, warm_up=0)
        self.taken = {name: [value / runs for value in rounds] for name, rounds in taken.items()}
        for name, rounds in self.taken.items():
            rows[name] |= {
                "ms_per_run": asdict(Spread.of(rounds)),
                "ratio": asdict(Spread.of_ratio(rounds, self.taken[OURS])),
            }
        return list(rows.values())

    @property
    def _longest(self) -> float:
        """Seconds that a call may take, when the rounds and the calls before them are to end in time."""
        return self.patience / (self.effort.rounds + 2.5)

    def _predict(self, name: str, work: float) -> None:
        """Refuse a way that certainly needs too much."""
        if name not in self.needs:
            return
        need = self.needs[name].scaled(work)
        if not self.effort.fits(need.peak):
            raise TooMuch(f"it would need about {need.peak / 2**30:.0f} GiB")
        if name != OURS and need.seconds > DOUBT * self._longest:
            raise TooMuch(f"a call would take about {need.seconds:.0f} s")

    def _judge(self, name: str, seconds: float, times: float = 1.0) -> None:
        """Refuse a way whose rounds would take too long, or so many times too long."""
        if name != OURS and seconds > times * self._longest:
            raise TooMuch(f"a call takes {seconds:.1f} s, and {self._longest:.1f} s is the limit")

    def _memory(self, way: Filter, x: Tensor, step: Callable[[], None], threads: int) -> dict[str, int]:
        with torch_threads(threads):
            kept = saved_bytes(way.apply, x, way.constants)
            return {"kept_bytes": kept, "peak_bytes": peak_bytes(step, self.effort.device)}


def measure_ways(effort: Effort, progress: Progress) -> dict[str, Any]:
    """Milliseconds per run of a forward and a backward, and the memory of both, on a graph of middle size."""
    sample = random_graph(effort.middle).to(effort.device)
    race, cells, rows = Race(effort), list(itertools.product(effort.runs, effort.orders)), []
    progress.stage("ways", len(cells))
    for runs, order in cells:
        rows += race.run(sample, replace(FILTER, N=order), runs, FEW)
        progress.advance()
    return {"K": FILTER.K, "threads": effort.threads, "rounds": effort.rounds, "rows": rows}


def measure_scale(effort: Effort, progress: Progress) -> dict[str, Any]:
    """Milliseconds of a forward and a backward over 64 columns with N = 4, and the memory of both, by size."""
    race, rows, sizes = Race(effort, LONGER * effort.patience), [], affordable(effort)
    progress.stage("scale", len(sizes))
    for nodes in sizes:
        rows += race.run(random_graph(nodes).to(effort.device), FILTER, 1, MANY)
        progress.advance()
    return {
        "K": FILTER.K,
        "threads": effort.threads,
        "rounds": effort.rounds,
        "rows": rows,
        "left_out": left_out(effort, sizes),
    }


def affordable(effort: Effort) -> list[int]:
    """Sizes whose graph can be made and whose x, gradient and sweeps fit into memory."""
    entry, node = 26 * (DEGREE + 1), 8 * 4 * MANY
    return [size for size in effort.sizes if effort.fits(size * (entry + node))]


def left_out(effort: Effort, sizes: list[int]) -> list[dict[str, Any]]:
    """The other sizes, with the reason."""
    reason = "there is not enough memory for the graph and a few blocks of columns"
    return [{"nodes": size, "skipped": reason} for size in effort.sizes if size not in sizes]
