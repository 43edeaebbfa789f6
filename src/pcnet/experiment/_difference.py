"""How sure it is that one method, or one setting, is better than another on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pcnet.compare import LEVEL, Summary, joined_interval, resampled_half_width
from pcnet.data import Split
from pcnet.experiment._estimate import Estimate


@dataclass(frozen=True)
class Basis:
    """What the interval of a score is about: nodes that were tested and others without a label; or, with none, runs."""

    nodes: int = 0
    unlabelled: int = 0

    @staticmethod
    def of(score: Summary) -> Basis:
        """An estimate says which nodes it is about, a mean over runs does not."""
        return Basis(score.nodes, score.unlabelled) if isinstance(score, Estimate) else Basis()

    @property
    def tested_part(self) -> float:
        """√(1/n) / √(1/n + 1/m): of an interval for m unlabelled nodes, the part that is due to the n tested ones."""
        return (1 + self.nodes / self.unlabelled) ** -0.5 if self.unlabelled else 1.0


def difference_interval(
    first: Summary, second: Summary, splits: Sequence[Split], basis: Basis, level: float = 1 - LEVEL
) -> tuple[float, float] | None:
    """For first − second; None where a single split, or the very same difference on all, cannot say how sure it is.

    Scores with intervals about nodes are joined; of means over runs, the runs are paired and allowed to share nodes.
    """
    if len(splits) < 2:
        return None
    if basis.nodes:
        return joined_interval(first, second, level, width=basis.tested_part)
    ratio = float(np.mean([len(split.test) / len(split.train) for split in splits]))
    value = first.mean - second.mean
    half = resampled_half_width(first.per_run, second.per_run, ratio, level)
    return (value - half, value + half) if half > 0 else None
