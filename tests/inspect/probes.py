"""Probes with scores that a test makes up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pcnet.compare import METRICS
from pcnet.inspect import Attempt, Estimate, Probe
from pcnet.inspect._probe import RESAMPLES, Way

METHODS: Mapping[Way, str] = {"features": "mlp", "graph": "", "both": "pcnet", "guess": ""}


def tried(way: Way, mean: float, spread: float = 0.1, *, splits: int = 5, name: str = "", seed: int = 0) -> Attempt:
    """Scores around a mean; each draw of one split is off by about `spread`, whatever others do."""
    random = np.random.default_rng([seed, round(1000 * mean), *way.encode()])
    draws = mean + spread * random.standard_normal((splits, RESAMPLES))
    return Attempt(way, name or f"{way} model", np.full(splits, mean), draws, name or METHODS[way])


def probe(
    features: float | None,
    graph: float | None,
    both: float | None,
    *,
    spread: float = 0.1,
    guess: float = 50.0,
    signal: Estimate | None = None,
    metric: str = "accuracy",
) -> Probe:
    """One method of each way, on five splits."""
    means: Mapping[Way, float | None] = {"features": features, "graph": graph, "both": both}
    found = tuple(tried(way, mean, spread) for way, mean in means.items() if mean is not None)
    missing = {way: "There is none." for way, mean in means.items() if mean is None}
    return Probe(METRICS[metric], found, tried("guess", guess, 0.0), missing, signal=signal)
