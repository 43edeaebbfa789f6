"""Labels of many runs laid end to end: their losses and scores in few operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.compare import Metric
from pcnet.training._run import Run

#: Nodes of each run, their labels, and whether classes count alike.
Scored = tuple[list[Tensor], list[Tensor], list[bool]]


def training_nodes(runs: Sequence[Run]) -> Scored:
    """What the training loss of each run is taken over."""
    targets = [run.targets for run in runs]
    balanced = [run.training.class_weight == "balanced" for run in runs]
    return [each.train for each in targets], [each.train_labels for each in targets], balanced


def validation_nodes(runs: Sequence[Run]) -> Scored:
    """What each run is evaluated on after an epoch."""
    targets = [run.targets for run in runs]
    balanced = ["balanced" in run.training.select for run in runs]
    return [each.val for each in targets], [each.val_labels for each in targets], balanced


#: More floats than a processor's vector holds, or as many.
LANES = 16


class StackedLabels:
    """Some nodes of each run and their labels, laid end to end: rows node·R + run of an (n, R, C) block of logits.

    Torch's exponential rounds differently in whole vectors and in what remains after the last of them. So each run is
    filled up to whole vectors, with its first node at weight 0: no run's length decides how another is rounded.
    """

    def __init__(self, nodes: Sequence[Tensor], labels: Sequence[Tensor], balanced: Sequence[bool]) -> None:
        runs = len(nodes)
        self.counts = np.array([len(ids) for ids in nodes])
        self.run = np.repeat(np.arange(runs), self.counts)
        shares = [node_shares(own, even) for own, even in zip(labels, balanced, strict=True)]
        self.share = np.concatenate(shares)
        weights = [np.append(share / len(share), np.zeros(-len(share) % LANES)) for share in shares]
        self.rows = torch.cat([_filled(ids) * runs + run for run, ids in enumerate(nodes)])
        self.labels = torch.cat([_filled(own) for own in labels])
        self.weight = torch.from_numpy(np.concatenate(weights)).float()
        self.real = np.flatnonzero(np.concatenate(weights))

    def mean_loss(self, logits: Tensor) -> Tensor:
        """Σ_runs of the mean loss: its gradient is each run's own."""
        return self._losses(self._pick(logits)) @ self.weight

    def scores(self, logits: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean loss and accuracy of each run, summed in node order so that neighbours do not change the rounding."""
        picked = self._pick(logits)
        losses = self._losses(picked).double().numpy()[self.real]
        correct = (picked.numpy().argmax(axis=1) == self.labels.numpy())[self.real]
        loss, accuracy = (np.bincount(self.run, weights=each * self.share) / self.counts for each in (losses, correct))
        return loss, accuracy

    def _pick(self, logits: Tensor) -> Tensor:
        return logits.permute(1, 0, 2).reshape(-1, logits.shape[2]).index_select(0, self.rows)

    def _losses(self, picked: Tensor) -> Tensor:
        """−log softmax at the label, one number for each row.

        Classes come first: torch's softmax over a short last axis is ten times slower than over a first one.
        """
        return -torch.log_softmax(picked.t().contiguous(), dim=0).gather(0, self.labels.unsqueeze(0))[0]


def node_shares(labels: Tensor, balanced: bool) -> NDArray[np.float64]:
    """What each node counts in a mean: 1, or n / (C·n_c) for a node of class c, so that every class counts alike."""
    own = labels.cpu().numpy()
    if not balanced:
        return np.ones(len(own))
    _, place, count = np.unique(own, return_inverse=True, return_counts=True)
    return (len(own) / (len(count) * count))[place]


def _filled(values: Tensor) -> Tensor:
    return torch.cat([values, values[:1].expand(-len(values) % LANES)])


#: What the block scores for all runs at once, in one pass over the logits.
IN_ONE_PASS = ("accuracy", "balanced_accuracy")


def other_metrics(runs: Sequence[Run]) -> dict[int, Metric]:
    """By place, the metrics of runs that are scored by more than accuracy after every epoch."""
    found = {place: run.training.val_metric for place, run in enumerate(runs)}
    return {place: metric for place, metric in found.items() if metric.name not in IN_ONE_PASS}


class ValidationScores:
    """Each run's loss and score on its validation nodes; what a run scores does not depend on its neighbours."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._stacked = StackedLabels(*validation_nodes(runs))
        self._targets = [run.targets for run in runs]
        self._metrics = other_metrics(runs)

    def of(self, logits: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of logits (R, n, C), the mean losses and the scores as shares."""
        loss, score = self._stacked.scores(logits)
        for place, metric in self._metrics.items():
            own = self._targets[place]
            score[place] = metric.share(logits[place, own.val], own.val_labels)
        return loss, score
