"""How good it is, what a guess would get, and what that comes to in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pcnet.compare import METRICS, Metric, Summary, wilson
from pcnet.experiment import Estimate, Result
from pcnet.show._tally import Tally
from pcnet.show._template import written

Interval = tuple[float, float]

#: Tested nodes below which everything on the page is rough.
FEW_NODES = 30
#: Classes that a sentence names; the others are counted.
NAMED = 4

#: What to do where nothing was learned.
HINT = "pcnet inspect shows what the features and the links say about these classes"
#: What a score by each metric is.
MEANINGS = {
    "accuracy": "the share of nodes that get their right class",
    "balanced_accuracy": "how much of a class is found, averaged over the classes, so that small ones count as much",
    "macro_f1": "F1, averaged over the classes, so that small ones count as much as large ones",
    "roc_auc": "how often a node of a class is ranked above a node of another",
    "average_precision": "precision on the way down a class's ranking, averaged over its nodes",
    "log_loss": "mean of −log of the right class's probability; lower is better",
}


@dataclass(frozen=True)
class Scored:
    """A metric with its value, a 95 % interval where there is one, and what a guess gets.

    An estimate is about nodes without a label and models that know every one; `measured` and its interval `around` are
    about the tested nodes and the runs alone, which is what a guess is held against.
    """

    metric: Metric
    value: float
    interval: Interval | None
    guess: float
    measured: float
    around: Interval | None

    @property
    def meaning(self) -> str:
        return MEANINGS[self.metric.name]

    @property
    def beats_guess(self) -> bool:
        return min(self.metric.sign * (end - self.guess) for end in self.around or (self.measured,)) > 0

    @property
    def against_guess(self) -> str:
        value, guess = written(self.metric, self.measured), written(self.metric, self.guess)
        between = "" if self.around is None else f" ({written(self.metric, self.around)})"
        return f"{self.metric.title} is {value}{between}, and a guess gets {guess}"


def all_scores(result: Result, results: Tally) -> list[Scored]:
    """By every metric of a result, the one that counts first."""
    if isinstance(result.headline, Estimate):
        parts = [result.splits[0].labels[torch.from_numpy(results.counted > 0)]]
    else:
        parts = [split.labels[split.test] for split in result.splits]
    classes = result.outcomes[0].logits.shape[1]
    found = []
    for name in dict.fromkeys([result.experiment.metric, *(name for name in METRICS if name in result.test)]):
        metric, summary = METRICS[name], result.test[name]
        guess = float(np.mean([guess_score(metric, labels, classes) for labels in parts]))
        interval = measured_in = _interval(name, summary, len(result.splits[0].test))
        measured = summary.mean
        if isinstance(summary, Estimate):
            measured, measured_in = summary.measured, _of_tested(summary)
        found.append(Scored(metric, summary.mean, interval, guess, measured, measured_in))
    return found


def guess_score(metric: Metric, labels: Tensor, classes: int) -> float:
    """The score of giving every node the shares of the classes, and so always naming the largest."""
    shares = torch.bincount(labels, minlength=classes).double() / len(labels)
    logits = shares.clamp(min=torch.finfo(torch.float64).tiny).log()
    return metric.score(logits.expand(len(labels), -1), labels)


def _interval(name: str, summary: Summary, nodes: int) -> Interval | None:
    """The interval of a score; that of a single run is Wilson's, of a share of its test nodes."""
    if isinstance(summary, Estimate) or len(summary.per_run) > 1:
        return summary.ci95
    if name != "accuracy":
        return None
    low, high = wilson(summary.mean / 100, nodes)
    return 100 * low, 100 * high


def _of_tested(estimate: Estimate) -> Interval:
    """The interval for the n tested nodes, ± σ √(1/n), from that for m nodes without a label, ± σ √(1/n + 1/m)."""
    part = math.sqrt(estimate.unlabelled / (estimate.nodes + estimate.unlabelled)) if estimate.unlabelled else 1.0
    low, high = (estimate.measured + part * (end - estimate.mean) for end in estimate.ci95)
    return low, high


def warnings(scores: Sequence[Scored], missed: Sequence[str], tested: int) -> list[str]:
    """What speaks against using the predictions; nothing where all is well.

    `missed` are the classes of which no node was found, `tested` is how many nodes were tested.
    """
    main, *others = scores
    found = []
    if not main.beats_guess:
        better = main.metric.sign * (main.measured - main.guess) > 0
        sentence = f"{'Not clearly' if better else 'No'} better than a guess: {main.against_guess}."
        ranked = [each for each in others if each.metric.ranks and each.beats_guess]
        hint = f"The ranking is better: {ranked[0].against_guess}" if ranked else HINT
        found.append(f"{sentence} {hint}.")
    if missed:
        more = f" and {len(missed) - NAMED} more" if len(missed) > NAMED else ""
        many = f"{len(missed)} classes are" if len(missed) > 1 else "A class is"
        found.append(
            f"{many} never found: {', '.join(missed[:NAMED])}{more}. Train with --set class_weight=balanced to make "
            "small classes count as much as large ones."
        )
    if tested < FEW_NODES:
        found.append(f"Only {tested} nodes were tested, so every number here is rough; label more nodes.")
    return found
