"""Which methods to try first where none was trained, by what links say about classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch

from pcnet.graph import Graph
from pcnet.inspect._measures import Features, Homophily, Neighbours

#: Linked nodes are alike from this adjusted homophily on: Cora has 0.77, Amazon's ratings 0.14, chance 0.
ALIKE = 0.2
#: A neighbour's class is informative from this label informativeness on: Texas has 0.19, Actor 0.00.
INFORMATIVE = 0.05
#: What each method does.
WHAT: Mapping[str, str] = {
    "pcnet": "learns which frequencies of the graph to keep",
    "gcn": "averages over neighbours",
    "mlp": "ignores the links",
    "acmgcn": "lets each node keep, average or sharpen",
    "linkx": "learns from whom a node is linked to",
    "h2gcn": "keeps a node, its neighbours and theirs separate",
}

Pattern = Literal["alike", "patterned", "silent", "unknown"]


@dataclass(frozen=True)
class Suggestion:
    """A method to try, why, and the settings (`--set`) that suit the graph better than its defaults."""

    method: str
    why: str
    settings: tuple[str, ...] = ()


def pattern_of(homophily: Homophily) -> Pattern:
    """What a link says about the classes of its ends: they are alike, differ in a regular way, or nothing."""
    if homophily.adjusted is None or homophily.label_informativeness is None:
        return "unknown"
    if homophily.adjusted >= ALIKE:
        return "alike"
    return "patterned" if homophily.label_informativeness >= INFORMATIVE else "silent"


def suggestions(pattern: Pattern, features: Features, *, plain: bool = False) -> list[Suggestion]:
    """mlp, gcn and pcnet always, and where neighbours are not alike two methods made for that; mlp first if `plain`."""
    alike = pattern in ("alike", "unknown")
    chosen = ["pcnet", "gcn", "mlp"] if alike else ["pcnet", "acmgcn", "linkx", "mlp", "gcn"]
    if plain:
        chosen.sort(key=lambda method: method != "mlp")
    return [Suggestion(method, WHAT[method], tuned_for(method, features)) for method in chosen]


def tuned_for(method: str, features: Features) -> tuple[str, ...]:
    """Settings that suit a graph better than the defaults do, as far as its features say.

    PCNet's published model is linear before its filter: enough for many sparse columns, but not for few numbers.
    """
    return ("activation=relu",) if method == "pcnet" and features.dense else ()


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
