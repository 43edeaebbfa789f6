"""A block of runs trained side by side: what every device shares, when a run stops, and the block on the CPU."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.nn import Draws, Model
from pcnet.training._labels import TrainingLoss, ValidationScores, training_nodes
from pcnet.training._optimizer import OptimizerState, RunOptimizer
from pcnet.training._run import Outcome, Run, TrainingSettings

#: Takes every epoch of every run: the run's number, its validation score, and the logits of all nodes.
OnEpoch = Callable[[int, float, Tensor], None]
#: Epochs that no run trains: the patience of those that stop by another rule.
NEVER = 2**31


class Block(ABC):
    """R runs on one graph, as R·C columns of the same products and R matrices in the same loops.

    `advance` trains the runs that have not stopped; the block shrinks to them, and what remains of the others is their
    best weights. Nothing here depends on which runs share a block; each run's numbers are its own.
    """

    optimizer: OptimizerState
    on_epoch: OnEpoch | None = None

    def __init__(self, x: Tensor | CSR, operator: Operator, runs: Sequence[Run], num_classes: int) -> None:
        self.x, self.operator, self.runs = x, operator, list(runs)
        self.device, self.num_classes = operator.matrix.device, num_classes
        self._models = side_by_side(runs, x.shape[1], num_classes).to(self.device)
        #: Weights of every run's best epoch so far; before the first, the initial ones.
        self.best = initial_weights(self._models, runs, x.shape[1], num_classes)
        self.model = with_weights(self._models, [weight.clone() for weight in self.best])
        self.history = History([run.training for run in runs])
        self.next_epoch = 0
        self._occupy(list(range(len(runs))))

    def _occupy(self, members: list[int]) -> None:
        #: Runs that have a place in the model, in this order, and those among them that still train.
        self.members, self.active = members, list(members)
        self.place = {run: place for place, run in enumerate(members)}
        self._prepare([self.runs[run] for run in members])

    @abstractmethod
    def _prepare(self, runs: list[Run]) -> None:
        """Make what training these runs needs besides the model; sets `optimizer`."""

    @abstractmethod
    def advance(self) -> None:
        """Train every active run, for an epoch or a few."""

    def _shrink(self) -> None:
        """Continue with the active runs alone, wherever the others stand."""
        if self.active:
            moments = self.optimizer.tensors([self.place[run] for run in self.active])
            self._select(self.active)
            self.optimizer.adopt(moments)

    def _select(self, members: list[int]) -> None:
        # Not to be copied with the model: the next step makes its own.
        self.model.draws = None
        self.model = self.model.select([self.place[run] for run in members])
        self._occupy(members)

    @property
    def epochs_settled(self) -> int:
        """Epochs that are trained, or that a stopped run will not need."""
        done, last = self.history.epochs, self.history.last
        return int(last.sum() - (last - done)[self.active].sum())

    @torch.no_grad()
    def outcomes(self) -> Iterator[Outcome]:
        """Every run at its best epoch, one after the other."""
        logits = with_weights(self._models, self.best).eval()(self.x, self.operator).contiguous().cpu()
        history, best, sizes = self.history, [weight.cpu() for weight in self.best], (self.x.shape[1], self.num_classes)
        for place, run in enumerate(self.runs):
            done = history.epochs[place]
            yield Outcome(
                # Copies, so that an outcome that is kept does not keep the block.
                partial(_single, run, *sizes, [weight[place].clone() for weight in best]),
                logits[place],
                int(history.best_epoch[place]),
                history.loss[place, :done].copy(),
                history.score[place, :done].copy(),
            )

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the next epoch depends on, as tensors and numbers."""
        tensors = {f"best.{place}": tensor for place, tensor in enumerate(self.best)}
        tensors |= {name: torch.from_numpy(getattr(self.history, name)) for name in _KEPT}
        if self.active:
            places = [self.place[run] for run in self.active]
            tensors |= {f"parameter.{i}": p.detach()[places] for i, p in enumerate(self.model.parameters())}
            tensors |= {f"optimizer.{name}": tensor for name, tensor in self.optimizer.tensors(places).items()}
        return tensors, {"next_epoch": self.next_epoch, "active": self.active}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue exactly where `state` was taken."""
        self.best = [tensors[f"best.{place}"].to(self.device) for place in range(len(self.best))]
        for name in _KEPT:
            setattr(self.history, name, tensors[name].numpy())
        self.next_epoch, active = numbers["next_epoch"], list(numbers["active"])
        if active:
            self._select(active)
            for place, parameter in enumerate(self.model.parameters()):
                parameter.copy_(tensors[f"parameter.{place}"])
            self.optimizer.adopt({name.removeprefix("optimizer."): tensor for name, tensor in tensors.items()})
        self.active = active


#: What a checkpoint keeps of a block's history.
_KEPT = ("loss", "score", "best_epoch", "epochs")


def judge(epoch, loss, score, best_epoch, best, recent, patience, epochs, by_loss):  # type: ignore[no-untyped-def]
    """Whether an epoch improves a run, and whether the run stops with it.

    `best` is the loss or the score of its best epoch, `recent` the mean of the losses before this one, which the rule
    "window" compares with; elsewhere that is infinite. Written in operators alone, so that NumPy computes it for many
    runs and Triton compiles the same lines into a kernel (hence no annotations).
    """
    finite = (loss < float("inf")) & (loss > -float("inf"))
    lower = by_loss & (loss < best)
    higher = (by_loss == 0) & (score >= best)
    improved = finite & ((best_epoch < 0) | lower | higher)
    # A loss that is no number never becomes one again.
    over = (epoch + 1 >= epochs) | (finite == 0)
    stopped = over | (loss > recent) | ((improved == 0) & (epoch - best_epoch >= patience))
    return improved, stopped


class History:
    """The validation losses and scores of R runs, each run's own rules as `judge` takes them, and what follows."""

    def __init__(self, settings: Sequence[TrainingSettings]) -> None:
        self.window = np.array([s.patience if s.stopping == "window" else 0 for s in settings])
        self.patience = np.array([s.patience if s.stopping == "patience" else NEVER for s in settings])
        self.last = np.array([s.epochs for s in settings])
        self.by_loss = np.array([s.selects_by_loss for s in settings])
        shape = len(settings), int(self.last.max())
        self.loss, self.score = np.full(shape, np.nan), np.full(shape, np.nan)
        self.best_epoch = np.full(len(settings), -1)
        #: Epochs trained so far; a finished run's count stands still.
        self.epochs = np.zeros(len(settings), dtype=int)

    def best(self, runs: Sequence[int]) -> NDArray[np.float64]:
        """The loss or score of each run's best epoch, by which it selects; no number before there is one."""
        at = self.best_epoch[runs]
        chosen = np.where(self.by_loss[runs], self.loss[runs, at], self.score[runs, at])
        return np.where(at < 0, np.nan, chosen)

    def record(self, runs: Sequence[int], epoch: int, loss: NDArray, score: NDArray) -> tuple[list[int], list[int]]:
        """Note an epoch of the given runs; returns those it improved and those that stop with it."""
        members = np.array(runs)
        # What an epoch is compared with comes before it is noted.
        best, best_epoch = self.best(runs), self.best_epoch[members]
        recent = np.full(len(members), np.inf)
        for place, run in enumerate(runs):
            if 0 < (w := self.window[run]) < epoch:
                recent[place] = self.loss[run, epoch - w : epoch].mean()
        self.loss[members, epoch], self.score[members, epoch] = loss, score
        self.epochs[members] = epoch + 1
        limits = self.patience[members], self.last[members], self.by_loss[members]
        improved, stopped = (members[found] for found in judge(epoch, loss, score, best_epoch, best, recent, *limits))
        self.best_epoch[improved] = epoch
        return improved.tolist(), stopped.tolist()


class HostBlock(Block):
    """One epoch at a time on the CPU; the block shrinks whenever a run stops."""

    optimizer: RunOptimizer

    def _prepare(self, runs: list[Run]) -> None:
        self.optimizer = RunOptimizer(self.model.parameter_groups(), [run.training for run in runs])
        self.train_loss = TrainingLoss(training_nodes(runs), len(runs))
        self.val_scores = ValidationScores(runs)

    def advance(self) -> None:
        """One step and one evaluation of every active run."""
        epoch = self.next_epoch
        self.model.train()
        self.model.draws = Draws([self.runs[run].seed for run in self.members], epoch)
        objective, penalty = self.train_loss(self.model(self.x, self.operator)), self.model.penalty()
        (objective if penalty is None else objective + penalty).backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.x, self.operator)
        loss, score = self.val_scores.of(logits)
        if self.on_epoch is not None:
            for place, run in enumerate(self.members):
                self.on_epoch(run, float(score[place]), logits[place])
        improved, stopped = self.history.record(self.active, epoch, loss, score)
        for best, parameter in zip(self.best, self.model.parameters(), strict=True):
            for run in improved:
                best[run].copy_(parameter.detach()[self.place[run]])
        self.next_epoch += 1
        if stopped:
            self.active = [run for run in self.active if run not in stopped]
            self._shrink()


def side_by_side(runs: Sequence[Run], features: int, classes: int) -> Model:
    """The models of all runs as one, but for weights that are drawn: those may be for one feature.

    Equal settings, which a search trains on many splits, are built once: all but the drawn weights follows from them.
    """
    settings = {own: place for place, own in enumerate(dict.fromkeys(run.model for run in runs))}
    models = [own.skeleton(features, classes) for own in settings]
    return type(models[0]).stack(models).select([settings[run.model] for run in runs])


def initial_weights(models: Model, runs: Sequence[Run], features: int, classes: int) -> list[Tensor]:
    """The weights that `run.model.build(features, classes, run.seed)` gives each run, in the order of `models`.

    Those that are drawn follow from the seed and the widths alone, so equal seeds draw once.
    """
    seeds = {seed: place for place, seed in enumerate(dict.fromkeys(run.seed for run in runs))}
    built = [dict(runs[0].model.build(features, classes, seed).named_parameters()) for seed in seeds]
    which = [seeds[run.seed] for run in runs]
    return [
        torch.stack([own[name].detach() for own in built])[which].to(parameter.device)
        if name.startswith(models.seeded)
        else parameter.detach().clone()
        for name, parameter in models.named_parameters()
    ]


def with_weights(models: Model, weights: Sequence[Tensor]) -> Model:
    """The same models with these very weights, which need not be of the same width."""
    filled = copy.deepcopy(models)
    for parameter, weight in zip(filled.parameters(), weights, strict=True):
        parameter.data = weight
    return filled


@torch.no_grad()
def _single(run: Run, features: int, classes: int, weights: Sequence[Tensor]) -> Model:
    """A run's own model, on the CPU, with these weights; θ is filled up where neighbours have a longer one."""
    model = run.model.build(features, classes)
    for parameter, value in zip(model.parameters(), weights, strict=True):
        parameter.copy_(value[tuple(slice(size) for size in parameter.shape)])
    return model
