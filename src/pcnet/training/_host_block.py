"""A block of runs on the CPU."""

from __future__ import annotations

import torch

from pcnet.nn import Draws
from pcnet.training._block import Block
from pcnet.training._labels import StackedLabels, ValidationScores, training_nodes
from pcnet.training._optimizer import RunOptimizer
from pcnet.training._run import Run


class HostBlock(Block):
    """One epoch at a time; a run that stops leaves at once."""

    optimizer: RunOptimizer

    def _prepare(self, runs: list[Run]) -> None:
        self.optimizer = RunOptimizer(self.model.parameter_groups(), [run.training for run in runs])
        self.train_labels = StackedLabels(*training_nodes(runs))
        self.val_scores = ValidationScores(runs)

    def advance(self) -> None:
        """One step and one evaluation of every run that is going."""
        epoch = self.next_epoch
        self.model.train()
        self.model.draws = Draws([self.runs[run].seed for run in self.members], epoch)
        objective, penalty = self.train_labels.mean_loss(self.model(self.x, self.operator)), self.model.penalty()
        (objective if penalty is None else objective + penalty).backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.x, self.operator)
        loss, score = self.val_scores.of(logits)
        if self.watch is not None:
            for place, run in enumerate(self.members):
                self.watch(run, float(score[place]), logits[place])
        improved, stopped = self.progress.record(self.going, epoch, loss, score)
        self._remember(improved)
        self.next_epoch += 1
        if stopped:
            self._leave(stopped)

    @torch.no_grad()
    def _remember(self, improved: list[int]) -> None:
        for best, parameter in zip(self.best, self.model.parameters(), strict=True):
            for run in improved:
                best[run].copy_(parameter[self.place[run]])
