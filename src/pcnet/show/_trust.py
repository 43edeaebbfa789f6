"""Whether probabilities can be taken at their word, by nodes that had no part in making them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pcnet.compare import Reliability, wilson

#: Points that probabilities may be off by and still be taken at their word, on average and bin by bin.
SURPLUS, ERROR = 2.5, 3.0
#: Perfectly calibrated models that are drawn, and the share of them that is called chance.
DRAWS, CHANCE = 1000, 0.95


@dataclass(frozen=True)
class Gap:
    """Predictions of about one confidence: what was said, what was kept and its 95 % interval, in percent."""

    said: float
    kept: float
    interval: tuple[float, float]
    nodes: int

    @staticmethod
    def of(confidence: float, accuracy: float, nodes: int) -> Gap:
        low, high = wilson(accuracy, nodes)
        return Gap(100 * confidence, 100 * accuracy, (100 * low, 100 * high), nodes)

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
    kind: Literal["kept", "too sure", "too modest", "uneven"]
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
        error, chance = 100 * diagram.error, 100 * _error_by_chance(count, confidence)
        kind: Literal["kept", "too sure", "too modest", "uneven"] = "kept"
        if overall.clear:
            kind = "too sure" if overall.surplus > 0 else "too modest"
        elif error > max(ERROR, chance):
            kind = "uneven"
        bins = [Gap.of(*each) for each in zip(confidence, accuracy, count.tolist(), strict=True) if each[2]]
        off = sorted((gap for gap in bins if gap.clear), key=lambda gap: -gap.nodes * abs(gap.surplus))
        wanted = {"too sure": (1,), "too modest": (-1,), "uneven": (1, -1)}.get(kind, ())
        return Trust(overall, error, chance, kind, tuple(gap for gap in off if np.sign(gap.surplus) in wanted)[:3])


def _error_by_chance(count: np.ndarray, confidence: np.ndarray) -> float:
    """Σ_b |k_b − n_b p_b| / n with k_b drawn from Binomial(n_b, p_b): what chance alone makes of the error."""
    right = np.random.default_rng(0).binomial(count, np.clip(confidence, 0, 1), (DRAWS, len(count)))
    return float(np.quantile(np.abs(right - count * confidence).sum(axis=1) / count.sum(), CHANCE))
