"""A block of runs trained side by side, on whatever device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.training._adam import AdamState
from pcnet.training._run import Outcome, Run
from pcnet.training._stopping import Progress


class Block(ABC):
    """R runs on one graph, as R·C columns of the same products and R matrices in the same loops.

    `advance` trains the runs that are still going. A run that has stopped leaves the block: what remains of it is its
    best weights. Nothing here depends on which runs share a block; each run's numbers are its own.
    """

    optimizer: AdamState

    def __init__(self, x: Tensor | CSR, operator: Operator, runs: Sequence[Run], num_classes: int) -> None:
        self.x, self.operator, self.runs = x, operator, list(runs)
        self.device = operator.matrix.device
        models = [run.model.build(x.shape[1], num_classes, run.seed) for run in runs]
        self.full = type(models[0]).stack(models).to(self.device)
        #: Weights of every run's best epoch so far; before the first, the initial ones.
        self.best = [parameter.detach().clone() for parameter in self.full.parameters()]
        self.progress = Progress([run.training for run in runs])
        self.next_epoch = 0
        self._enter(list(range(len(runs))))

    def _enter(self, members: list[int]) -> None:
        """Continue with these runs: model, optimiser and labels of just their size."""
        #: Runs that have a place in the model, and those among them that still train.
        self.members, self.going = members, list(members)
        self.model = self.full.select(members)
        self._prepare([self.runs[run] for run in members])

    @abstractmethod
    def _prepare(self, runs: list[Run]) -> None:
        """Make what training these runs needs besides the model; sets `optimizer`."""

    @abstractmethod
    def advance(self) -> None:
        """Train every run that is going, for an epoch or a few."""

    def _leave(self, stopped: Sequence[int]) -> None:
        """Shrink to the runs that remain."""
        remaining = [run for run in self.going if run not in stopped]
        if remaining:
            parameters, moments = self._living(remaining)
            self._enter(remaining)
            self._load(parameters, moments)
        self.going = remaining

    def _living(self, runs: list[int]) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Weights and moments of some members."""
        places = [self.members.index(run) for run in runs]
        return [p.detach()[places] for p in self.model.parameters()], self.optimizer.tensors(places)

    @torch.no_grad()
    def _load(self, parameters: Sequence[Tensor], moments: dict[str, Tensor]) -> None:
        for parameter, value in zip(self.model.parameters(), parameters, strict=True):
            parameter.copy_(value)
        self.optimizer.adopt(moments)

    @property
    def epochs_settled(self) -> int:
        """Epochs that are trained, or that a stopped run will not need."""
        going = set(self.going)
        done = self.progress.epochs
        return sum(int(done[i]) if i in going else run.training.epochs for i, run in enumerate(self.runs))

    @torch.no_grad()
    def outcomes(self) -> list[Outcome]:
        """Every run at its best epoch."""
        for parameter, best in zip(self.full.parameters(), self.best, strict=True):
            parameter.copy_(best)
        logits = self.full.eval()(self.x, self.operator).contiguous().cpu()
        models = self.full.cpu()
        progress = self.progress
        return [
            Outcome(
                models.one(run),
                logits[run],
                int(progress.best_epoch[run]),
                progress.loss[run, : progress.epochs[run]].copy(),
                progress.accuracy[run, : progress.epochs[run]].copy(),
            )
            for run in range(len(self.runs))
        ]

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the next epoch depends on, as tensors and numbers."""
        tensors = {f"best.{place}": tensor for place, tensor in enumerate(self.best)}
        progress = self.progress
        tensors |= {"loss": torch.from_numpy(progress.loss), "accuracy": torch.from_numpy(progress.accuracy)}
        tensors |= {"best_epoch": torch.from_numpy(progress.best_epoch), "epochs": torch.from_numpy(progress.epochs)}
        if self.going:
            parameters, moments = self._living(self.going)
            tensors |= {f"parameter.{place}": parameter for place, parameter in enumerate(parameters)}
            tensors |= {f"adam.{name}": tensor for name, tensor in moments.items()}
        return tensors, {"next_epoch": self.next_epoch, "going": self.going}

    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue exactly where `state` was taken."""
        self.best = [tensors[f"best.{place}"].to(self.device) for place in range(len(self.best))]
        progress = self.progress
        progress.loss, progress.accuracy = tensors["loss"].numpy(), tensors["accuracy"].numpy()
        progress.best_epoch, progress.epochs = tensors["best_epoch"].numpy(), tensors["epochs"].numpy()
        self.next_epoch = numbers["next_epoch"]
        if numbers["going"]:
            self._enter(list(numbers["going"]))
            moments = {name.removeprefix("adam."): t for name, t in tensors.items() if name.startswith("adam.")}
            self._load([tensors[f"parameter.{place}"] for place in range(len(self.best))], moments)
        self.going = list(numbers["going"])
