"""What training minimises: Σ_i w_i ℓ(z_i, y_i) over a run's training nodes, with ℓ and w from one object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet._checks import Registry
from pcnet.errors import PcnetError


class Loss(ABC):
    """The loss ℓ(z, y) of a node with logits z and label y, and what each node counts in the mean.

    To add one, write a subclass and register it; the trainer differentiates it, on the CPU and on a GPU. A subclass
    with a parameter is a frozen dataclass of one field with a default, which `TrainingSettings.loss_parameter` sets.

    >>> class Margin(Loss):
    ...     def of(self, logits, labels):
    ...         at_label = logits.gather(0, labels[None])[0]
    ...         return (1.0 + logits - at_label).relu().sum(0) - 1.0
    >>> LOSSES.add("margin", Margin)  # doctest: +SKIP
    >>> Margin().of(torch.tensor([[3.0, 0.0], [0.0, 0.5]]), torch.tensor([0, 1]))
    tensor([0.0000, 0.5000])
    """

    @abstractmethod
    def of(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The losses (n,) of nodes with logits (C, n) and labels (n,), each of its own column alone.

        Classes come first: torch's softmax over a short last axis is ten times slower than over a first one. Only
        torch's own operations, and none that waits for the device: on a GPU they are recorded once and replayed.
        """

    def shares(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each training node counts in the mean, on average 1."""
        return np.ones(len(labels))


class CrossEntropy(Loss):
    """ℓ = −log p_y, with p = softmax(z)."""

    def of(self, logits: Tensor, labels: Tensor) -> Tensor:
        return -torch.log_softmax(logits, dim=0).gather(0, labels.unsqueeze(0))[0]


class ClassBalanced(CrossEntropy):
    """Cross-entropy in which every class counts alike, however many nodes it has."""

    def shares(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """n / (C·n_c) for a node of class c."""
        return balanced_shares(labels)


@dataclass(frozen=True)
class LabelSmoothed(Loss):
    """ℓ = −(1−ε) log p_y − ε/C Σ_c log p_c: cross-entropy with labels that are ε uniform (Szegedy et al., 2016)."""

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise PcnetError(f"ε of the label-smoothed loss must be from 0 to 1, not {self.epsilon}.")

    def of(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_p = torch.log_softmax(logits, dim=0)
        at_label = log_p.gather(0, labels.unsqueeze(0))[0]
        return -(1 - self.epsilon) * at_label - self.epsilon * log_p.mean(dim=0)


@dataclass(frozen=True)
class Focal(Loss):
    """ℓ = −(1−p_y)^γ log p_y: nodes that are already classified well count less (Lin et al., 2017)."""

    gamma: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < float("inf"):
            raise PcnetError(f"γ of the focal loss must be a finite number of at least 0, not {self.gamma}.")

    def of(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_p = torch.log_softmax(logits, dim=0).gather(0, labels.unsqueeze(0))[0]
        # For γ < 1 the power has no derivative at p = 1, where the loss is flat.
        rest = (-torch.expm1(log_p)).clamp(min=torch.finfo(log_p.dtype).tiny)
        return -rest.pow(self.gamma) * log_p


#: Losses by the name that `TrainingSettings.loss` gives.
LOSSES: Registry[Callable[..., Loss]] = Registry("loss")
LOSSES.add("cross_entropy", CrossEntropy)
LOSSES.add("balanced", ClassBalanced)
LOSSES.add("label_smoothed", LabelSmoothed)
LOSSES.add("focal", Focal)


def make_loss(name: str, parameter: float | None = None) -> Loss:
    """The loss of this name, with its one parameter or the default of it."""
    kind = LOSSES.named(name)
    if parameter is None:
        return kind()
    if not is_dataclass(kind):
        raise PcnetError(f"The loss {name} has no parameter; leave out loss_parameter.")
    return kind(parameter)


def balanced_shares(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """n / (C·n_c) for a node of class c, C being the number of classes there are: every class counts alike."""
    _, place, count = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(len(labels) / (len(count) * count))[place]
