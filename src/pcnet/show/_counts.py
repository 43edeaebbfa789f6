"""What the runs of an experiment said about the nodes that they tested, by class, by node and by who is around it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

from pcnet._files import write_csv
from pcnet.compare import Reliability, percent_interval, reliability
from pcnet.experiment import Estimate, Result
from pcnet.graph import Graph, Homophily, Neighbours

Whole = NDArray[np.int64]
Interval = tuple[float, float]

#: Shares of like neighbours are sorted into as many equally wide bins.
SHARES = 5
#: Degrees 1, 2, 3–4, 5–8, … up to this power of two; the last bin takes all above.
DOUBLINGS = 7
#: Classes of neighbours that are named; the others are added up.
NAMED = 3
#: Columns of the file of all mistakes.
COLUMNS = ("node", "label", "predicted", "probability", "wrong_in", "tested_in", "neighbours", "neighbour_classes")


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by class, by node and by confidence.

    What is scored is counted: each tested node once where the runs are pooled to an estimate, once for each run that
    tested it where the score is the mean of the runs. Probabilities are about each tested node once, in both cases.
    """

    #: Rows are true classes, columns answers.
    confusion: Whole
    #: For each node, how many answers are counted and how many of them were right.
    counted: Whole
    right: Whole
    #: For each node, how many runs tested it and how many of them were wrong.
    tested: Whole
    wrong: Whole
    #: For each node, the answer of the runs that tested it together and its probability; −1 and 0 where none did.
    answer: Whole
    probability: NDArray[np.float64]
    #: Of each run, fitted on its validation nodes.
    temperatures: tuple[float, ...]
    #: Of the mean over the runs that tested a node, without and with these temperatures.
    as_trained: Reliability
    calibrated: Reliability


def tally(result: Result) -> Tally:
    """Count: what is kept grows with the nodes times the classes, not with the runs."""
    size, classes = result.outcomes[0].logits.shape
    labels, pooled = result.splits[0].labels.numpy(), result.pooled
    plain, called = torch.zeros(size, classes, dtype=torch.float64), []
    for split, outcome in zip(result.splits, result.outcomes, strict=True):
        own = outcome.logits.detach().cpu()[split.test]
        plain[split.test] += torch.softmax(own.double(), dim=1)
        called.append(own.argmax(dim=1).numpy())
    nodes, answers = np.concatenate([split.test.numpy() for split in result.splits]), np.concatenate(called)
    tested, wrong = (np.bincount(each, minlength=size) for each in (nodes, nodes[answers != labels[nodes]]))
    answer, probability, best = np.full(size, -1), np.zeros(size), pooled.probabilities.max(dim=1)
    answer[pooled.nodes], probability[pooled.nodes] = best.indices.numpy(), best.values.numpy()
    if isinstance(result.headline, Estimate):
        nodes = pooled.nodes.numpy()
        answers = answer[nodes]
    return Tally(
        np.bincount(labels[nodes] * classes + answers, minlength=classes**2).reshape(classes, classes),
        np.bincount(nodes, minlength=size),
        np.bincount(nodes[answers == labels[nodes]], minlength=size),
        tested,
        wrong,
        answer,
        probability,
        pooled.temperatures,
        reliability(plain[pooled.nodes] / torch.from_numpy(tested)[pooled.nodes, None], pooled.labels),
        reliability(pooled.probabilities, pooled.labels),
    )


class ClassScore(NamedTuple):
    """A class in percent: of the nodes called it, how many are (precision); of those that are, how many are found."""

    name: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int


def class_scores(confusion: Whole, names: Sequence[str]) -> list[ClassScore]:
    """TP/(TP+FP), TP/(TP+FN) and 2TP/(2TP+FP+FN) of each class; None where it is a share of nothing."""
    hits, called, there = confusion.diagonal(), confusion.sum(axis=0), confusion.sum(axis=1)
    return [
        ClassScore(name, _share(tp, answers), _share(tp, support), _share(2 * tp, answers + support), support)
        for name, tp, answers, support in zip(names, hits.tolist(), called.tolist(), there.tolist(), strict=True)
    ]


def frequent_confusions(confusion: Whole, most: int = 5) -> list[tuple[int, int, int]]:
    """(true class, answer, how often) of the most frequent mistakes."""
    true, answer = confusion.nonzero()
    true, answer = true[true != answer], answer[true != answer]
    order = np.argsort(-confusion[true, answer], kind="stable")[:most]
    return [(int(true[each]), int(answer[each]), int(confusion[true[each], answer[each]])) for each in order]


def _share(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Each node's neighbours, either direction of an edge, each once and never the node itself, by class."""

    #: Number of such edges, and how much they agree with the classes.
    edges: int
    homophily: Homophily
    #: (n, C), sparse: how many neighbours of each class a node has; unlabelled ones are in `degree` alone.
    by_class: scipy.sparse.csr_matrix
    degree: Whole
    #: (C, C): of edge ends of class k, how many have an end of class l on the other side.
    mixing: Whole
    #: The share of a node's labelled neighbours that are of its class; NaN without such neighbours or a label.
    likeness: NDArray[np.float64]

    @staticmethod
    def of(graph: Graph) -> Surroundings:
        """With A the adjacency and Y the labels as indicators: A·Y, A·1 and Yᵀ·A·Y."""
        neighbours, y = Neighbours.of(graph), graph.y.cpu().numpy()
        known = np.flatnonzero(y >= 0)
        indicator = scipy.sparse.csr_matrix(
            (np.ones(len(known), dtype=np.int32), (known, y[known])), shape=(graph.num_nodes, graph.num_classes)
        )
        by_class = (neighbours.matrix.astype(np.int32) @ indicator).tocsr()
        labelled, like = (np.asarray(each.sum(axis=1)).ravel() for each in (by_class, by_class.multiply(indicator)))
        defined = (labelled > 0) & (y >= 0)
        return Surroundings(
            neighbours.links.edges,
            Homophily.of(graph, neighbours),
            by_class,
            np.diff(neighbours.matrix.indptr).astype(np.int64),
            (indicator.T @ by_class).toarray().astype(np.int64),
            np.where(defined, like / np.maximum(labelled, 1), np.nan),
        )


class Bin(NamedTuple):
    """Nodes that are alike in some way, how often they were right, in percent, and its 95 % interval."""

    label: str
    nodes: int
    accuracy: float
    interval: Interval


def by_likeness(results: Tally, around: Surroundings) -> list[Bin]:
    """Accuracy by the share of neighbours of a node's own class; only nodes with labelled neighbours."""
    edges = np.linspace(0, 100, SHARES + 1).astype(int)
    labels = [f"{low}–{high} %" for low, high in itertools.pairwise(edges)]
    # Rounded first: three neighbours of five are 60 %, whatever the floats say.
    place = np.floor(np.round(around.likeness * SHARES, 9))
    return _bins(results, np.minimum(place, SHARES - 1), labels)


def by_degree(results: Tally, around: Surroundings) -> list[Bin]:
    """Accuracy by the number of neighbours: none, 1, 2, 3–4, 5–8, …"""
    ends = [2**k for k in range(DOUBLINGS)]
    labels = ["0", "1", "2", *(f"{low + 1}–{high}" for low, high in itertools.pairwise(ends[1:])), f"> {ends[-1]}"]
    return _bins(results, np.searchsorted([0, *ends], around.degree), labels)


def _bins(results: Tally, place: NDArray[Any], labels: Sequence[str]) -> list[Bin]:
    """The tested nodes of each place that has any; NaN is no place.

    A node that several runs test is one observation, its mean: runs agree about a node far more than nodes do.
    """
    bins = []
    for number, label in enumerate(labels):
        members = (place == number) & (results.counted > 0)
        if members.any():
            count = int(members.sum())
            share = float(results.right[members].sum() / results.counted[members].sum())
            bins.append(Bin(label, count, 100 * share, percent_interval(share, count)))
    return bins


class Mistake(NamedTuple):
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


def wrong_nodes(results: Tally, labels: Whole) -> Whole:
    """Every tested node whose answer is wrong, the most probable answers first."""
    wrong = np.flatnonzero((results.answer >= 0) & (results.answer != labels))
    return wrong[np.argsort(-results.probability[wrong], kind="stable")]


def mistakes(
    results: Tally, around: Surroundings, labels: Whole, nodes: NDArray[np.generic], names: Sequence[str]
) -> Iterator[Mistake]:
    """What there is to say about each of them, in this order."""
    order = wrong_nodes(results, labels)
    by_class = around.by_class[order]
    for place, node in enumerate(order.tolist()):
        part = slice(by_class.indptr[place], by_class.indptr[place + 1])
        degree = int(around.degree[node])
        yield Mistake(
            str(nodes[node]),
            names[labels[node]],
            names[results.answer[node]],
            float(results.probability[node]),
            int(results.wrong[node]),
            int(results.tested[node]),
            degree,
            _in_words(by_class.indices[part], by_class.data[part], degree, names),
        )


def write_mistakes(path: Path, found: Iterator[Mistake]) -> None:
    """All of them as a table, one row a node."""
    write_csv(path, COLUMNS, ((*m[:3], f"{m.probability:.6f}", *m[4:]) for m in found))


def _in_words(kinds: NDArray[np.int32], counts: Whole, degree: int, names: Sequence[str]) -> str:
    """3 × Agents, 1 × AI, 2 × other classes, 1 × unlabelled."""
    order = np.lexsort((kinds, -counts)).tolist()
    words = [f"{counts[place]} × {names[kinds[place]]}" for place in order[:NAMED]]
    others = sum(int(counts[place]) for place in order[NAMED:])
    unlabelled = degree - int(counts.sum())
    words += [f"{others} × other classes"] * (others > 0) + [f"{unlabelled} × unlabelled"] * (unlabelled > 0)
    return ", ".join(words) or "none"
