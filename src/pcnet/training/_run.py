"""What goes into a run, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
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
    #: Accuracy, or the metric that chose the epoch, as a share.
    val_score: NDArray[np.float64]

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
