"""What goes into a run, and what comes out: settings of training, targets, and the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pcnet._checks import one_of
from pcnet.compare import METRICS, Metric
from pcnet.data import Split
from pcnet.errors import PcnetError, SettingError
from pcnet.nn import Model, ModelSettings
from pcnet.training._losses import Loss, make_loss

Optimizer = Literal["adam", "adamw", "sgd"]
Stopping = Literal["window", "patience", "none"]
ClassWeight = Literal["none", "balanced"]

#: Name under which one value serves every parameter group.
ALL = "all"


@dataclass(frozen=True)
class TrainingSettings:
    """Full-batch training of one run.

    `lr` and `wd` map parameter groups to learning rates and weight decays; the name "all" serves groups that are not
    listed. Stopping, with w = `patience`: "window" stops at an epoch e > w (counted from 0) whose validation loss is
    above the mean of the w losses before it; "patience" stops after w epochs in a row without a better one; "none"
    trains all `epochs`. The weights kept are those of the epoch with the strictly lowest validation loss, or with the
    highest validation score (the latest of equals): accuracy, or another metric that `select` names.

    `loss` is what training minimises, by its name in `LOSSES`; `loss_parameter` is that loss's one number where it has
    one (ε of "label_smoothed", γ of "focal"). `class_weight="balanced"` makes any loss count every class alike, however
    many nodes it has, as the loss "balanced" does with cross-entropy. The validation loss is always cross-entropy,
    balanced where `select` says so: runs with different losses can be compared by it.

    >>> TrainingSettings(loss="focal", loss_parameter=1.0, lr={"all": 0.01, "theta": 0.1}).objective
    Focal(gamma=1.0)
    """

    lr: Mapping[str, float] = field(default_factory=lambda: {ALL: 0.05})
    wd: Mapping[str, float] = field(default_factory=lambda: {ALL: 5e-4})
    optimizer: Optimizer = "adam"
    epochs: int = 1000
    stopping: Stopping = "patience"
    patience: int = 100
    select: str = "val_loss"
    class_weight: ClassWeight = "none"
    loss: str = "cross_entropy"
    loss_parameter: float | None = None

    def __post_init__(self) -> None:
        choices_of = {"optimizer": Optimizer, "stopping": Stopping, "class_weight": ClassWeight}
        for name, known in choices_of.items():
            one_of(name, getattr(self, name), get_args(known))
        one_of("select", self.select, selections())
        for name in ("epochs", "patience"):
            if getattr(self, name) < 1:
                raise PcnetError(f"{name} must be at least 1, not {getattr(self, name)}.")
        for name, rates in (("lr", self.lr), ("wd", self.wd)):
            for group, rate in rates.items():
                if not (math.isfinite(rate) and rate >= 0):
                    raise PcnetError(f"{name}.{group} = {rate} must be a finite number of at least 0.")
        # It refuses a name or a parameter that makes no sense.
        _ = self.objective

    @property
    def objective(self) -> Loss:
        """The loss that training minimises."""
        return make_loss(self.loss, self.loss_parameter)

    @property
    def selects_by_loss(self) -> bool:
        """Whether the best epoch is that of the lowest loss, not of the highest score."""
        return self.select.endswith("loss")

    @property
    def val_metric(self) -> Metric:
        """What is scored on validation nodes after every epoch: the metric that selects, or accuracy next to a loss."""
        if self.selects_by_loss:
            return METRICS["balanced_accuracy" if "balanced" in self.select else "accuracy"]
        return METRICS[self.select.removeprefix("val_")]

    def check_groups(self, groups: tuple[str, ...]) -> None:
        """Refuse rates for parameter groups that the model does not have, and groups without a rate."""
        for name, rates in (("lr", self.lr), ("wd", self.wd)):
            for group in rates:
                if group not in (*groups, ALL):
                    known = ", ".join(groups)
                    raise SettingError(f"There is no parameter group '{group}' for {name}; this model has {known}.")
            for group in groups:
                rate_of(rates, group)


def selections() -> list[str]:
    """What can choose the epoch: a loss, or any metric but the log loss, which is one."""
    return ["val_loss", "val_balanced_loss", *(f"val_{name}" for name in METRICS if name != "log_loss")]


def selection_by(metric: Metric) -> str:
    """How the epoch with the best value of a metric is selected.

    >>> from pcnet.compare import metric_named
    >>> selection_by(metric_named("macro_f1"))
    'val_macro_f1'
    """
    return "val_loss" if metric.name == "log_loss" else f"val_{metric.name}"


def rate_of(rates: Mapping[str, float], group: str) -> float:
    """The rate of a parameter group."""
    rate: Any = rates.get(group, rates.get(ALL))
    if rate is None:
        raise PcnetError(f"No rate is given for the parameters '{group}'; name it, or give one for '{ALL}'.")
    return float(rate)


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

    _make_model: Callable[[], Model]
    logits: Tensor
    best_epoch: int
    val_loss: NDArray[np.float64]
    #: Accuracy, or the metric that chose the epoch, as a share; with a minus where lower is better.
    val_score: NDArray[np.float64]
    #: That its training took, shared alike among the runs of a block.
    seconds: float = 0.0

    @cached_property
    def model(self) -> Model:
        """The run's own model; made when it is first asked for, since of most runs of a search nobody asks."""
        return self._make_model()

    @property
    def epochs(self) -> int:
        """Number of epochs trained, the ones after the best included."""
        return len(self.val_loss)

    @property
    def diverged(self) -> bool:
        """Whether no epoch had a finite validation loss."""
        return self.best_epoch < 0

    @property
    def lost(self) -> bool:
        """Whether every epoch was far worse than a guess, whose loss is log C for C classes."""
        finite = self.val_loss[np.isfinite(self.val_loss)]
        return len(finite) > 0 and float(finite.min()) > 1 + math.log(self.logits.shape[-1])
