"""One filter four ways, by order N and by the number of runs that are filtered together."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from pcnet.bench._contest import Contest
from pcnet.bench._effort import Effort, Tell
from pcnet.bench._graphs import random_graph
from pcnet.nn import PCNetSettings

#: Columns of a run: about as many as a graph has classes.
COLUMNS = 8
#: The filter that is applied; N is varied.
FILTER = PCNetSettings(K=4, N=4, t=0.5, p=2.0, eta=0.5)


def measure_ways(effort: Effort, tell: Tell) -> dict[str, Any]:
    """Milliseconds per run of a forward and a backward, and the memory of both, on a graph of middle size."""
    sample = random_graph(effort.middle).to(effort.device)
    contest, cells = Contest(effort), list(itertools.product(effort.runs, effort.orders))
    rows = []
    for done, (runs, order) in enumerate(cells):
        tell(f"{runs} runs, N = {order}", done / len(cells))
        rows += contest.hold(sample, replace(FILTER, N=order), runs, COLUMNS)
    return {"K": FILTER.K, "threads": effort.threads, "rounds": effort.rounds, "rows": rows}
