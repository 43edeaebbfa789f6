"""Milliseconds per run and epoch of other methods, which the same trainer trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pcnet.bench._effort import Effort, Tell
from pcnet.bench._training import compare_training, training_rounds
from pcnet.experiment import resolve
from pcnet.graph import Graph

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


def measure_methods(
    effort: Effort, tell: Tell, graphs: Mapping[str, Graph], left_out: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """The runs of Table 2 on named datasets, with each method's settings there, or its defaults where it has none.

    `left_out` are datasets that are missing, with the reasons.
    """
    cells = [(name, method) for name in graphs for method in METHODS]
    rounds, rows = training_rounds(effort), []
    for done, (name, method) in enumerate(cells):
        tell(f"{method} on {name}", done / len(cells))
        experiment, clock = (
            resolve(name, method, preset="table2", fallback=True),
            (effort.cores, rounds, effort.seconds),
        )
        (row,) = compare_training(graphs[name], experiment, *clock, device=effort.device, cached=True)
        rows.append({"method": method, "settings": experiment.source or "defaults", **row})
    return {"rounds": rounds, "schemes": SCHEMES, "rows": rows, "left_out": [dict(each) for each in left_out]}
