"""How close sparse products come to what the memory allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.effort import Effort
from benchmarks.filters import library
from benchmarks.graphs import Sample, random_graph
from benchmarks.memory import peak_bytes
from benchmarks.race import FILTER, MANY, affordable, left_out
from benchmarks.timing import Spread, elapsed, faster_threads, per_call, take_turns, torch_threads
from pcnet._progress import Progress
from pcnet.graph import CSR
from pcnet.polynomial import Powers
from pcnet.propagate import apply_polynomial, product

#: Orders at which the memory of a forward and a backward is compared.
ORDERS = (2, 5, 10, 20)
#: That comparison is one call; it may take so many times what a cell of a table may.
LONGEST = 3.0
#: Bytes of a block that is copied: far more than any cache holds.
BLOCK = 2**29
#: Copies in a row, so that waiting for a GPU to finish does not count, and how often they are tried in each round.
COPIES, ATTEMPTS = 4, 3
#: The counting, for those who read the results.
FORMULA = {
    "product": "entries · (row + index + value) + nodes · row + (nodes + 1) · index, row = columns · bytes of a number:"
    " every gathered row is read from memory once for each entry, every row of the result is written once",
    "sweep": "N products; with its gradient 2N",
    "bytes_with_sums": "N · (product + 3 · nodes · row) + 2 · nodes · row: each step also reads P_n x and reads and"
    " writes the sum; the sum begins as c_0 x",
    "copy": "bytes read and written by a copy of copy_block_bytes, over its time; the best of three in each round",
    "fraction": "bytes / time / copy bandwidth of the same round; above 1 where gathered rows are found in a cache",
    "fraction_of_best_copy": "bytes / median time / best copy bandwidth of the section",
}


def product_bytes(matrix: CSR, columns: int) -> int:
    """entries · (row + index + value) + rows · row + (rows + 1) · index: one product, no cache."""
    number, index = matrix.values.element_size(), matrix.col.element_size()
    row, (rows, _) = columns * number, matrix.shape
    return matrix.nnz * (row + index + number) + rows * row + (rows + 1) * index


def sweep_bytes(matrix: CSR, columns: int, order: int) -> int:
    """N · (product + 3 blocks) + 2 blocks: the products, and the sums that are made along with them."""
    block = matrix.shape[0] * columns * matrix.values.element_size()
    return order * (product_bytes(matrix, columns) + 3 * block) + 2 * block


def measure_bandwidth(effort: Effort, progress: Progress) -> dict[str, Any]:
    """Products, sweeps (Σ_n c_n P_n(S) x, forward) and sweeps with their gradient on larger and larger graphs."""
    rows: list[dict[str, Any]] = []
    memory: list[dict[str, Any]] = []
    copy, sizes = Copy(effort), affordable(effort)
    progress.stage("bandwidth", len(sizes))
    for nodes in sizes:
        timed, own = _one_graph(random_graph(nodes).to(effort.device), copy, effort)
        rows += timed
        memory += own
        progress.advance()
    best = max(copy.rates)
    for row in rows:
        row["fraction_of_best_copy"] = row["bytes"] / (1e-3 * row["ms"]["median"] * best)
    return {
        "copy_bytes_per_s": asdict(Spread.of(copy.rates)),
        "copy_block_bytes": BLOCK,
        "threads": effort.threads,
        "rounds": effort.rounds,
        "formula": FORMULA,
        "rows": rows,
        "memory": memory,
        "left_out": left_out(effort, sizes),
    }


class Copy:
    """A copy of a large block, which takes its turn among the products: the memory is not always equally fast."""

    def __init__(self, effort: Effort) -> None:
        self.device = effort.device
        self.source = torch.ones(BLOCK // 4, device=effort.device)
        self.target = torch.empty_like(self.source)
        self.threads, _ = faster_threads(self._copies, effort.threads, effort.device)
        #: Bytes per second read and written, round by round.
        self.rates: list[float] = []

    def _copies(self) -> None:
        for _ in range(COPIES):
            self.target.copy_(self.source)

    def __call__(self) -> float:
        """Bytes per second, at its best."""
        with torch_threads(self.threads):
            seconds = min(elapsed(self._copies, 1, self.device) for _ in range(ATTEMPTS))
        self.rates.append(2 * COPIES * self.source.nbytes / seconds)
        return self.rates[-1]


def _one_graph(sample: Sample, copy: Copy, effort: Effort) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Times of a product, of a sweep, which is what an evaluation does, and of a sweep and its gradient; and memory."""
    matrix = sample.operator.matrix
    x = torch.rand(sample.nodes, MANY, device=effort.device)
    leaf, gradient = x.clone().requires_grad_(), torch.rand_like(x)
    coefficients = torch.rand(FILTER.N + 1, device=effort.device)
    way = library(sample, FILTER, 1)
    products = {"product": 1, "sweep": FILTER.N, "sweep and gradient": 2 * FILTER.N}
    calls: dict[str, Callable[[], object]] = {
        "product": partial(product, matrix, x),
        "sweep": partial(apply_polynomial, sample.operator, x, coefficients, Powers(FILTER.p - 1)),
        "sweep and gradient": partial(way.step, leaf, gradient),
    }
    threads = {what: faster_threads(call, effort.threads, effort.device)[0] for what, call in calls.items()}
    clocks: dict[str, Callable[[], float]] = {
        what: partial(per_call, call, effort.seconds, threads[what], effort.device) for what, call in calls.items()
    }
    taken = take_turns({"copy": copy, **clocks}, effort.rounds, warm_up=0)
    rows: list[dict[str, Any]] = [
        {
            "what": what,
            "nodes": sample.nodes,
            "entries": sample.entries,
            "columns": MANY,
            "products": count,
            "bytes": count * product_bytes(matrix, MANY),
            "bytes_with_sums": sweep_bytes(matrix, MANY, FILTER.N) if what == "sweep" else None,
            "threads": threads[what],
            "ms": asdict(Spread.of(taken[what])),
        }
        for what, count in products.items()
    ]
    for row in rows:
        rounds = zip(taken[row["what"]], taken["copy"], strict=True)
        row["fraction"] = asdict(Spread.of([row["bytes"] / (1e-3 * ms * rate) for ms, rate in rounds]))
    step = 1e-3 * min(taken["sweep and gradient"])
    return rows, [_memory(sample, leaf, gradient, order, step * order / FILTER.N, effort) for order in ORDERS]


def _memory(sample: Sample, x: Tensor, gradient: Tensor, order: int, seconds: float, effort: Effort) -> dict[str, Any]:
    """The most that a forward and a backward of this order need at a time."""
    row: dict[str, Any] = {"nodes": sample.nodes, "columns": MANY, "N": order, "x_bytes": x.nbytes}
    if seconds > LONGEST * effort.patience:
        return row | {"skipped": f"it would take about {seconds:.0f} s"}
    way = library(sample, replace(FILTER, N=order), 1)
    with torch_threads(effort.threads):
        return row | {"peak_bytes": peak_bytes(partial(way.step, x, gradient), effort.device)}
