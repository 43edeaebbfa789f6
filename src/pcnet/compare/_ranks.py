"""Average ranks of methods over datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pcnet._checks import FloatArray
from pcnet.errors import PcnetError


def mid_ranks(values: FloatArray) -> FloatArray:
    """#{smaller} + (#{equal} + 1) / 2: ranks from 1 for the smallest; equal values share the mean of their places."""
    smaller = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return smaller + (equal + 1) / 2


def average_ranks(means: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Mean over datasets of each method's rank, 1 for the highest mean; `means` has one row a method.

    Equal means share the mean of their places. A method without a figure on a dataset (None: out of memory) takes the
    last place there, and several of them share the last places; leaving such a dataset out for them instead would pay
    for failing on it. These are the rules behind the column Avg.Rank of the paper's Table 3, which they reproduce. A
    dataset on which no method has a figure ranks nobody and is left out.
    """
    if len({len(row) for row in means.values()}) != 1:
        raise PcnetError("Ranks need one or more methods, each with a mean or None for every dataset.")
    if not all(mean is None or np.isfinite(mean) for row in means.values() for mean in row):
        raise PcnetError("A mean is no finite number; ranks take None where a method has none.")
    scores = np.array([[-np.inf if mean is None else mean for mean in row] for row in means.values()])
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    if scores.shape[1] == 0:
        raise PcnetError("Ranks need at least one dataset on which a method has a mean.")
    ranks = np.mean([mid_ranks(-column) for column in scores.T], axis=0)
    return dict(zip(means, ranks.tolist(), strict=True))
