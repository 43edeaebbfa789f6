"""The same ways on larger and larger graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pcnet.bench._contest import Contest
from pcnet.bench._effort import Effort, Tell
from pcnet.bench._graphs import DEGREE, random_graph
from pcnet.bench._ways import FILTER

COLUMNS, ORDER = 64, 4
LONGER = 2


def measure_scale(effort: Effort, tell: Tell) -> dict[str, Any]:
    """Milliseconds of a forward and a backward over 64 columns with N = 4, and the memory of both."""
    # A few graphs only: each may take longer than one of many cells.
    contest, rows, sizes = Contest(effort, LONGER * effort.patience), [], affordable(effort)
    for done, nodes in enumerate(sizes):
        tell(f"{nodes:,} nodes", done / len(sizes))
        sample = random_graph(nodes).to(effort.device)
        rows += contest.hold(sample, replace(FILTER, N=ORDER), 1, COLUMNS)
    return {
        "K": FILTER.K,
        "threads": effort.threads,
        "rounds": effort.rounds,
        "rows": rows,
        "left_out": left_out(effort, sizes),
    }


def affordable(effort: Effort) -> list[int]:
    """Sizes whose graph can be made and whose x, gradient and sweeps fit into memory."""
    entry, node = 26 * (DEGREE + 1), 8 * 4 * COLUMNS
    return [size for size in effort.sizes if effort.fits(size * (entry + node))]


def left_out(effort: Effort, sizes: list[int]) -> list[dict[str, Any]]:
    """The other sizes, with the reason."""
    reason = "there is not enough memory for the graph and a few blocks of columns"
    return [{"nodes": size, "skipped": reason} for size in effort.sizes if size not in sizes]
