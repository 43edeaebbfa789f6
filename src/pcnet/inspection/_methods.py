"""Which methods to try first, from what links say about classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch

from pcnet.graph import Graph
from pcnet.inspection._classes import Homophily
from pcnet.inspection._features import Features
from pcnet.inspection._links import Neighbours

#: Linked nodes are alike from this adjusted homophily on: Cora has 0.77, Amazon's ratings 0.14, chance 0.
ALIKE = 0.2
#: A neighbour's class tells something from this label informativeness on: Texas has 0.19, Actor 0.00.
TELLING = 0.05

Pattern = Literal["alike", "patterned", "silent", "unknown"]


@dataclass(frozen=True)
class Suggestion:
    """A method to try, why, and the settings (`--set`) that suit the graph beside its defaults."""

    method: str
    why: str
    settings: tuple[str, ...] = ()


def pattern_of(homophily: Homophily) -> Pattern:
    """What a link says about the classes of its ends: they are alike, differ in a regular way, or nothing."""
    if homophily.adjusted is None or homophily.label_informativeness is None:
        return "unknown"
    if homophily.adjusted >= ALIKE:
        return "alike"
    return "patterned" if homophily.label_informativeness >= TELLING else "silent"


def suggestions(pattern: Pattern, features: Features, *, plain: bool = False) -> list[Suggestion]:
    """mlp, gcn and pcnet always, and where neighbours are not alike two methods made for that; mlp first if `plain`."""
    # The published model is linear before its filter, which is enough for many sparse columns and not for few numbers.
    relu = ("activation=relu",) if features.dense else ()
    pcnet = Suggestion("pcnet", "learns which frequencies of the graph to keep", relu)
    gcn = Suggestion("gcn", "averages over neighbours: good where they are alike")
    mlp = Suggestion("mlp", "ignores the links: to see what they are worth")
    other = [
        Suggestion("acmgcn", "lets each node keep, average or sharpen"),
        Suggestion("linkx", "learns from whom a node is linked to"),
    ]
    chosen = [pcnet, gcn, mlp] if pattern in ("alike", "unknown") else [pcnet, *other, mlp, gcn]
    return sorted(chosen, key=lambda each: each.method != "mlp") if plain else chosen


def suggested_methods(graph: Graph, known: torch.Tensor | None = None) -> list[Suggestion]:
    """Methods to try on a graph, best first, without any training.

    `known` are the nodes whose labels may be looked at, all labelled ones by default: leave out those you test on.
    """
    if known is not None:
        hidden = torch.full_like(graph.y, -1)
        hidden[known] = graph.y[known]
        graph = replace(graph, y=hidden, published_y=None)
    homophily = Homophily.of(graph, Neighbours.of(graph))
    return suggestions(pattern_of(homophily), Features.of(graph))
