"""What goes into a run, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.nn import Model, ModelSettings
from pcnet.training._settings import TrainingSettings


@dataclass(frozen=True, eq=False)
class Targets:
    """The labels that training may know: those of the training and the validation nodes.

    The labels of test nodes are not in here, and nothing in this room takes a `Split`'s labels from anywhere else.
    How many classes there are is a fact about the task: published splits have classes without a training node.
    """

    train: Tensor
    train_labels: Tensor
    val: Tensor
    val_labels: Tensor
    num_classes: int

    @staticmethod
    def from_split(split: Split) -> Targets:
        train, val = split.train, split.val
        return Targets(train, split.labels[train], val, split.labels[val], int(split.labels.max()) + 1)


@dataclass(frozen=True, eq=False)
class Run:
    """Settings, targets and a seed: everything that the outcome depends on besides the graph."""

    model: ModelSettings
    training: TrainingSettings
    targets: Targets
    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.seed, Integral) or not 0 <= self.seed < 2**63:
            raise PcnetError(f"The seed of a run must be an integer from 0 to 2^63 - 1, not {self.seed}.")
        object.__setattr__(self, "seed", int(self.seed))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A trained run: its model and logits at the best epoch, and its validation history."""

    #: The model, or how to take it out of the block that it was trained in.
    _model: Model | Callable[[], Model]
    logits: Tensor
    best_epoch: int
    val_loss: NDArray[np.float64]
    val_accuracy: NDArray[np.float64]

    @property
    def model(self) -> Model:
        """The run's own model; made when it is first asked for, since of most runs of a search nobody asks."""
        model = self._model
        if not isinstance(model, Model):
            model = model()
            object.__setattr__(self, "_model", model)
        return model

    def whole(self) -> Outcome:
        """The outcome with its model made: it needs nothing of the block any more."""
        return replace(self, _model=self.model)

    @property
    def epochs(self) -> int:
        """Number of epochs trained, the ones after the best included."""
        return len(self.val_loss)

    @property
    def diverged(self) -> bool:
        """Whether no epoch had a finite validation loss."""
        return self.best_epoch < 0


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
