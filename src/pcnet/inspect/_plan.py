"""Which of the candidates a probe trains, and on how many splits: as much as a minute or two allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pcnet.graph import Graph
from pcnet.inspect._candidates import Candidate, candidates, sample_candidates
from pcnet.inspect._features import Features
from pcnet.inspect._links import Neighbours

#: Splits on which everything is tried; what is clearly worse than another of its way gets no more of them.
FIRST = 2
#: Splits in all, where nobody says how many and time allows.
USUAL = 5
#: Seconds of one core that the first splits may take, and all of them.
FIRST_BUDGET, BUDGET = 200.0, 120.0


@dataclass(frozen=True, eq=False)
class Plan:
    """What is trained, on how many splits at most, what is not and why, and a sentence on what was cut short."""

    candidates: list[Candidate]
    splits: int
    left_out: Mapping[str, str]
    note: str = ""
    #: Whether the number of splits was asked for: then there are no fewer, whatever time they take.
    asked: bool = False

    def further(self, kept: Sequence[Candidate]) -> int:
        """How many splits follow the first ones for those that were not given up."""
        rest = max(0, self.splits - FIRST)
        left = BUDGET - FIRST * _seconds(self.candidates)
        return rest if self.asked else min(rest, max(0, int(left / _seconds(kept))))


def planned(
    graph: Graph, neighbours: Neighbours, features: Features, splits: int | None, seed: int, metric: str | None
) -> Plan:
    """The basic methods, and of the others the cheapest while the first splits of all of them fit into the time.

    Where not even the basic ones do, nodes are sampled (see `sampled`).
    """
    everything = candidates(graph, neighbours, features, metric)
    chosen = [each for each in everything if each.basic]
    # Methods that may be advised come before those that only show what links are worth.
    others = sorted((each for each in everything if not each.basic), key=lambda each: (not each.method, each.seconds))
    count, asked = splits or USUAL, splits is not None
    if FIRST * _seconds(chosen) > FIRST_BUDGET:
        note, chosen = sample_candidates(graph, neighbours, features, seed, metric)
        too_large = {each.method: "The graph is too large." for each in others if each.method}
        return Plan(chosen, count, too_large, note, asked)
    left_out = {}
    for each in others:
        if FIRST * _seconds([*chosen, each]) <= FIRST_BUDGET:
            chosen.append(each)
        elif each.method:
            left_out[each.method] = f"It would take about {_long(each.seconds)} of one core for every split."
    return Plan(chosen, count, left_out, asked=asked)


def _seconds(some: Sequence[Candidate]) -> float:
    """Of one run of each, on one core."""
    return sum(each.seconds for each in some)


def _long(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 90 else f"{round(minutes / 60)} h"
