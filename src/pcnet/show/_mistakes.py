"""The nodes that were predicted wrongly: often a wrong label, or a node unlike its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pcnet._files import write_csv
from pcnet.show._surroundings import Surroundings
from pcnet.show._tally import Tally

#: How many are on the page.
SHOWN = 200
#: Classes of neighbours that are named; the others are added up.
NAMED = 3
#: Columns of the file of all mistakes.
COLUMNS = ("node", "label", "predicted", "probability", "wrong_in", "tested_in", "neighbours", "neighbour_classes")


@dataclass(frozen=True)
class Mistake:
    """A node, its class, the wrong answer with its calibrated probability, and who is around it."""

    node: str
    truth: str
    answer: str
    probability: float
    #: In how many of the runs that tested the node the answer was wrong.
    wrong: int
    times: int
    degree: int
    around: str


def wrong_nodes(results: Tally, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every tested node whose answer is wrong, the most probable answers first."""
    wrong = np.flatnonzero((results.answer >= 0) & (results.answer != labels))
    return wrong[np.argsort(-results.probability[wrong], kind="stable")]


def mistakes(
    results: Tally, around: Surroundings, labels: NDArray[np.int64], nodes: NDArray[np.generic], names: Sequence[str]
) -> Iterator[Mistake]:
    """What there is to say about each of them, in this order."""
    order = wrong_nodes(results, labels)
    by_class = around.by_class[order]
    for place, node in enumerate(order.tolist()):
        part = slice(by_class.indptr[place], by_class.indptr[place + 1])
        degree = int(around.degree[node])
        yield Mistake(
            node=str(nodes[node]),
            truth=names[labels[node]],
            answer=names[results.answer[node]],
            probability=float(results.probability[node]),
            wrong=int(results.wrong[node]),
            times=int(results.tested[node]),
            degree=degree,
            around=_in_words(by_class.indices[part], by_class.data[part], degree, names),
        )


def write_mistakes(path: Path, found: Iterator[Mistake]) -> None:
    """All of them as a table, one row a node."""
    rows = ((m.node, m.truth, m.answer, f"{m.probability:.6f}", m.wrong, m.times, m.degree, m.around) for m in found)
    write_csv(path, COLUMNS, rows)


def _in_words(kinds: NDArray[np.int32], counts: NDArray[np.int64], degree: int, names: Sequence[str]) -> str:
    """3 × Agents, 1 × AI, 2 × other classes, 1 × unlabelled."""
    order = np.lexsort((kinds, -counts)).tolist()
    words = [f"{counts[place]} × {names[kinds[place]]}" for place in order[:NAMED]]
    others = sum(int(counts[place]) for place in order[NAMED:])
    unlabelled = degree - int(counts.sum())
    words += [f"{others} × other classes"] * (others > 0) + [f"{unlabelled} × unlabelled"] * (unlabelled > 0)
    return ", ".join(words) or "none"
