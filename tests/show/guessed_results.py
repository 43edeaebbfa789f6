"""Results as a training leaves them, with logits that a test can choose."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from pcnet import Graph, Outcome, PCNetSettings, Split
from pcnet.compare import scores, summarise
from pcnet.experiment import Experiment, Pooled, Result, splits_of
from pcnet.experiment._estimate import estimates
from pcnet.nn import ModelSettings

PROVENANCE = {"command": "pcnet train here", "versions": {"pcnet": "1"}, "machine": "a machine", "date": "2025-03-01"}


def guessed(
    graph: Graph,
    runs: int = 2,
    model: ModelSettings | None = None,
    skill: float = 2.0,
    protocol: str = "random-60-20-20",
    metric: str = "accuracy",
) -> Result:
    """A result whose logits are noise that leans to the true class; nothing is trained."""
    settings = PCNetSettings() if model is None else model
    experiment = Experiment(graph.name, "defaults", protocol, tuple(range(runs)), model=settings).with_metric(metric)
    splits, outcomes = splits_of(graph, experiment), []
    classes = int(graph.y.max()) + 1
    for seed in experiment.seeds:
        random = torch.Generator().manual_seed(seed)
        logits = torch.randn(graph.num_nodes, classes, generator=random)
        logits += skill * torch.nn.functional.one_hot(graph.y.clamp(min=0), classes)
        curve = np.linspace(1, 0.5, 20) + 0.01 * np.cos(np.arange(20) + seed)
        make_model = partial(settings.build, graph.num_features, classes, seed)
        outcomes.append(Outcome(make_model, logits, int(curve.argmin()), curve, 1 - curve))
    return scored(experiment, splits, outcomes, graph)


def scored(experiment: Experiment, splits: list[Split], outcomes: list[Outcome], graph: Graph) -> Result:
    """The result of these logits, summed up as a training does."""
    each = [
        [scores(o.logits, s.labels, getattr(s, part)) for o, s in zip(outcomes, splits, strict=True)]
        for part in ("test", "val")
    ]
    test, val = ({m: summarise([run[m] for run in part]) for m in part[0]} for part in each)
    if not experiment.follows_paper:
        pooled = Pooled.of(splits, [outcome.logits for outcome in outcomes])
        test = dict(estimates(pooled, test, int((graph.y < 0).sum())))
    return Result(experiment, splits, outcomes, test, val, 1.5)


def named(graph: Graph, pattern: str) -> Graph:
    """The graph with names for its classes and nodes."""
    ids = np.array([f"node {number}" for number in range(graph.num_nodes)])
    return replace(graph, classes=tuple(pattern.replace("#", str(k)) for k in range(graph.num_classes)), ids=ids)
