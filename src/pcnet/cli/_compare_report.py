"""A comparison as plain data, the content of `compare.json`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from pcnet.cli._contest import Contest
from pcnet.cli._versions import provenance

#: What to do next, and the command for it.
Step = tuple[str, str]


def results(contest: Contest, words: str, steps: Sequence[Step], device: str) -> dict[str, Any]:
    """All that `pcnet.show` needs to show it; `words` say what the metric is and why."""
    first, graph = contest.order[0].experiment, contest.graph
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "protocol": first.protocol,
        "metric": contest.metric.name,
        "metric_words": words,
        "runs": len(contest.splits),
        "seeds": list(first.seeds),
        "split_hashes": [split.hash for split in contest.splits],
        "split_sizes": [list(split.sizes) for split in contest.splits],
        "best": contest.order[0].method,
        "sentence": contest.sentence,
        "methods": _rows(contest),
        "left_out": [{"method": title, "reason": reason} for title, reason in contest.left_out.items()],
        "pairs": list(_pairs(contest)),
        "groups": [list(group) for group in contest.ranks.groups],
        "meaning": [*contest.meaning, *contest.meaning_of_ranks],
        "notes": contest.notes,
        "next": [{"what": what, "command": command} for what, command in steps],
        **provenance(device),
    }


def _rows(contest: Contest) -> list[dict[str, Any]]:
    return [
        {
            **standing.trained.as_dict(),
            "rank": standing.rank,
            "behind": None
            if standing.behind is None
            else {"value": standing.behind.value, "interval": standing.behind.interval and [*standing.behind.interval]},
            "p": standing.p,
            "p_holm": standing.corrected,
            "verdict": standing.verdict,
        }
        for standing in contest.standings
    ]


def _pairs(contest: Contest) -> list[dict[str, Any]]:
    """All against all, the one with the better score first: how much better it is, and Wilcoxon's p."""
    by_ranks = {frozenset((pair.first, pair.second)): pair for pair in contest.ranks.pairs}
    found = []
    for one, other in combinations(contest.order, 2):
        lead, ranks = contest.lead(one, other), by_ranks[frozenset((one.method, other.method))]
        found.append(
            {
                "first": one.method,
                "second": other.method,
                "difference": lead.value,
                "interval": lead.interval and [*lead.interval],
                "p": ranks.p,
                "p_holm": ranks.corrected,
            }
        )
    return found
