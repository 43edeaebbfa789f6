"""What a result comes to in words: better than a guess or not, how far to trust it, and what its filter does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.compare import METRICS, Metric, Reliability, logits_of, percent_interval
from pcnet.errors import PcnetError
from pcnet.experiment import Estimate, Result
from pcnet.show._counts import Interval, Tally
from pcnet.show._table import written

Kind = Literal["kept", "too sure", "too modest", "uneven"]
Band = Literal["identity", "smooth", "rough", "middle", "ends", "nothing"]

#: Tested nodes below which everything on the page is rough; classes that a sentence names.
FEW_NODES, NAMED = 30, 4
#: What to do where nothing was learned.
HINT = "pcnet inspect shows what the features and the links say about these classes"
#: Points that probabilities may be off by and still be taken at their word, on average and bin by bin.
SURPLUS, ERROR = 2.5, 3.0
#: Perfectly calibrated models that are drawn, and the share of them that is called chance.
DRAWS, CHANCE = 1000, 0.95
#: Shares of the largest gain by which thirds must differ to differ at all, and to be spoken of without reserve.
MARGIN, MILD = 0.2, 0.5
#: What a filter of each kind does.
_SAYS: dict[Band, str] = {
    "identity": "is almost the identity: it passes all frequencies alike, so that a node's own features decide "
    "more than its neighbours.",
    "smooth": "keeps the smooth part: what neighbours have in common comes through, and differences between them "
    "are damped. That suits graphs whose links join nodes of one class.",
    "rough": "sharpens differences: what sets a node apart from its neighbours comes through, and what they have in "
    "common is damped. That suits graphs whose links join nodes of different classes.",
    "middle": "is a band: the middle frequencies come through, and both what neighbours have in common and what "
    "sets them most apart is damped.",
    "ends": "keeps both ends: what neighbours have in common and what sets them most apart comes through, and the "
    "middle is damped. Links that agree and links that differ regularly are both used.",
    "nothing": "passes nothing: its response is zero at every frequency of the graph.",
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
        measured: float = summary.mean
        interval: Interval | None = summary.ci95
        around = interval
        if isinstance(summary, Estimate):
            # ± σ √(1/n) for the n tested nodes, from ± σ √(1/n + 1/m) for the m without a label.
            low, high = (summary.measured + summary.tested_part * (end - summary.mean) for end in summary.ci95)
            measured, around = summary.measured, (low, high)
        elif len(summary.per_run) == 1:
            # A single run has an interval only where its score is a share of its test nodes.
            nodes = len(result.splits[0].test)
            around = interval = percent_interval(measured / 100, nodes) if name == "accuracy" else None
        found.append(Scored(metric, summary.mean, interval, guess, measured, around))
    return found


def guess_score(metric: Metric, labels: Tensor, classes: int) -> float:
    """The score of giving every node the shares of the classes, and so always naming the largest."""
    shares = torch.bincount(labels, minlength=classes).double() / len(labels)
    return metric.score(logits_of(shares).expand(len(labels), -1), labels)


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


@dataclass(frozen=True)
class Gap:
    """Predictions of about one confidence: what was said, what was kept and its 95 % interval, in percent."""

    said: float
    kept: float
    interval: Interval
    nodes: int

    @staticmethod
    def of(confidence: float, accuracy: float, nodes: int) -> Gap:
        return Gap(100 * confidence, 100 * accuracy, percent_interval(accuracy, nodes), nodes)

    @property
    def surplus(self) -> float:
        """Points that are said beyond what is kept."""
        return self.said - self.kept

    @property
    def clear(self) -> bool:
        """Whether it is more than a few points, and more than chance."""
        return abs(self.surplus) > SURPLUS and not self.interval[0] <= self.said <= self.interval[1]


@dataclass(frozen=True)
class Trust:
    """All predictions, their calibration error beside that of a perfect model, and what follows.

    `chance` is the 95th percentile of the expected calibration error, in points, of as many predictions of these
    confidences that are right exactly as often as they say.
    """

    overall: Gap
    error: float
    chance: float
    kind: Kind
    #: The bins that are furthest off in this way, the worst first.
    gaps: tuple[Gap, ...]

    @property
    def unseen(self) -> float:
        """Points that probabilities may be off by without showing on so many nodes."""
        low, high = self.overall.interval
        return max(self.chance, (high - low) / 2)

    @property
    def rough(self) -> bool:
        """Whether that is an error that would matter."""
        return self.unseen > ERROR

    @staticmethod
    def of(diagram: Reliability) -> Trust:
        """Judge a reliability diagram in which each node is one prediction."""
        count, confidence, accuracy = (np.array(each) for each in (diagram.count, diagram.confidence, diagram.accuracy))
        weights = count / count.sum()
        overall = Gap.of(float(weights @ confidence), float(weights @ accuracy), int(count.sum()))
        # Σ_b |k_b − n_b p_b| / n with k_b drawn from Binomial(n_b, p_b): what chance alone makes of the error.
        right = np.random.default_rng(0).binomial(count, np.clip(confidence, 0, 1), (DRAWS, len(count)))
        errors = np.abs(right - count * confidence).sum(axis=1) / count.sum()
        error, chance = 100 * diagram.error, 100 * float(np.quantile(errors, CHANCE))
        kind: Kind = "kept"
        if overall.clear:
            kind = "too sure" if overall.surplus > 0 else "too modest"
        elif error > max(ERROR, chance):
            kind = "uneven"
        bins = [Gap.of(*each) for each in zip(confidence, accuracy, count.tolist(), strict=True) if each[2]]
        off = sorted((gap for gap in bins if gap.clear), key=lambda gap: -gap.nodes * abs(gap.surplus))
        wanted = {"too sure": (1,), "too modest": (-1,), "uneven": (1, -1)}.get(kind, ())
        return Trust(overall, error, chance, kind, tuple(gap for gap in off if np.sign(gap.surplus) in wanted)[:3])


@dataclass(frozen=True)
class Passband:
    """The gain over the smoothest, the middle and the roughest third of the frequencies, and its kind.

    Gains are relative to the largest of the three, which is 1; a negative one turns signs round in comparison.
    """

    kind: Band
    gains: tuple[float, float, float]

    @property
    def sentence(self) -> str:
        """What the filter does, and the numbers behind it."""
        if self.kind == "nothing":
            return f"It {_SAYS[self.kind]}"
        mild = self.kind != "identity" and max(self.gains) - min(self.gains) <= MILD
        low, middle, high = (f"{100 * gain:.0f}\u00a0%".replace("-", "−") for gain in self.gains)
        numbers = (
            f"Its mean gain is {low} on the smoothest third of the graph's frequencies, {middle} on the middle third "
            f"and {high} on the roughest third, relative to the largest of the three."
        )
        turned = " A negative gain turns the sign round." if min(self.gains) < 0 else ""
        return f"{'To some degree it' if mild else 'It'} {_SAYS[self.kind]} {numbers}{turned}"


def describe_response(lam: FloatArray, response: FloatArray, density: FloatArray) -> Passband:
    """The kind of a filter g from its mean over each third of the eigenvalues, weighted by their density.

    ḡ_i = 3 ∫ g(λ) ρ(λ) dλ over the i-th third of the mass of ρ, smallest λ first; all are divided by the one that is
    largest in size, since a layer before or after can absorb a factor. With a margin of 0.2: all within it, "identity";
    the middle above both others, "middle", or below both, "ends"; else by the larger of the outer two "smooth" or
    "rough". Without any gain, "nothing".
    """
    order = np.argsort(lam)
    lam, response, density = lam[order], response[order], density[order]
    mass = density * np.gradient(lam)
    if not mass.sum() > 0:
        raise PcnetError("The density of the eigenvalues is zero everywhere; give the points where it is not.")
    below = np.concatenate([[0.0], np.cumsum(mass) / mass.sum()])
    means = [float(response @ np.diff(np.clip(3 * below - third, 0, 1))) for third in range(3)]
    largest = max(means, key=abs)
    if abs(largest) <= 1e-9 * max(1.0, float(np.abs(response).max())):
        return Passband("nothing", (0.0, 0.0, 0.0))
    low, middle, high = (mean / largest for mean in means)
    if max(low, middle, high) - min(low, middle, high) <= MARGIN:
        kind: Band = "identity"
    elif middle > max(low, high) + MARGIN:
        kind = "middle"
    elif middle < min(low, high) - MARGIN:
        kind = "ends"
    else:
        kind = "smooth" if low > high else "rough"
    return Passband(kind, (low, middle, high))
