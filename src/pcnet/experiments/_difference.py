"""How sure it is that one method, or one setting, is better than another on the same splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pcnet.data import Split
from pcnet.evaluation import LEVEL, Summary, joined_interval, resampled_half_width


def difference_interval(
    first: Summary, second: Summary, splits: Sequence[Split], *, about_nodes: bool, level: float = 1 - LEVEL
) -> tuple[float, float] | None:
    """For first − second; None where a single split, or the very same difference on all, cannot say how sure it is.

    Scores with intervals about nodes are joined; of means over runs, the runs are paired and allowed to share nodes.
    """
    if len(splits) < 2:
        return None
    if about_nodes:
        return joined_interval(first, second, level)
    ratio = float(np.mean([len(split.test) / len(split.train) for split in splits]))
    value = first.mean - second.mean
    half = resampled_half_width(first.per_run, second.per_run, ratio, level)
    return (value - half, value + half) if half > 0 else None
