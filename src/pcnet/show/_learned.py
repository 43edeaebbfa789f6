"""The filters that the runs of a result learned."""

from __future__ import annotations

from pcnet.experiment import Result
from pcnet.graph import Graph
from pcnet.nn import Learned, filters_of, learned


def learned_filters(graph: Graph, result: Result) -> Learned | None:
    """Over the frequencies of the graph, or None where the method is no single filter."""
    convs = filters_of(outcome.model for outcome in result.outcomes)
    return learned(convs, result.experiment.model.operator(graph)) if convs else None
