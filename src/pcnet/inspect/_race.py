"""Methods with their defaults race on a few splits of the labelled nodes: what is clearly worse trains no further."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pcnet._progress import OneStage, Progress
from pcnet.compare import METRICS, Metric, default_metric, metric_named
from pcnet.data import STRATIFIED, Split, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph
from pcnet.inspect._measures import Features, Neighbours
from pcnet.inspect._plan import FIRST, Candidate, Plan, missing_ways, planned
from pcnet.inspect._probe import WAYS, Attempt, Estimate, Probe, Way, difference, gain, redrawn
from pcnet.training import Run, Targets, train

#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30


def probe(
    graph: Graph,
    neighbours: Neighbours,
    features: Features,
    progress: Progress,
    *,
    splits: int | None = None,
    seed: int = 0,
    metric: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
) -> Probe:
    """Train methods on the same stratified splits, 60/20/20, and score them on the test nodes.

    What is tried follows from the size of the graph (see `planned`). Test labels choose no epoch: they are read when a
    run is trained.
    """
    graph = replace(graph, published_y=None, fixed_splits=())
    chosen = default_metric(graph.y) if metric is None else metric_named(metric)
    missing = missing_ways(features, neighbours)
    reason = _too_few(graph.y)
    if reason or len(missing) == len(WAYS):
        return Probe(chosen, missing=missing, skipped=reason or "There are neither features nor links to learn from.")
    plan = planned(graph, neighbours, features, splits, seed, metric)
    # Those of the sampled nodes, where nodes are sampled.
    graph = plan.candidates[0].graph
    reason = _too_few(graph.y)
    if reason:
        return Probe(chosen, missing=missing, skipped=reason)
    drawn = [make_split(graph, STRATIFIED, seed + number) for number in range(plan.splits)]
    race = _Race(chosen, drawn, threads, device, progress)
    attempts, failed = race.run(plan)
    if not attempts:
        return Probe(chosen, missing=missing, skipped=next(iter(failed.values())))
    note = plan.note
    if not note and len(race.splits) < plan.splits:
        note = f"{len(race.splits)} splits instead of {plan.splits} to keep it short; --splits takes the time."
    found = Probe(chosen, tuple(attempts), race.guess(), missing, {**plan.left_out, **failed}, note=note)
    return found if found.over_guess.by.low > 0 else replace(found, signal=race.signal())


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


class _Race:
    """Trains candidates on splits, and keeps what they answer on the test nodes; `splits` are those that were run."""

    def __init__(
        self, metric: Metric, splits: Sequence[Split], threads: int | None, device: str, progress: Progress
    ) -> None:
        self.splits = splits
        self._metric, self._threads, self._device, self._progress = metric, threads, device, progress
        self._logits: dict[str, list[Tensor]] = {}

    def run(self, plan: Plan) -> tuple[list[Attempt], dict[str, str]]:
        """All on the first splits, on more of them what may be the best of its way; and why any could not be."""
        first, rest = self.splits[:FIRST], self.splits[FIRST:]
        outcomes = {each: self._attempt(each, first) for each in plan.candidates}
        attempts = {each: found for each, found in outcomes.items() if isinstance(found, Attempt)}
        failed = {each.name: found for each, found in outcomes.items() if isinstance(found, str)}
        kept = [
            each
            for each, own in attempts.items()
            if not any(own.way == other.way and self._better(other, own) for other in attempts.values())
        ]
        rest = rest[: plan.further(kept)] if kept else []
        self.splits = [*first, *rest]
        for each in kept if rest else []:
            more = self._attempt(each, rest)
            if isinstance(more, Attempt):
                attempts[each] = attempts[each].joined(more)
        return list(attempts.values()), failed

    def guess(self) -> Attempt:
        """Always as often each class as in training: the log of its share."""
        shares = []
        for split in self.splits:
            counts = torch.bincount(split.labels[split.train], minlength=int(split.labels.max()) + 1)
            shares.append((counts / counts.sum()).clamp(min=1e-9).log().expand(len(split.test), -1))
        return _scored("guess", "always the same", shares, self.splits, self._metric)

    def signal(self) -> Estimate:
        """By how many points of ROC-AUC the best is above the 50 of any guess, whatever decides elsewhere."""
        auc = METRICS["roc_auc"]
        found = [_scored("both", name, each, self.splits, auc) for name, each in self._logits.items()]
        found.sort(key=lambda each: (each.splits < len(self.splits), -each.score.mean))
        blind = np.full(found[0].draws.shape, 50.0)
        return gain(found, [Attempt("guess", "", blind[:, 0], blind)]).by

    def _attempt(self, candidate: Candidate, splits: Sequence[Split]) -> Attempt | str:
        """A candidate's scores on these splits, or why there are none."""
        experiment = candidate.experiment
        runs = [Run(experiment.model, experiment.training, Targets.from_split(each), each.seed) for each in splits]
        self._progress.stage(f"trying {candidate.name}", len(runs) * experiment.training.epochs)
        try:
            with warnings.catch_warnings():
                # The inspection has a sentence of its own about directed edges.
                warnings.simplefilter("ignore", PcnetWarning)
                outcomes = train(
                    candidate.graph,
                    runs,
                    threads=self._threads,
                    device=self._device,
                    progress=OneStage(self._progress, "training"),
                )
        except PcnetError as error:
            return str(error)
        except (MemoryError, torch.cuda.OutOfMemoryError):
            return "There is not enough memory for it."
        if any(outcome.diverged for outcome in outcomes):
            return "Its training diverged."
        logits = [outcome.logits[each.test].cpu() for outcome, each in zip(outcomes, splits, strict=True)]
        self._logits.setdefault(candidate.name, []).extend(logits)
        found = _scored(candidate.way, candidate.name, logits, splits, self._metric)
        return replace(found, method=candidate.method, settings=candidate.settings)

    def _better(self, one: Attempt, other: Attempt) -> bool:
        return difference(one, other, self._metric.sign).low > 0


def _scored(way: Way, name: str, logits: Sequence[Tensor], splits: Sequence[Split], metric: Metric) -> Attempt:
    """Scores of these logits on test nodes; where there are fewer than splits, they are of the first ones."""
    pairs = [(own, split.labels[split.test], split.seed) for own, split in zip(logits, splits, strict=False)]
    per_run = np.array([metric.score(own, labels) for own, labels, _ in pairs])
    return Attempt(way, name, per_run, np.stack([redrawn(metric, *pair) for pair in pairs]))
