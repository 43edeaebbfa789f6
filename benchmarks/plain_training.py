"""Training in the manner of the published scripts: one run, and an evaluation of several forwards after every step."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from benchmarks.plain import plain_model
from pcnet.data import Split
from pcnet.experiment import Experiment
from pcnet.graph import CSR, Graph


class PlainTraining:
    """One run. An epoch is one step of Adam and an evaluation of four forwards, five forwards in all.

    The evaluation is that of the GPRGNN family of scripts: one forward for the accuracies, then another for
    the loss on each of the three sets. The model is in evaluation mode, but autograd records all four.
    """

    def __init__(
        self,
        graph: Graph,
        split: Split,
        experiment: Experiment,
        seed: int,
        device: str = "cpu",
        *,
        cached: bool = False,
    ) -> None:
        torch.manual_seed(seed)
        self.x = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x).to(device)
        self.edge_index, self.y = graph.edge_index.to(device), split.labels.to(device)
        self.masks = {part: self._mask(getattr(split, part)) for part in ("train", "val", "test")}
        classes = int(self.y.max()) + 1
        self.model = plain_model(graph.num_features, classes, experiment.model, cached=cached).to(device)
        lr, wd = (
            {group: rates.get(group, rates.get("all", 0.0)) for group in experiment.model.groups}
            for rates in (experiment.training.lr, experiment.training.wd)
        )
        self.optimizer = torch.optim.Adam(
            [
                {"params": parameters, "lr": lr[group], "weight_decay": wd[group]}
                for group, parameters in self.model.parameter_groups().items()
            ]
        )
        self.best_loss, self.best_test = float("inf"), 0.0

    def _mask(self, nodes: Tensor) -> Tensor:
        mask = torch.zeros(len(self.y), dtype=torch.bool, device=self.y.device)
        mask[nodes] = True
        return mask

    def epoch(self) -> None:
        self.step()
        accuracies, losses = self.evaluate()
        if losses["val"] < self.best_loss:
            self.best_loss, self.best_test = losses["val"], accuracies["test"]

    def step(self) -> None:
        self.model.train()
        self.optimizer.zero_grad()
        mask = self.masks["train"]
        nll_loss(self.model(self.x, self.edge_index)[mask], self.y[mask]).backward()
        self.optimizer.step()

    def evaluate(self) -> tuple[dict[str, float], dict[str, float]]:
        """Accuracy and loss on each of the three sets."""
        self.model.eval()
        predicted = self.model(self.x, self.edge_index).argmax(dim=1)
        accuracies, losses = {}, {}
        for part, mask in self.masks.items():
            accuracies[part] = (predicted[mask] == self.y[mask]).float().mean().item()
            losses[part] = nll_loss(self.model(self.x, self.edge_index)[mask], self.y[mask]).item()
        return accuracies, losses


class FrugalTraining(PlainTraining):
    """One run. An epoch is one step of Adam, a forward to validate and, where that is no worse, one to test.

    That is JacobiConv's script; autograd records neither of the two.
    """

    best_accuracy = 0.0

    def epoch(self) -> None:
        self.step()
        accuracy = self.score("val")
        if accuracy >= self.best_accuracy:
            self.best_accuracy, self.best_test = accuracy, self.score("test")

    @torch.no_grad()
    def score(self, part: str) -> float:
        """Accuracy on one of the sets."""
        self.model.eval()
        mask = self.masks[part]
        predicted = self.model(self.x, self.edge_index).argmax(dim=1)
        return (predicted[mask] == self.y[mask]).float().mean().item()


def plain_training(
    graph: Graph, split: Split, experiment: Experiment, seed: int, device: str = "cpu", *, cached: bool = False
) -> PlainTraining:
    """The way of the scripts that the experiment's method comes from."""
    kind = FrugalTraining if experiment.training.select == "val_accuracy" else PlainTraining
    return kind(graph, split, experiment, seed, device, cached=cached)
