"""What to expect on nodes without a label, from runs that each tested a part of the labelled ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pcnet.compare import METRICS, Metric, Summary, logits_of, percent_interval, temperature
from pcnet.compare import scores as scores_of
from pcnet.data import Split
from pcnet.training import Outcome, Run

#: What averaging is worth is only told where nodes were tested more often than this: 1/k on average.
MOST_ALONE = 0.75
#: Resamples of the nodes, fewer where there are many classes; nodes of a resample at most; numbers that are resampled
#: at a time, and in all.
RESAMPLES, FEWEST, LARGEST, AT_ONCE, IN_ALL = 200, 20, 5_000, 2**22, 2**26


@dataclass(frozen=True)
class Estimate(Summary):
    """What to expect of predictions (`mean`), and a 95 % interval for the score of nodes like those that were tested.

    `measured` is the score of all `nodes` tested nodes together: each has one prediction, the mean of the calibrated
    probabilities of the runs that tested it. `gain` is what the models that predict are better than those, as far as
    validation tells (see `gain_of_members`), and 0 without such models; `mean` is their sum. The interval is about the
    `unlabelled` nodes of the graph where there are any: chance decides which nodes have a label and which have none,
    so few nodes on either side make it wide. `per_run` and `std` are those of single runs.
    """

    measured: float = 0.0
    gain: float = 0.0

    def as_dict(self) -> dict[str, object]:
        own = {name: getattr(self, name) for name in ("measured", "gain", "nodes", "unlabelled")}
        return {**super().as_dict(), **own}


@dataclass(frozen=True, eq=False)
class Pooled:
    """One prediction for each tested node: the mean of p = softmax(z / T) over the runs that tested it.

    T is fitted on the run's validation nodes. A run never saw the labels of the nodes that it tests, so predictions
    here are as good as those for nodes without a label, from as many models.
    """

    nodes: Tensor
    #: How many runs tested each of them.
    times: Tensor
    probabilities: Tensor
    labels: Tensor
    temperatures: tuple[float, ...]

    @staticmethod
    def of(splits: Sequence[Split], logits: Sequence[Tensor]) -> Pooled:
        nodes, times = torch.cat([split.test for split in splits]).unique(return_counts=True)
        total = torch.zeros(len(nodes), logits[0].shape[1], dtype=torch.float64)
        temperatures = []
        for split, own in zip(splits, logits, strict=True):
            temperatures.append(temperature(own[split.val], split.labels[split.val]))
            probabilities = torch.softmax(own[split.test].double().cpu() / temperatures[-1], dim=1)
            total[torch.searchsorted(nodes, split.test)] += probabilities
        mean = total / times[:, None]
        return Pooled(nodes, times.double(), mean, splits[0].labels[nodes], tuple(temperatures))


def estimates(
    pooled: Pooled,
    per_run: Mapping[str, Summary],
    unlabelled: int,
    val: Mapping[str, Summary] | None = None,
    members: Sequence[tuple[Run, Outcome]] = (),
) -> dict[str, Estimate]:
    """An estimate by every metric of the test scores `per_run` of single runs; of `members`, by their `val` scores."""
    n, logits, labels = len(pooled.nodes), logits_of(pooled.probabilities), pooled.labels
    found = {}
    for name, measured in scores_of(logits, labels, torch.arange(n)).items():
        if name not in per_run:
            continue
        metric, runs, value = METRICS[name], per_run[name], measured
        if members and val is not None:
            own = [metric.score(outcome.logits[run.targets.val], run.targets.val_labels) for run, outcome in members]
            value += gain_of_members(metric, measured, pooled, runs, val[name], own)
        value = min(value, 100.0) if metric.percent else max(value, 0.0)
        interval = _interval(metric, value, logits, labels, unlabelled)
        found[name] = Estimate(value, interval, runs.std, runs.per_run, n, unlabelled, measured, value - measured)
    return found


def gain_of_members(
    metric: Metric, measured: float, pooled: Pooled, test: Summary, val: Summary, members: Sequence[float]
) -> float:
    """max(0, v_M − v_1) + max(0, c) (q − 1/M): what M models that know every label have over those that were measured.

    v_M and v_1 are the mean validation scores of the members and of the runs: both chose their epochs on as many nodes,
    so what differs is how many labels trained them. Averaging k models takes c / k away from the score of infinitely
    many; the runs show it for 1 and for the few that tested a node (1/k is q on average), which gives c, and the
    members are M. Neither is ever taken for a loss: more labels and more models do not harm but by accident.
    """
    # On few nodes, those of a member may all be of one class, where ranking metrics are undefined.
    learning = metric.sign * (float(np.mean(members)) - val.mean) if np.isfinite(members).all() else 0.0
    q = float((1 / pooled.times).mean())
    averaging = 0.0
    # Where hardly any node was tested twice, a small difference would be blown up.
    if q <= MOST_ALONE:
        per_model = metric.sign * (measured - float(np.mean(test.per_run))) / (1 - q)
        averaging = max(0.0, per_model) * max(0.0, q - 1 / len(members))
    return metric.sign * (max(0.0, learning) + averaging)


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
    return percent_interval(value / 100, effective)


def _standard_error(metric: Metric, logits: Tensor, labels: Tensor) -> float:
    """Standard deviation of the metric between resamples of the nodes; large graphs resample fewer nodes, and scale."""
    n, classes = logits.shape
    size = min(n, LARGEST)
    resamples = min(RESAMPLES, max(FEWEST, IN_ALL // (size * classes)))
    drawn = torch.from_numpy(np.random.default_rng(0).integers(0, n, (resamples, size)))
    values = [
        metric.of(logits[part], labels[part], torch.ones_like(part, dtype=torch.bool))
        for part in drawn.split(max(1, AT_ONCE // (size * classes)))
    ]
    # A resample may lack a class that the metric needs.
    return metric.scale * (float(np.nanstd(torch.cat(values).numpy())) * math.sqrt(size / n))
