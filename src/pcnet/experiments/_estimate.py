"""What to expect on nodes without a label, from runs that each tested a part of the labelled ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pcnet.data import Split
from pcnet.evaluation import METRICS, Metric, Summary, temperature, wilson
from pcnet.evaluation import scores as scores_of

#: Resamples of the nodes, nodes of a resample at most, and numbers that are resampled at a time.
RESAMPLES, LARGEST, AT_ONCE = 200, 5_000, 2**22


@dataclass(frozen=True)
class Estimate(Summary):
    """The score of all tested nodes together (`mean`) and a 95 % interval for the score of nodes like them.

    Each of `nodes` nodes has one prediction: the mean of the calibrated probabilities of the runs that tested it. The
    interval is about the `unlabelled` nodes of the graph where there are any: chance decides which nodes have a label
    and which have none, so few nodes on either side make it wide. `per_run` and `std` are those of single runs.
    """

    nodes: int = 0
    unlabelled: int = 0

    def as_dict(self) -> dict[str, object]:
        return {**super().as_dict(), "nodes": self.nodes, "unlabelled": self.unlabelled}


@dataclass(frozen=True, eq=False)
class Pooled:
    """One prediction for each tested node: the mean of p = softmax(z / T) over the runs that tested it.

    T is fitted on the run's validation nodes. A run never saw the labels of the nodes that it tests, so predictions
    here are as good as those for nodes without a label, from as many models.
    """

    nodes: Tensor
    probabilities: Tensor
    labels: Tensor
    temperatures: tuple[float, ...]

    @staticmethod
    def of(splits: Sequence[Split], logits: Sequence[Tensor]) -> Pooled:
        times = torch.zeros(logits[0].shape[0], dtype=torch.float64)
        total = torch.zeros(logits[0].shape, dtype=torch.float64)
        temperatures = []
        for split, own in zip(splits, logits, strict=True):
            temperatures.append(temperature(own[split.val], split.labels[split.val]))
            total[split.test] += torch.softmax(own[split.test].double().cpu() / temperatures[-1], dim=1)
            times[split.test] += 1
        nodes = times.nonzero().flatten()
        return Pooled(nodes, total[nodes] / times[nodes, None], splits[0].labels[nodes], tuple(temperatures))

    @property
    def log_probabilities(self) -> Tensor:
        """Logits that give these probabilities; what is 0 becomes the smallest number."""
        return self.probabilities.clamp(min=torch.finfo(torch.float64).tiny).log()


def estimates(pooled: Pooled, per_run: dict[str, Summary], unlabelled: int) -> dict[str, Estimate]:
    """An estimate by every metric; `per_run` are the scores of single runs."""
    n = len(pooled.nodes)
    logits, labels = pooled.log_probabilities, pooled.labels
    found = {}
    for name, value in scores_of(logits, labels, torch.arange(n)).items():
        if name in per_run:
            interval = _interval(METRICS[name], value, logits, labels, unlabelled)
            runs = per_run[name]
            found[name] = Estimate(value, interval, runs.std, runs.per_run, n, unlabelled)
    return found


def _interval(metric: Metric, value: float, logits: Tensor, labels: Tensor, unlabelled: int) -> tuple[float, float]:
    """value ± 1.96 σ √(1/n + 1/m): n nodes were tested, m have no label, and σ/√n is the error of the tested ones.

    For accuracy, and where all resamples agree, it is Wilson's interval for 1 / (1/n + 1/m) nodes.
    """
    n = len(labels)
    effective = 1 / (1 / n + (1 / unlabelled if unlabelled else 0))
    error = 0.0 if metric.name == "accuracy" else _standard_error(metric, logits, labels)
    if error > 0:
        half = 1.96 * error * math.sqrt(n / effective)
        low, high = value - half, value + half
        return max(low, 0.0), min(high, 100.0) if metric.percent else high
    if not metric.percent:
        return value, value
    low, high = wilson(value / 100, effective)
    return 100 * low, 100 * high


def _standard_error(metric: Metric, logits: Tensor, labels: Tensor) -> float:
    """Standard deviation of the metric between resamples of the nodes; large graphs resample fewer nodes, and scale."""
    n, classes = logits.shape
    size = min(n, LARGEST)
    drawn = torch.from_numpy(np.random.default_rng(0).integers(0, n, (RESAMPLES, size)))
    values = [
        metric.of(logits[part], labels[part], torch.ones_like(part, dtype=torch.bool))
        for part in drawn.split(max(1, AT_ONCE // (size * classes)))
    ]
    # A resample may lack a class that the metric needs.
    spread = float(np.nanstd(torch.cat(values).numpy())) * math.sqrt(size / n)
    return 100 * spread if metric.percent else spread
