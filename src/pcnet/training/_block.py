"""A block of runs trained side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.nn import Draws
from pcnet.training._adam import RunAdam
from pcnet.training._run import Outcome, Run, StackedLabels
from pcnet.training._stopping import Progress


class Block:
    """R runs on one graph, as R·C columns of the same products and R matrices in the same loops.

    `epoch` trains one epoch of the runs that are still going. A run that has stopped leaves the block: what remains of
    it is its best weights. Nothing here depends on which runs share a block; each run's numbers are its own.
    """

    def __init__(self, x: Tensor | CSR, operator: Operator, runs: Sequence[Run], num_classes: int) -> None:
        self.x, self.operator, self.runs = x, operator, list(runs)
        models = [run.model.build(x.shape[1], num_classes, run.seed) for run in runs]
        self.full = type(models[0]).stack(models).to(operator.matrix.device)
        #: Weights of every run's best epoch so far; before the first, the initial ones.
        self.best = [parameter.detach().clone() for parameter in self.full.parameters()]
        self.progress = Progress([run.training for run in runs])
        self.next_epoch = 0
        self._enter(list(range(len(runs))))

    def _enter(self, going: list[int]) -> None:
        """Continue with these runs: fresh model, optimiser and labels of just their size."""
        self.going = going
        self.model = self.full.select(going)
        training = [self.runs[run].training for run in going]
        targets = [self.runs[run].targets for run in going]
        device = self.operator.matrix.device
        self.optimizer = RunAdam(self.model.parameter_groups(), training)
        self.train_labels = StackedLabels([t.train for t in targets], [t.train_labels for t in targets], device)
        self.val_labels = StackedLabels([t.val for t in targets], [t.val_labels for t in targets], device)

    def epoch(self) -> list[int]:
        """One step and one evaluation; returns the runs that finished with it."""
        epoch = self.next_epoch
        self.model.train()
        self.model.draws = Draws([self.runs[run].seed for run in self.going], epoch)
        self.train_labels.mean_loss(self.model(self.x, self.operator)).backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            loss, accuracy = self.val_labels.scores(self.model(self.x, self.operator))
        improved, stopped = self.progress.record(self.going, epoch, loss, accuracy)
        self._remember(improved)
        self.next_epoch += 1
        if stopped:
            self._leave(stopped)
        return stopped

    @torch.no_grad()
    def _remember(self, improved: list[int]) -> None:
        places = [self.going.index(run) for run in improved]
        for best, parameter in zip(self.best, self.model.parameters(), strict=True):
            for run, place in zip(improved, places, strict=True):
                best[run].copy_(parameter[place])

    def _leave(self, stopped: list[int]) -> None:
        stay = [place for place, run in enumerate(self.going) if run not in stopped]
        parameters = [parameter.detach()[stay] for parameter in self.model.parameters()]
        moments = self.optimizer.tensors()
        going = [self.going[place] for place in stay]
        if not going:
            self.going = []
            return
        self._enter(going)
        self._load(parameters)
        self.optimizer.adopt(moments, stay)

    @torch.no_grad()
    def _load(self, parameters: Sequence[Tensor]) -> None:
        for parameter, value in zip(self.model.parameters(), parameters, strict=True):
            parameter.copy_(value)

    @torch.no_grad()
    def outcomes(self) -> list[Outcome]:
        """Every run at its best epoch."""
        for parameter, best in zip(self.full.parameters(), self.best, strict=True):
            parameter.copy_(best)
        logits = self.full.eval()(self.x, self.operator).contiguous()
        progress = self.progress
        return [
            Outcome(
                self.full.one(run),
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
        tensors |= {
            "best_epoch": torch.from_numpy(progress.best_epoch),
            "epochs": torch.from_numpy(progress.epochs),
        }
        if self.going:
            tensors |= {f"parameter.{place}": p.detach() for place, p in enumerate(self.model.parameters())}
            tensors |= {f"adam.{name}": tensor for name, tensor in self.optimizer.tensors().items()}
        return tensors, {"next_epoch": self.next_epoch, "going": self.going}

    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue exactly where `state` was taken."""
        going, next_epoch = numbers["going"], numbers["next_epoch"]
        self.best = [tensors[f"best.{place}"].to(best.device) for place, best in enumerate(self.best)]
        progress = self.progress
        progress.loss, progress.accuracy = tensors["loss"].numpy(), tensors["accuracy"].numpy()
        progress.best_epoch, progress.epochs = tensors["best_epoch"].numpy(), tensors["epochs"].numpy()
        self.next_epoch, self.going = next_epoch, going
        if going:
            self._enter(going)
            self._load([tensors[f"parameter.{place}"] for place in range(len(self.best))])
            self.optimizer.adopt(
                {name.removeprefix("adam."): t for name, t in tensors.items() if name.startswith("adam.")}
            )
