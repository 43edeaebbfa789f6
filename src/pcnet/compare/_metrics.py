"""How good predictions are: each metric is one function, for choosing an epoch in training and for reporting alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from pcnet._checks import Registry
from pcnet.errors import PcnetError

#: Two classes of which one has more than this share: accuracy hardly moves there, and ROC-AUC is the usual choice.
UNBALANCED = 0.65
#: Scores that are ranked at a time: of many classes, some after the others.
AT_ONCE = 2**22

#: From logits (…, n, C), labels (…, n) and which nodes count (…, n) to a value for each of the leading dimensions.
Function = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Metric:
    """A name, what to call it, its function, and how its values are to be read.

    `of` works on any device and on many runs at once. It gives NaN where the metric is undefined: ranking metrics need
    nodes of two classes. In reports a share is in percent; `sign · value` is what is better when it is higher.
    """

    name: str
    title: str
    of: Function
    #: What a score is, in words.
    meaning: str = "a metric of your own"
    percent: bool = True
    sign: int = 1
    #: Whether it needs nodes of two classes.
    ranks: bool = False

    @property
    def scale(self) -> float:
        """From a value to that of reports: in percent where it is a share."""
        return 100.0 if self.percent else 1.0

    @property
    def digits(self) -> int:
        """Decimals of a rounded value."""
        return 1 if self.percent else 3

    def share(self, logits: Tensor, labels: Tensor) -> float:
        """The value on these nodes, computed in float64."""
        truth = labels.cpu().long()
        return float(self.of(logits.detach().double().cpu(), truth, torch.ones_like(truth, dtype=torch.bool)))

    def score(self, logits: Tensor, labels: Tensor) -> float:
        """The same as reports have it."""
        return self.scale * self.share(logits, labels)

    def text(self, value: float) -> str:
        """A value as reports have it, in letters: 82.10, or 0.4321 where it is no share."""
        return f"{value:.{2 if self.percent else 4}f}".replace("-", "−")


def _accuracy(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """#{argmax = label} / n."""
    right = (logits.argmax(-1) == labels) & counted
    return right.sum(-1).double() / counted.sum(-1)


def _counts(logits: Tensor, labels: Tensor, counted: Tensor) -> Iterator[Tensor]:
    """Of each class (…, C): nodes that are of it, that were called it, and both."""
    called, counts = logits.argmax(-1), counted.double()
    nothing = counts.new_zeros(*logits.shape[:-2], logits.shape[-1])
    # Sums of ones are exact in any order; a label of −1 is of a node that does not count.
    labelled = labels.clamp(min=0)
    parts = ((labelled, counts), (called, counts), (called, counts * (called == labels)))
    return (nothing.scatter_add(-1, classes, each) for classes, each in parts)


def _balanced_accuracy(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """Mean of TP/(TP+FN) over the classes that occur."""
    there, _, hits = _counts(logits, labels, counted)
    return _mean_where(hits / there, there > 0)


def _macro_f1(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """Mean of 2TP/(2TP+FP+FN) over the classes that occur among labels or answers."""
    there, called, hits = _counts(logits, labels, counted)
    either = there + called
    return _mean_where(2 * hits / either, either > 0)


def _log_loss(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """Mean of −log softmax at the label."""
    losses = -torch.log_softmax(logits.double(), -1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return losses.masked_fill(~counted, 0.0).sum(-1) / counted.sum(-1)


def _ranking(logits: Tensor, labels: Tensor, counted: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """For each class against the rest (of two classes the second alone): nodes from the lowest score to the highest.

    All are (…, c, n) for some classes after the others: which nodes are of the class, and how many nodes score lower,
    and lower or equal. Nodes that do not count come first.
    """
    classes = torch.arange(logits.shape[-1], device=logits.device)
    if len(classes) == 2:
        # A difference of logits orders nodes as the probability does, and never rounds two of them to 1.
        scores, classes = (logits[..., 1] - logits[..., 0]).double().unsqueeze(-2), classes[1:]
    else:
        scores = torch.log_softmax(logits.double(), -1).transpose(-1, -2)
    together = max(1, AT_ONCE * len(classes) // max(scores.numel(), 1))
    for some, own in zip(scores.split(together, -2), classes.split(together), strict=True):
        yield _ranked(some, own, labels, counted)


def _ranked(scores: Tensor, classes: Tensor, labels: Tensor, counted: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same for the scores (…, c, n) of some classes."""
    here = counted.unsqueeze(-2)
    ascending, order = scores.masked_fill(~here, -torch.inf).sort(-1)
    positive = ((labels.unsqueeze(-2) == classes.unsqueeze(-1)) & here).gather(-1, order)
    n = order.shape[-1]
    place = torch.arange(n, device=scores.device)
    steps = ascending.diff() > 0
    # Equal scores are one step of a stair: it begins after the last rise, and ends before the next.
    lower = (place * pad(steps, (1, 0), value=True)).cummax(-1).values
    ends = (place + 1).masked_fill(~pad(steps, (0, 1), value=True), n)
    return positive, lower, ends.flip(-1).cummin(-1).values.flip(-1)


def _roc_auc(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """(Σ_positive rank − P(P+1)/2) / (P·N), equal scores sharing a rank; the mean over classes against the rest."""
    values, defined = [], []
    for positive, lower, lower_or_equal in _ranking(logits, labels, counted):
        positives = positive.sum(-1).double()
        negatives = counted.sum(-1, keepdim=True) - positives
        ranks = (lower + lower_or_equal + 1).double() / 2 - (~counted).sum(-1)[..., None, None]
        wins = ranks.masked_fill(~positive, 0.0).sum(-1) - positives * (positives + 1) / 2
        values.append(wins / (positives * negatives))
        defined.append((positives > 0) & (negatives > 0))
    return _mean_where(torch.cat(values, -1), torch.cat(defined, -1))


def _average_precision(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    """1/P Σ_positive TP/(TP+FP) among nodes that score as high or higher; the mean over classes against the rest."""
    values, defined = [], []
    for positive, lower, _ in _ranking(logits, labels, counted):
        positives = positive.sum(-1, keepdim=True)
        # How many positive nodes are among the first k.
        among = pad(positive.cumsum(-1), (1, 0))
        precision = (positives - among.gather(-1, lower)).double() / (lower.shape[-1] - lower)
        positives = positives.squeeze(-1)
        values.append(precision.masked_fill(~positive, 0.0).sum(-1) / positives)
        defined.append((positives > 0) & (positives < counted.sum(-1, keepdim=True)))
    return _mean_where(torch.cat(values, -1), torch.cat(defined, -1))


def _mean_where(values: Tensor, defined: Tensor) -> Tensor:
    """Mean over the last dimension of what is defined; NaN where nothing is."""
    return values.masked_fill(~defined, 0.0).sum(-1) / defined.sum(-1)


METRICS: Registry[Metric] = Registry("metric")
for _metric in (
    Metric("accuracy", "accuracy", _accuracy, "the share of nodes that get their right class"),
    Metric(
        "balanced_accuracy",
        "balanced accuracy",
        _balanced_accuracy,
        "how much of a class is found, averaged over the classes, so that small ones count as much",
    ),
    Metric(
        "macro_f1",
        "macro-F1",
        _macro_f1,
        "F1, averaged over the classes, so that small ones count as much as large ones",
    ),
    Metric("roc_auc", "ROC-AUC", _roc_auc, "how often a node of a class is ranked above a node of another", ranks=True),
    Metric(
        "average_precision",
        "average precision",
        _average_precision,
        "precision on the way down a class's ranking, averaged over its nodes",
        ranks=True,
    ),
    Metric(
        "log_loss",
        "log loss",
        _log_loss,
        "mean of −log of the right class's probability; lower is better",
        percent=False,
        sign=-1,
    ),
):
    METRICS.add(_metric.name, _metric)


def metric_named(name: str) -> Metric:
    """A metric by its name in any case, in which - is as good as _.

    >>> metric_named("ROC-AUC").name
    'roc_auc'
    """
    return METRICS.named(name.replace("-", "_"))


def default_metric(labels: Tensor) -> Metric:
    """Accuracy; ROC-AUC for two classes of which the larger one has more than 65 % of the labels (−1: unknown).

    >>> default_metric(torch.tensor([0, 0, 0, 1, -1])).title
    'ROC-AUC'
    """
    counts = torch.bincount(labels[labels >= 0])
    counts = counts[counts > 0]
    unbalanced = len(counts) == 2 and float(counts.max()) > UNBALANCED * float(counts.sum())
    return METRICS["roc_auc" if unbalanced else "accuracy"]


def logits_of(probabilities: Tensor) -> Tensor:
    """Logits that give these probabilities; what is 0 becomes the smallest number."""
    return probabilities.clamp(min=torch.finfo(torch.float64).tiny).log()


def scores(logits: Tensor, labels: Tensor, nodes: Tensor) -> dict[str, float]:
    """Every metric on some nodes, by name; one that is undefined there is left out.

    >>> scores(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]), torch.arange(2))["accuracy"]
    50.0
    """
    if len(nodes) == 0:
        raise PcnetError("There are no nodes to score.")
    found = {name: metric.score(logits[nodes], labels[nodes]) for name, metric in METRICS.items()}
    return {name: value for name, value in found.items() if value == value}
