"""What all runs of an experiment said about their own test nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pcnet.evaluation import Reliability, reliability, temperature
from pcnet.experiments import Result


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by class, by node and by confidence; a node that several runs test counts once for each of them."""

    #: Rows are true classes, columns answers.
    confusion: NDArray[np.int64]
    #: For each node, how many runs tested it and how many of them were right.
    times: NDArray[np.int64]
    right: NDArray[np.int64]
    #: For each node, the most confident wrong answer and its calibrated probability, 0 where there was none.
    wrong_answer: NDArray[np.int64]
    wrong_probability: NDArray[np.float64]
    #: Of each run, fitted on its validation nodes.
    temperatures: tuple[float, ...]
    as_trained: Reliability
    calibrated: Reliability


def tally(result: Result) -> Tally:
    """Count run by run: what is kept grows with the nodes, not with nodes times classes times runs."""
    nodes, classes = result.outcomes[0].logits.shape
    confusion = np.zeros((classes, classes), dtype=np.int64)
    times, right, wrong_answer = (np.zeros(nodes, dtype=np.int64) for _ in range(3))
    wrong_probability = np.zeros(nodes)
    temperatures, as_trained, calibrated = [], [], []
    for split, outcome in zip(result.splits, result.outcomes, strict=True):
        logits = outcome.logits.detach().cpu()
        temperatures.append(temperature(logits[split.val], split.labels[split.val]))
        picked, labels = logits[split.test].double(), split.labels[split.test]
        as_trained.append(reliability(torch.softmax(picked, dim=1), labels))
        probabilities = torch.softmax(picked / temperatures[-1], dim=1)
        calibrated.append(reliability(probabilities, labels))

        top, answer = (each.numpy() for each in probabilities.max(dim=1))
        test, truth = split.test.numpy(), labels.numpy()
        confusion += np.bincount(truth * classes + answer, minlength=classes**2).reshape(classes, classes)
        times[test] += 1
        right[test] += answer == truth
        worse = (answer != truth) & (top > wrong_probability[test])
        wrong_answer[test[worse]], wrong_probability[test[worse]] = answer[worse], top[worse]
    diagrams = pooled(as_trained), pooled(calibrated)
    return Tally(confusion, times, right, wrong_answer, wrong_probability, tuple(temperatures), *diagrams)


def pooled(diagrams: Sequence[Reliability]) -> Reliability:
    """The diagram of all predictions together: counts add up, means are weighted by them."""
    counts, confidence, accuracy = (
        np.array([getattr(each, name) for each in diagrams]) for name in ("count", "confidence", "accuracy")
    )
    total = counts.sum(axis=0)
    # An empty bin keeps its middle and 0, as in a single diagram.
    weights = np.where(total > 0, counts / np.maximum(total, 1), 1 / len(diagrams))
    means = ((weights * each).sum(axis=0) for each in (confidence, accuracy))
    return Reliability(tuple(total.tolist()), *(tuple(each.tolist()) for each in means))


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
