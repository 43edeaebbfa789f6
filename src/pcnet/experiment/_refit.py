"""Runs trained once more with the labels that they had kept back to stop by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from pcnet.graph import Graph
from pcnet.nn import ModelSettings
from pcnet.training import Outcome, Run, Targets, train


def refitted(graph: Graph, trained: Sequence[tuple[Run, Outcome]], **how: Any) -> list[tuple[Run, Outcome]]:
    """Each run once more, now on its training and its validation nodes; `how` is what `train` takes besides.

    With no label left to stop by, a run takes the median of the epochs that were best for the runs of its settings: an
    epoch is one step, however many labels there are. Of these epochs it keeps the one that fits the labels best, by
    their loss, which is the last one unless that is a bad step.

    >>> from pcnet import csbm
    >>> from pcnet.experiment import resolve, run_experiment
    >>> graph = csbm(100, 0.8, features=4, seed=0)
    >>> result = run_experiment(graph, resolve(graph, "mlp", overrides=["epochs=3"], runs=1), members=2)
    >>> [len(run.targets.train) for run, _ in refitted(graph, result.members)]
    [100, 100]
    """
    best: dict[tuple[ModelSettings, str], list[int]] = defaultdict(list)
    for run, outcome in trained:
        best[_settings(run)].append(outcome.best_epoch)
    runs = []
    for run, _ in trained:
        epochs = 1 + round(float(np.median(best[_settings(run)])))
        training = replace(run.training, epochs=epochs, stopping="none", select="val_loss")
        own = run.targets
        nodes, labels = torch.cat([own.train, own.val]), torch.cat([own.train_labels, own.val_labels])
        targets = Targets(nodes, labels, nodes, labels, own.num_classes)
        runs.append(replace(run, training=training, targets=targets))
    pairs = zip(runs, train(graph, runs, **how), strict=True)
    # One that diverges only now remains what it was.
    return [kept if again[1].diverged else again for again, kept in zip(pairs, trained, strict=True)]


def _settings(run: Run) -> tuple[ModelSettings, str]:
    return run.model, repr(run.training)
