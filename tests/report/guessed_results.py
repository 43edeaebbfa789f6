"""Results as a training leaves them, with logits that a test can choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from pcnet import Graph, Outcome, PCNetSettings
from pcnet.evaluation import scores, summarise
from pcnet.experiments import Experiment, Result, splits_of
from pcnet.nn import ModelSettings

PROVENANCE = {"command": "pcnet train here", "versions": {"pcnet": "1"}, "machine": "a machine", "date": "2025-03-01"}


def guessed(graph: Graph, runs: int = 2, model: ModelSettings | None = None, skill: float = 2.0) -> Result:
    """A result whose logits are noise that leans to the true class; nothing is trained."""
    settings = PCNetSettings() if model is None else model
    experiment = Experiment(graph.name, "defaults", "random-60-20-20", tuple(range(runs)), model=settings)
    splits, outcomes = splits_of(graph, experiment), []
    classes = int(graph.y.max()) + 1
    for seed in experiment.seeds:
        random = torch.Generator().manual_seed(seed)
        logits = torch.randn(graph.num_nodes, classes, generator=random)
        logits += skill * torch.nn.functional.one_hot(graph.y.clamp(min=0), classes)
        curve = np.linspace(1, 0.5, 20) + 0.01 * np.cos(np.arange(20) + seed)
        network = settings.build(graph.num_features, classes, seed)
        outcomes.append(Outcome(network, logits, int(curve.argmin()), curve, 1 - curve))
    test, val = (
        [scores(o.logits, s.labels, getattr(s, part)) for o, s in zip(outcomes, splits, strict=True)]
        for part in ("test", "val")
    )
    summaries = [{m: summarise([run[m] for run in part]) for m in ("accuracy", "macro_f1")} for part in (test, val)]
    return Result(experiment, splits, outcomes, *summaries, 1.5)


def named(graph: Graph, pattern: str) -> Graph:
    """The graph with names for its classes and nodes."""
    ids = np.array([f"node {number}" for number in range(graph.num_nodes)])
    return replace(graph, classes=tuple(pattern.replace("#", str(k)) for k in range(graph.num_classes)), ids=ids)
