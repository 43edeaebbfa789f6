"""The mistakes that a model was surest of: often a wrong label, or a node unlike its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcnet.report._surroundings import Surroundings
from pcnet.report._tally import Tally

MOST = 12
#: Classes of neighbours that are named; the others are added up.
NAMED = 3


@dataclass(frozen=True)
class Mistake:
    """A node, its class, the wrong answer with its calibrated probability in percent, and who is around it."""

    node: str
    truth: str
    answer: str
    probability: float
    #: In how many of the runs that tested the node the answer was wrong.
    wrong: int
    times: int
    degree: int
    around: str


def confident_mistakes(
    results: Tally, around: Surroundings, labels: NDArray[np.int64], nodes: NDArray[np.generic], names: Sequence[str]
) -> list[Mistake]:
    """The nodes with the most probable wrong answers, each node once."""
    first = np.argsort(-results.wrong_probability, kind="stable")[:MOST]
    return [
        Mistake(
            node=str(nodes[node]),
            truth=names[labels[node]],
            answer=names[results.wrong_answer[node]],
            probability=100 * float(results.wrong_probability[node]),
            wrong=int(results.times[node] - results.right[node]),
            times=int(results.times[node]),
            degree=int(around.degree[node]),
            around=_in_words(around.by_class[node].toarray().ravel(), int(around.degree[node]), names),
        )
        for node in first.tolist()
        if results.wrong_probability[node] > 0
    ]


def _in_words(counts: NDArray[np.int64], degree: int, names: Sequence[str]) -> str:
    """3 × Agents, 1 × AI, 2 × other classes, 1 × unlabelled."""
    order = [kind for kind in np.argsort(-counts, kind="stable").tolist() if counts[kind] > 0]
    words = [f"{counts[kind]} × {names[kind]}" for kind in order[:NAMED]]
    others = sum(int(counts[kind]) for kind in order[NAMED:])
    unlabelled = degree - int(counts.sum())
    words += [f"{others} × other classes"] * (others > 0) + [f"{unlabelled} × unlabelled"] * (unlabelled > 0)
    return ", ".join(words) or "none"
