"""Methods with their defaults race on a few splits of the labelled nodes: what is clearly worse trains no further."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from pcnet._progress import OneStage, Progress
from pcnet.compare import METRICS, Metric, default_metric, metric_named
from pcnet.data import STRATIFIED, Split, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph
from pcnet.inspect._measures import Features, Neighbours
from pcnet.inspect._plan import FIRST, Candidate, missing_ways, planned
from pcnet.inspect._probe import WAYS, Attempt, Estimate, Probe, Way, difference, gain, redrawn
from pcnet.training import Run, Targets, train

#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30


def probe(
    graph: Graph,
    neighbours: Neighbours,
    features: Features,
    progress: Progress,
    splits: int | None = None,
    seed: int = 0,
    metric: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
) -> Probe:
    """Train methods on the same stratified splits, 60/20/20, and score them on the test nodes.

    What is tried follows from the size of the graph (see `planned`): all on the first splits, and on more of them what
    may be the best of its way. Test labels choose no epoch: they are read when a run is trained.
    """
    graph = replace(graph, published_y=None, fixed_splits=())
    decides = default_metric(graph.y) if metric is None else metric_named(metric)
    missing = missing_ways(features, neighbours)
    nothing = "There are neither features nor links to learn from." if len(missing) == len(WAYS) else ""
    if reason := _too_few(graph.y) or nothing:
        return Probe(decides, missing=missing, skipped=reason)
    plan = planned(graph, neighbours, features, splits, seed, metric)
    # Those of the sampled nodes, where nodes are sampled.
    graph = plan.candidates[0].graph
    if reason := _too_few(graph.y):
        return Probe(decides, missing=missing, skipped=reason)
    drawn = [make_split(graph, STRATIFIED, seed + number) for number in range(plan.splits)]
    attempt = partial(_attempt, metric=decides, progress=progress, threads=threads, device=device)
    first = drawn[:FIRST]
    outcomes = {each: attempt(each, first) for each in plan.candidates}
    failed = {each.name: found for each, found in outcomes.items() if isinstance(found, str)}
    attempts = {each: found for each, found in outcomes.items() if isinstance(found, Attempt)}
    if not attempts:
        return Probe(decides, missing=missing, skipped=next(iter(failed.values())))
    kept = [
        each
        for each, own in attempts.items()
        if not any(own.way == other.way and difference(other, own, decides.sign).low > 0 for other in attempts.values())
    ]
    rest = drawn[FIRST:][: plan.further(kept)]
    for each in kept if rest else []:
        more = attempt(each, rest)
        if isinstance(more, Attempt):
            attempts[each] = attempts[each].joined(more)
    run = [*first, *rest]
    note = plan.note
    if not note and len(run) < plan.splits:
        note = f"{len(run)} splits instead of {plan.splits} to keep it short; --splits takes the time."
    tried, left_out = tuple(attempts.values()), {**plan.left_out, **failed}
    found = Probe(decides, tried, _guess(run, decides), missing, left_out, note=note)
    return found if found.over_guess.by.low > 0 else replace(found, signal=_signal(found.attempts, run))


def _attempt(
    candidate: Candidate, splits: Sequence[Split], metric: Metric, progress: Progress, threads: int | None, device: str
) -> Attempt | str:
    """A candidate's scores on these splits, or why there are none."""
    model, training = candidate.experiment.model, candidate.experiment.training
    runs = [Run(model, training, Targets.from_split(each), each.seed) for each in splits]
    progress.stage(f"trying {candidate.name}", len(runs) * training.epochs)
    shown = OneStage(progress, "training")
    try:
        with warnings.catch_warnings():
            # The inspection has a sentence of its own about directed edges.
            warnings.simplefilter("ignore", PcnetWarning)
            outcomes = train(candidate.graph, runs, threads=threads, device=device, progress=shown)
    except PcnetError as error:
        return str(error)
    except (MemoryError, torch.cuda.OutOfMemoryError):
        return "There is not enough memory for it."
    if any(outcome.diverged for outcome in outcomes):
        return "Its training diverged."
    logits = [outcome.logits[each.test].cpu() for outcome, each in zip(outcomes, splits, strict=True)]
    found = _scored(candidate.way, candidate.name, logits, splits, metric)
    return replace(found, method=candidate.method, settings=candidate.settings)


def _too_few(y: Tensor) -> str:
    """Why these labels allow no probe; empty where they do."""
    labels = y[y >= 0]
    counts = torch.bincount(labels)
    if int((counts > 0).sum()) < 2:
        return "A probe needs labelled nodes of two classes at least."
    if len(labels) < LEAST:
        return f"{len(labels)} labelled nodes are too few to try anything out; {LEAST} would do."
    if int((counts > 2).sum()) < 2:
        return "Only one class has three nodes or more, so a test has nothing to distinguish it from."
    return ""


def _guess(splits: Sequence[Split], metric: Metric) -> Attempt:
    """Always as often each class as in training: the log of its share."""
    shares = []
    for split in splits:
        counts = torch.bincount(split.labels[split.train], minlength=int(split.labels.max()) + 1)
        shares.append((counts / counts.sum()).clamp(min=1e-9).log().expand(len(split.test), -1))
    return _scored("guess", "always the same", shares, splits, metric)


def _signal(attempts: Sequence[Attempt], splits: Sequence[Split]) -> Estimate:
    """By how many points of ROC-AUC the best is above the 50 of any guess, whatever decides elsewhere."""
    found = [_scored("both", each.name, each.logits, splits, METRICS["roc_auc"]) for each in attempts]
    found.sort(key=lambda each: (each.splits < len(splits), -each.score.mean))
    blind = np.full(found[0].draws.shape, 50.0)
    return gain(found, [Attempt("guess", "", blind[:, 0], blind)]).by


def _scored(way: Way, name: str, logits: Sequence[Tensor], splits: Sequence[Split], metric: Metric) -> Attempt:
    """Scores of these logits on test nodes; where there are fewer than splits, they are of the first ones."""
    pairs = [(own, split.labels[split.test], split.seed) for own, split in zip(logits, splits, strict=False)]
    per_run = np.array([metric.score(own, labels) for own, labels, _ in pairs])
    return Attempt(way, name, per_run, np.stack([redrawn(metric, *pair) for pair in pairs]), logits=tuple(logits))
