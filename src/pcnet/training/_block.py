"""A block of runs trained side by side, on whatever device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.nn import Model
from pcnet.training._fresh import initial_weights, side_by_side, with_weights
from pcnet.training._optimizer import OptimizerState
from pcnet.training._run import Outcome, Run
from pcnet.training._stopping import Progress

#: Is told of every epoch: the run's number, its validation score, and the logits of all nodes.
Watch = Callable[[int, float, Tensor], None]


class Block(ABC):
    """R runs on one graph, as R·C columns of the same products and R matrices in the same loops.

    `advance` trains the runs that are still going. A run that has stopped leaves the block: what remains of it is its
    best weights. Nothing here depends on which runs share a block; each run's numbers are its own.
    """

    optimizer: OptimizerState
    watch: Watch | None = None

    def __init__(self, x: Tensor | CSR, operator: Operator, runs: Sequence[Run], num_classes: int) -> None:
        self.x, self.operator, self.runs = x, operator, list(runs)
        self.device, self.num_classes = operator.matrix.device, num_classes
        self._models = side_by_side(runs, x.shape[1], num_classes).to(self.device)
        #: Weights of every run's best epoch so far; before the first, the initial ones.
        self.best = initial_weights(self._models, runs, x.shape[1], num_classes)
        self.model = with_weights(self._models, [weight.clone() for weight in self.best])
        self.progress = Progress([run.training for run in runs])
        self.next_epoch = 0
        self._occupy(list(range(len(runs))))

    def _occupy(self, members: list[int]) -> None:
        """These runs have the places of the model, in this order."""
        #: Runs that have a place in the model, and those among them that still train.
        self.members, self.going = members, list(members)
        self.place = {run: place for place, run in enumerate(members)}
        self._prepare([self.runs[run] for run in members])

    @abstractmethod
    def _prepare(self, runs: list[Run]) -> None:
        """Make what training these runs needs besides the model; sets `optimizer`."""

    @abstractmethod
    def advance(self) -> None:
        """Train every run that is going, for an epoch or a few."""

    def _leave(self, stopped: Sequence[int]) -> None:
        """Shrink to the runs that remain."""
        gone = set(stopped)
        remaining = [run for run in self.going if run not in gone]
        if remaining:
            moments = self.optimizer.tensors([self.place[run] for run in remaining])
            self._select(remaining)
            self.optimizer.adopt(moments)
        self.going = remaining

    def _select(self, members: list[int]) -> None:
        """Continue with these runs: model, optimiser and labels of just their size."""
        # Not to be copied with the model: the next step makes its own.
        self.model.draws = None
        self.model = self.model.select([self.place[run] for run in members])
        self._occupy(members)

    @property
    def epochs_settled(self) -> int:
        """Epochs that are trained, or that a stopped run will not need."""
        going = set(self.going)
        done = self.progress.epochs
        return sum(int(done[i]) if i in going else run.training.epochs for i, run in enumerate(self.runs))

    @torch.no_grad()
    def outcomes(self) -> Iterator[Outcome]:
        """Every run at its best epoch, one after the other."""
        models = with_weights(self._models, self.best).eval()
        logits = models(self.x, self.operator).contiguous().cpu()
        progress = self.progress
        for run in range(len(self.runs)):
            done = progress.epochs[run]
            yield Outcome(
                partial(_single, self.runs[run], self.x.shape[1], self.num_classes, [b[run] for b in self.best]),
                logits[run],
                int(progress.best_epoch[run]),
                progress.loss[run, :done].copy(),
                progress.score[run, :done].copy(),
            )

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the next epoch depends on, as tensors and numbers."""
        tensors = {f"best.{place}": tensor for place, tensor in enumerate(self.best)}
        progress = self.progress
        tensors |= {"loss": torch.from_numpy(progress.loss), "score": torch.from_numpy(progress.score)}
        tensors |= {"best_epoch": torch.from_numpy(progress.best_epoch), "epochs": torch.from_numpy(progress.epochs)}
        if self.going:
            places = [self.place[run] for run in self.going]
            tensors |= {f"parameter.{i}": p.detach()[places] for i, p in enumerate(self.model.parameters())}
            tensors |= {f"optimizer.{name}": tensor for name, tensor in self.optimizer.tensors(places).items()}
        return tensors, {"next_epoch": self.next_epoch, "going": self.going}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue exactly where `state` was taken."""
        self.best = [tensors[f"best.{place}"].to(self.device) for place in range(len(self.best))]
        progress = self.progress
        progress.loss, progress.score = tensors["loss"].numpy(), tensors["score"].numpy()
        progress.best_epoch, progress.epochs = tensors["best_epoch"].numpy(), tensors["epochs"].numpy()
        self.next_epoch = numbers["next_epoch"]
        if numbers["going"]:
            self._select(list(numbers["going"]))
            for place, parameter in enumerate(self.model.parameters()):
                parameter.copy_(tensors[f"parameter.{place}"])
            head = "optimizer."
            self.optimizer.adopt({name[len(head) :]: t for name, t in tensors.items() if name.startswith(head)})
        self.going = list(numbers["going"])


@torch.no_grad()
def _single(run: Run, features: int, classes: int, weights: Sequence[Tensor]) -> Model:
    """A run's own model, on the CPU, with these weights; θ is filled up where neighbours have a longer one."""
    model = run.model.build(features, classes)
    for parameter, value in zip(model.parameters(), weights, strict=True):
        parameter.copy_(value[tuple(slice(size) for size in parameter.shape)])
    return model
