"""How far a figure can be trusted: a mean over runs, a published one that should come out again, a probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import finite_number, whole_number
from pcnet.errors import PcnetError

RESAMPLES = 1000
#: The normal quantile of a 95 % interval.
Z = 1.96
#: Points of accuracy that are called the same figure however narrow the intervals are.
TOLERANCE = 1.5
#: Published figures have two digits: a difference is known no better than this.
ROUNDING = 0.005
#: Bins of a reliability diagram.
BINS = 15
#: Temperatures are looked for between e^-RANGE and e^RANGE: beyond, every probability is 1 or 1/C.
RANGE = 5.0


@dataclass(frozen=True)
class Summary:
    """Mean of the runs, 95 % bootstrap interval of that mean, and standard deviation between runs (n − 1).

    The interval is about runs, unless `nodes` says how many tested nodes it is about and `unlabelled` to how many
    others it speaks.
    """

    mean: float
    ci95: tuple[float, float]
    std: float
    per_run: tuple[float, ...]
    nodes: int = 0
    unlabelled: int = 0

    @property
    def half_width(self) -> float:
        """The larger half of the interval: the ± of the spectral literature."""
        return max(self.mean - self.ci95[0], self.ci95[1] - self.mean)

    @property
    def tested_part(self) -> float:
        """√(1/n) / √(1/n + 1/m): of an interval for m unlabelled nodes, the part that is due to the n tested ones."""
        return (1 + self.nodes / self.unlabelled) ** -0.5 if self.unlabelled else 1.0

    def as_dict(self) -> dict[str, object]:
        """The mean, its interval and the runs, fit for JSON."""
        return {"mean": self.mean, "ci95": list(self.ci95), "std": self.std, "per_run": list(self.per_run)}

    @staticmethod
    def from_dict(kept: Mapping[str, Any]) -> Summary:
        """What `as_dict` made of a summary."""
        return Summary(kept["mean"], tuple(kept["ci95"]), kept["std"], tuple(kept["per_run"]))


def summarise(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> Summary:
    """Mean, the 2.5th and 97.5th percentile of the means of resampled runs, and the standard deviation.

    >>> summary = summarise([80.0, 82.0, 84.0])
    >>> summary.mean, summary.std, summary.ci95
    (82.0, 2.0, (80.0, 84.0))
    """
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) == 0:
        raise PcnetError("A summary needs at least one value.")
    if not np.isfinite(runs).all():
        raise PcnetError("A run has a score that is no finite number; leave it out or find out why.")
    drawn = np.random.default_rng(seed).integers(0, len(runs), size=(resamples, len(runs)))
    low, high = np.percentile(runs[drawn].mean(axis=1), [2.5, 97.5])
    std = float(runs.std(ddof=1)) if len(runs) > 1 else 0.0
    return Summary(float(runs.mean()), (float(low), float(high)), std, tuple(runs.tolist()))


def wilson(share: float, count: float) -> tuple[float, float]:
    """(s + z²/2n ± z √(s(1−s)/n + z²/4n²)) / (1 + z²/n): Wilson's 95 % interval of a share s of n nodes.

    >>> low, high = wilson(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    square = Z**2 / count
    half = Z * math.sqrt(share * (1 - share) / count + square / (4 * count))
    low, high = ((share + square / 2 + side * half) / (1 + square) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)


def percent_interval(share: float, count: float) -> tuple[float, float]:
    """The same interval in percent."""
    low, high = wilson(share, count)
    return 100 * low, 100 * high


@dataclass(frozen=True)
class Verdict:
    """The word, and the numbers of the rule that gave it: `difference` is ours − published, in points.

    `allowed` is how far apart the two may be, `reason` why a figure cannot be reproduced at all, or nothing; `by_floor`
    says that it is reproduced only because 1.5 points are always allowed.
    """

    word: Literal["reproduced", "above", "below", "not reproducible"]
    difference: float
    allowed: float
    reason: str = ""
    by_floor: bool = False


def verdict(ours: Summary, mean: float, half_width: float, *, not_reproducible: str = "") -> Verdict:
    """|ours − published| ≤ max(1.5, √(h₁² + h₂²)) is "reproduced"; else ours is "above" or "below".

    h₁ and h₂ are the half-widths of the two 95 % intervals, ours the larger half where it is skew. √(h₁² + h₂²) is that
    of the difference of two independent means: where nothing differs, a difference beyond it has a chance of 5 %.
    Intervals that still touch may be h₁ + h₂ apart, a chance of 0.6 % when they are equally wide, and would call more
    the same than 95 % intervals should. Half a unit of the published second digit is forgiven.

    A sentence in `not_reproducible` says why the figure cannot be had again, and is the verdict whatever the numbers.

    >>> from pcnet.compare import summarise
    >>> verdict(summarise([80.0, 81.0, 82.0]), 82.0, 0.5).word
    'reproduced'
    """
    if not (math.isfinite(mean) and math.isfinite(half_width) and half_width >= 0):
        raise PcnetError(
            f"A published figure must be a mean and a half-width of at least 0, not {mean} ± {half_width}."
        )
    difference = ours.mean - mean
    joint = math.hypot(ours.half_width, half_width)
    allowed = max(TOLERANCE, joint)
    if not_reproducible:
        return Verdict("not reproducible", difference, allowed, not_reproducible)
    if abs(difference) <= allowed + ROUNDING:
        return Verdict("reproduced", difference, allowed, by_floor=abs(difference) > joint + ROUNDING)
    return Verdict("above" if difference > 0 else "below", difference, allowed)


def half_width_of(std: float, runs: int) -> float:
    """1.96 · std / √runs: half of the 95 % interval of a mean over `runs` runs with this standard deviation."""
    return Z * finite_number("A standard deviation", std, least=0) / math.sqrt(whole_number("runs", runs, least=1))


@dataclass(frozen=True)
class Reliability:
    """Predictions sorted by confidence into equally wide bins: in each how many, how confident, how often right."""

    count: tuple[int, ...]
    #: Mean confidence and accuracy of each bin, in [0, 1]; those of an empty bin are its middle and 0.
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]

    @property
    def error(self) -> float:
        """Expected calibration error Σ_b n_b/n |accuracy_b − confidence_b| (Guo et al. 2017)."""
        count, confidence, accuracy = (np.array(each) for each in (self.count, self.confidence, self.accuracy))
        return float(count @ np.abs(accuracy - confidence) / count.sum())


def temperature(logits: Tensor, labels: Tensor) -> float:
    """argmin_T −Σ_i log softmax(z_i / T)_{y_i} + ½ (log T)²: one number, so accuracy stays and only confidence changes.

    The second term says that log T is normal before anything is seen: with many nodes it counts for nothing, and a few
    that happen to be all right do not make the model certain of everything. To be fitted on nodes that did not train,
    such as those of validation.

    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]])
    >>> temperature(logits, torch.tensor([0, 1, 0, 0])) > 1
    True
    """
    # Imported here: commands that calibrate nothing need not wait for it.
    import scipy.optimize

    if len(logits) == 0:
        raise PcnetError("There are no nodes to calibrate on; give validation nodes.")
    z = logits.detach().double().cpu()
    at_label = z.gather(1, labels.cpu().long().unsqueeze(1))[:, 0]

    def loss(log_t: float) -> float:
        scale = float(np.exp(-log_t))
        return float((torch.logsumexp(z * scale, dim=1) - at_label * scale).sum()) + 0.5 * log_t**2

    best = scipy.optimize.minimize_scalar(loss, bounds=(-RANGE, RANGE), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x))


def reliability(probabilities: Tensor, labels: Tensor, bins: int = BINS) -> Reliability:
    """The bins of a reliability diagram, of each node's most probable class."""
    if len(probabilities) == 0:
        raise PcnetError("There are no nodes to compare probabilities with; give labelled ones.")
    top, predicted = probabilities.detach().double().cpu().max(dim=1)
    confidence = top.numpy()
    right = (predicted == labels.cpu()).numpy()
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    count = np.bincount(which, minlength=bins)
    filled = np.maximum(count, 1)
    mean = np.where(count > 0, np.bincount(which, confidence, bins) / filled, (np.arange(bins) + 0.5) / bins)
    accuracy = np.bincount(which, right, bins) / filled
    return Reliability(tuple(count.tolist()), tuple(mean.tolist()), tuple(accuracy.tolist()))
