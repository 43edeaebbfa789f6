"""What the runs of an experiment said about the nodes that they tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pcnet.compare import Reliability, reliability
from pcnet.experiment import Estimate, Result


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by class, by node and by confidence.

    What is scored is counted: each tested node once where the runs are pooled to an estimate, once for each run that
    tested it where the score is the mean of the runs. Probabilities are about each tested node once, in both cases.
    """

    #: Rows are true classes, columns answers.
    confusion: NDArray[np.int64]
    #: For each node, how many answers are counted and how many of them were right.
    counted: NDArray[np.int64]
    right: NDArray[np.int64]
    #: For each node, how many runs tested it and how many of them were wrong.
    tested: NDArray[np.int64]
    wrong: NDArray[np.int64]
    #: For each node, the answer of the runs that tested it together and its probability; −1 and 0 where none did.
    answer: NDArray[np.int64]
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
    nodes = np.concatenate([split.test.numpy() for split in result.splits])
    logits = [outcome.logits.detach().cpu() for outcome in result.outcomes]
    answers = np.concatenate(
        [own[split.test].argmax(dim=1).numpy() for split, own in zip(result.splits, logits, strict=True)]
    )
    tested = np.bincount(nodes, minlength=size)
    wrong = np.bincount(nodes[answers != labels[nodes]], minlength=size)

    plain = torch.zeros(size, classes, dtype=torch.float64)
    for split, own in zip(result.splits, logits, strict=True):
        plain[split.test] += torch.softmax(own[split.test].double(), dim=1)
    answer, probability = np.full(size, -1), np.zeros(size)
    answer[pooled.nodes], probability[pooled.nodes] = (
        each.numpy() for each in reversed(pooled.probabilities.max(dim=1))
    )
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


@dataclass(frozen=True)
class ClassScore:
    """A class in percent: of the nodes called it, how many are (precision); of those that are, how many are found."""

    name: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int


def class_scores(confusion: NDArray[np.int64], names: Sequence[str]) -> list[ClassScore]:
    """TP/(TP+FP), TP/(TP+FN) and 2TP/(2TP+FP+FN) of each class; None where it is a share of nothing."""
    hits, called, there = confusion.diagonal(), confusion.sum(axis=0), confusion.sum(axis=1)
    return [
        ClassScore(name, _share(tp, answers), _share(tp, support), _share(2 * tp, answers + support), support)
        for name, tp, answers, support in zip(names, hits.tolist(), called.tolist(), there.tolist(), strict=True)
    ]


def frequent_confusions(confusion: NDArray[np.int64], most: int = 5) -> list[tuple[int, int, int]]:
    """(true class, answer, how often) of the most frequent mistakes."""
    mistakes = confusion - np.diag(confusion.diagonal())
    order = np.argsort(-mistakes, axis=None, kind="stable")[:most]
    places = (divmod(int(place), len(confusion)) for place in order)
    return [(true, answer, int(mistakes[true, answer])) for true, answer in places if mistakes[true, answer] > 0]


def _share(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
