"""Which trained trials predict together: chosen by validation nodes, and free, since nothing is trained for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pcnet.compare import METRICS, Metric, logits_of

#: Trials that greedy selection chooses from, the best by themselves; how often one joins; and how many of the best may
#: have a plain mean.
LIBRARY, ROUNDS, BEST = 50, 50, (1, 3, 5, 10, 25)


def standing(probabilities: Tensor, labels: Tensor, metric: Metric) -> list[tuple[float, float]]:
    """Of each of M predictions (M, n, C) of n nodes, (−gain, log loss): what is smaller is better.

    The gain is the metric, with a minus where lower is better.
    """
    logits = logits_of(probabilities)
    truth = labels.expand(logits.shape[:2])
    counted = torch.ones_like(truth, dtype=torch.bool)
    gains = metric.sign * metric.of(logits, truth, counted)
    return list(zip((-gains).tolist(), METRICS["log_loss"].of(logits, truth, counted).tolist(), strict=True))


def greedy(probabilities: Tensor, labels: Tensor, metric: Metric) -> list[int]:
    """How often each of M trials is in the ensemble (Caruana et al., ICML 2004), by their predictions (M, n, C).

    p = Σ_m w_m p_m / Σ_m w_m. One after the other, and any number of times, that trial joins with which the mean of all
    that have joined is best by the metric; of equals the one with the lower log loss. The best of all rounds counts.

    >>> from pcnet.compare import metric_named
    >>> one, other, wrong = [[0.9, 0.1], [0.6, 0.4]], [[0.3, 0.7], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]
    >>> greedy(torch.tensor([one, other, wrong]), torch.tensor([0, 1]), metric_named("log_loss"))
    [13, 7, 0]
    """
    order = sorted(range(len(probabilities)), key=standing(probabilities, labels, metric).__getitem__)[:LIBRARY]
    library = probabilities[order].double()
    total, joined, counts = torch.zeros_like(library[0]), [], [0] * len(probabilities)
    best: tuple[tuple[float, float], int] | None = None
    for size in range(1, ROUNDS + 1):
        found = standing((total + library) / size, labels, metric)
        place = min(range(len(library)), key=found.__getitem__)
        total += library[place]
        joined.append(order[place])
        if best is None or found[place] < best[0]:
            best = found[place], size
    for trial in joined[: best[1] if best else 0]:
        counts[trial] += 1
    return counts


def mean_of_best(probabilities: Tensor, labels: Tensor, metric: Metric, sizes: Sequence[int] = BEST) -> list[int]:
    """1 for each of the k best of M trials, else 0; of the `sizes` k the one whose plain mean is best."""
    order = np.array(sorted(range(len(probabilities)), key=standing(probabilities, labels, metric).__getitem__))
    means = {k: probabilities[order[:k]].double().mean(dim=0) for k in sizes if k <= len(order)}
    found = dict(zip(means, standing(torch.stack(list(means.values())), labels, metric), strict=True))
    best = order[: min(found, key=found.__getitem__)]
    return [int(trial in best) for trial in range(len(order))]
