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

    >>> from pcnet import csbm, make_split
    >>> targets = Targets.from_split(make_split(csbm(100, 0.5, seed=0), "random-60-20-20", 0))
    >>> len(targets.train), len(targets.val), targets.num_classes
    (60, 20, 2)
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
    """Settings, targets and a seed: everything that the outcome depends on besides the graph.

    A seed that is no integer from 0 to 2^63 − 1 is refused.

    >>> from pcnet import PCNetSettings, csbm, make_split
    >>> targets = Targets.from_split(make_split(csbm(100, 0.5, seed=0), "random-60-20-20", 0))
    >>> Run(PCNetSettings(hidden=8), TrainingSettings(epochs=200), targets, seed=3).seed
    3
    """

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
    """A trained run: its model and logits at the best epoch, and its validation history.

    >>> from pcnet import PCNetSettings, csbm, make_split, train
    >>> graph = csbm(100, 0.5, seed=0)
    >>> targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
    >>> [outcome] = train(graph, [Run(PCNetSettings(), TrainingSettings(epochs=5), targets, seed=0)])
    >>> outcome.epochs, len(outcome.val_score), outcome.diverged, tuple(outcome.logits.shape)
    (5, 5, False, (100, 2))
    """

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
