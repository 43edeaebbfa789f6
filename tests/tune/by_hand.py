"""A search as a plain loop."""

from __future__ import annotations

import numpy as np

from pcnet import Run, Targets, make_split, train
from pcnet.compare import scores
from pcnet.tune._space import settings_of


def by_hand(graph, experiment, space, trials, metric="accuracy"):
    """Every trial on every split, one run after the other: validation and test score, (trials + 1, splits) each.

    The last row is that of the defaults, whose number is −1.
    """
    val, test = np.zeros((2, trials + 1, len(experiment.seeds)))
    losses = np.zeros_like(val)
    base = experiment.model, experiment.training
    for trial in range(-1, trials):
        model, training = base if trial < 0 else settings_of(space.draw(0, trial), base)
        for place, number in enumerate(experiment.seeds):
            split = make_split(graph, experiment.protocol, number)
            (outcome,) = train(graph, [Run(model, training, Targets.from_split(split), number)], threads=1)
            val[trial, place] = scores(outcome.logits, split.labels, split.val)[metric]
            test[trial, place] = scores(outcome.logits, split.labels, split.test)[metric]
            losses[trial, place] = outcome.val_loss[outcome.best_epoch]
    return val, test, losses
