"""Labels of many runs laid end to end: their losses and scores in few operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.compare import Metric
from pcnet.training._losses import CrossEntropy, Loss, balanced_shares
from pcnet.training._run import Run

#: More floats than a processor's vector holds, or as many.
LANES = 16
#: What a block scores for all runs at once, in one pass over the logits.
IN_ONE_PASS = ("accuracy", "balanced_accuracy")
CROSS_ENTROPY = CrossEntropy()


class Scored(NamedTuple):
    """Some nodes of the run at a place, their labels, and what each of them counts in a mean."""

    place: int
    nodes: Tensor
    labels: Tensor
    shares: NDArray[np.float64]


def training_nodes(runs: Sequence[Run]) -> dict[Loss, list[Scored]]:
    """What each run is trained on, by the loss that it minimises there."""
    losses: dict[tuple[str, float | None], Loss] = {}
    found: dict[Loss, list[Scored]] = defaultdict(list)
    for place, run in enumerate(runs):
        own, labels = run.training, run.targets.train_labels
        loss = losses.setdefault((own.loss, own.loss_parameter), own.objective)
        count = balanced_shares if own.class_weight == "balanced" else loss.shares
        found[loss].append(Scored(place, run.targets.train, labels, count(labels.cpu().numpy())))
    return found


def validation_nodes(runs: Sequence[Run]) -> list[Scored]:
    """What each run is evaluated on after an epoch."""
    found = []
    for place, run in enumerate(runs):
        count = balanced_shares if "balanced" in run.training.select else CROSS_ENTROPY.shares
        labels = run.targets.val_labels
        found.append(Scored(place, run.targets.val, labels, count(labels.cpu().numpy())))
    return found


class StackedLabels:
    """Some nodes of each run and their labels, laid end to end: rows node·R + place of an (n, R, C) block of logits.

    Torch's exponential rounds differently in whole vectors and in what remains after the last of them. So each run is
    filled up to whole vectors, with its first node at weight 0: no run's length decides how another is rounded.
    """

    def __init__(
        self, scored: Sequence[Scored], runs: int, loss: Loss = CROSS_ENTROPY, device: torch.device | str = "cpu"
    ) -> None:
        self._loss = loss
        self.counts = np.array([len(own.nodes) for own in scored])
        self.run = np.repeat(np.arange(len(scored)), self.counts)
        self.share = np.concatenate([own.shares for own in scored])
        weights = np.concatenate([np.append(s / len(s), np.zeros(-len(s) % LANES)) for _, _, _, s in scored])
        self.real = np.flatnonzero(weights)
        self.rows = torch.cat([_filled(own.nodes) * runs + own.place for own in scored]).to(device)
        self.labels = torch.cat([_filled(own.labels) for own in scored]).to(device)
        self.weight = torch.from_numpy(weights).float().to(device)

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
        return self._loss.of(picked.t().contiguous(), self.labels)


def _filled(values: Tensor) -> Tensor:
    return torch.cat([values, values[:1].expand(-len(values) % LANES)])


class TrainingLoss:
    """Σ_runs of the mean training loss, whatever each run minimises: its gradient is each run's own."""

    def __init__(self, scored: dict[Loss, list[Scored]], runs: int, device: torch.device | str = "cpu") -> None:
        self._parts = [StackedLabels(own, runs, loss, device) for loss, own in scored.items()]

    def __call__(self, logits: Tensor) -> Tensor:
        return reduce(torch.add, [part.mean_loss(logits) for part in self._parts])


def other_metrics(runs: Sequence[Run]) -> dict[int, Metric]:
    """By place, the metrics of runs that are scored by more than accuracy after every epoch."""
    found = {place: run.training.val_metric for place, run in enumerate(runs)}
    return {place: metric for place, metric in found.items() if metric.name not in IN_ONE_PASS}


class ValidationScores:
    """Each run's loss and score on its validation nodes; what a run scores does not depend on its neighbours."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._stacked = StackedLabels(validation_nodes(runs), len(runs))
        self._others = [(place, metric, runs[place].targets) for place, metric in other_metrics(runs).items()]

    def of(self, logits: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of logits (R, n, C), the mean losses and the scores as shares, with a minus where lower is better."""
        loss, score = self._stacked.scores(logits)
        for place, metric, own in self._others:
            score[place] = metric.sign * metric.share(logits[place, own.val], own.val_labels)
        return loss, score
