"""Methods with their defaults on a few splits of the labelled nodes: what each makes of features, links and both."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pcnet.compare import METRICS, Metric, default_metric, metric_named
from pcnet.data import STRATIFIED, Split, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph
from pcnet.inspect._candidates import Candidate, missing_ways
from pcnet.inspect._features import Features
from pcnet.inspect._links import Neighbours
from pcnet.inspect._plan import FIRST, Plan, planned
from pcnet.inspect._probe import WAYS, Probe
from pcnet.inspect._tried import Estimate, Tried, Way, difference, gain, redrawn
from pcnet.training import Run, Targets, train

#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30

Tell = Callable[[str, float], None]


def probe(
    graph: Graph,
    neighbours: Neighbours,
    features: Features,
    *,
    splits: int | None = None,
    seed: int = 0,
    metric: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    tell: Tell | None = None,
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
    trial = _Trial(chosen, drawn, threads, device, tell)
    tried, failed = trial.run(plan)
    if not tried:
        return Probe(chosen, missing=missing, skipped=next(iter(failed.values())))
    found = Probe(chosen, tuple(tried), trial.guess(), missing, {**plan.left_out, **failed}, note=trial.note(plan))
    return found if found.over_guess.by.low > 0 else replace(found, signal=trial.signal())


def _too_few(y: Tensor) -> str:
    """Why these labels allow no probe; empty where they do."""
    labels = y[y >= 0]
    counts = torch.bincount(labels)
    if int((counts > 0).sum()) < 2:
        return "A probe needs labelled nodes of two classes at least."
    if len(labels) < LEAST:
        return f"{len(labels)} labelled nodes are too few to try anything out; {LEAST} would do."
    if int((counts > 2).sum()) < 2:
        return "Only one class has three nodes or more, so there is nothing to tell it from in a test."
    return ""


class _Trial:
    """Trains candidates on splits, and keeps what they say of the test nodes."""

    def __init__(
        self, metric: Metric, splits: Sequence[Split], threads: int | None, device: str, tell: Tell | None
    ) -> None:
        self._metric, self._splits, self._threads, self._device = metric, splits, threads, device
        self._watch = _Share(tell)
        self._logits: dict[str, list[Tensor]] = {}

    def run(self, plan: Plan) -> tuple[list[Tried], dict[str, str]]:
        """All on the first splits, on more of them what may be the best of its way; and why any could not be."""
        first, rest = self._splits[:FIRST], self._splits[FIRST:]
        self._watch.all = FIRST * sum(each.seconds for each in plan.candidates)
        tried: list[tuple[Candidate, Tried]] = []
        failed: dict[str, str] = {}
        for each in plan.candidates:
            outcome = self._attempt(each, first)
            if isinstance(outcome, str):
                failed[each.name] = outcome
            else:
                tried.append((each, outcome))
        worse = {own.name for _, own in tried if any(_given_up(own, other, self._metric) for _, other in tried)}
        kept = [each for each, own in tried if own.name not in worse]
        rest = rest[: plan.further(kept)] if kept else []
        self._splits = [*first, *rest]
        self._watch.all += len(rest) * sum(each.seconds for each in kept)
        found = []
        for each, own in tried:
            more = self._attempt(each, rest) if rest and each in kept else ""
            found.append(own if isinstance(more, str) else own.joined(more))
        return found, failed

    def note(self, plan: Plan) -> str:
        """What was cut for the sake of time."""
        if plan.note or len(self._splits) == plan.splits:
            return plan.note
        return f"{len(self._splits)} splits instead of {plan.splits} to keep it short; --splits takes the time."

    def guess(self) -> Tried:
        """Always as often each class as in training: the log of its share."""
        shares = []
        for split in self._splits:
            counts = torch.bincount(split.labels[split.train], minlength=int(split.labels.max()) + 1)
            shares.append((counts / counts.sum()).clamp(min=1e-9).log().expand(len(split.test), -1))
        return self._scored("guess", "always the same", shares, self._splits)

    def signal(self) -> Estimate:
        """By how many points of ROC-AUC the best is above the 50 of any guess, whatever decides elsewhere."""
        auc = METRICS["roc_auc"]
        found = [self._scored("both", name, each, self._splits, auc) for name, each in self._logits.items()]
        found.sort(key=lambda each: (each.splits < len(self._splits), -each.score.mean))
        blind = np.full(found[0].draws.shape, 50.0)
        return gain(found, [Tried("guess", "", blind[:, 0], blind)])

    def _attempt(self, candidate: Candidate, splits: Sequence[Split]) -> Tried | str:
        """A candidate's scores on these splits, or why there are none."""
        experiment = candidate.experiment
        runs = [Run(experiment.model, experiment.training, Targets.from_split(each), each.seed) for each in splits]
        self._watch.begin(candidate.name, candidate.seconds / experiment.training.epochs)
        try:
            with warnings.catch_warnings():
                # That edges are directed is said in the inspection's own words.
                warnings.simplefilter("ignore", PcnetWarning)
                outcomes = train(
                    candidate.graph, runs, threads=self._threads, device=self._device, progress=self._watch
                )
        except PcnetError as error:
            return str(error)
        except (MemoryError, torch.cuda.OutOfMemoryError):
            return "There is not enough memory for it."
        if any(outcome.diverged for outcome in outcomes):
            return "Its training diverged."
        logits = [outcome.logits[each.test].cpu() for outcome, each in zip(outcomes, splits, strict=True)]
        self._logits.setdefault(candidate.name, []).extend(logits)
        found = self._scored(candidate.way, candidate.name, logits, splits)
        return replace(found, method=candidate.method, settings=candidate.settings)

    def _scored(
        self, way: Way, name: str, logits: Sequence[Tensor], splits: Sequence[Split], metric: Metric | None = None
    ) -> Tried:
        """Scores of these logits on test nodes; where there are fewer than splits, they are of the first ones."""
        metric = metric or self._metric
        pairs = [(own, split.labels[split.test], split.seed) for own, split in zip(logits, splits, strict=False)]
        per_run = np.array([metric.score(own, labels) for own, labels, _ in pairs])
        return Tried(way, name, per_run, np.stack([redrawn(metric, *pair) for pair in pairs]))


def _given_up(own: Tried, other: Tried, metric: Metric) -> bool:
    """Whether another that may look at the same is clearly better."""
    return own.way == other.way and difference(other, own, metric.sign).low > 0


class _Share:
    """Epochs of single runs, told as a share of the seconds that all are expected to take."""

    def __init__(self, tell: Tell | None) -> None:
        self.all = 0.0
        self._what, self._tell, self._done, self._each = "", tell, 0.0, 0.0
        self._lock = threading.Lock()

    def begin(self, what: str, seconds: float) -> None:
        """The next is trained, and takes so many seconds an epoch."""
        self._what, self._each = what, seconds

    def stage(self, title: str, total: int) -> None: ...

    def advance(self, units: int = 1) -> None:
        with self._lock:
            self._done += units * self._each
            if self._tell is not None:
                self._tell(self._what, min(1.0, self._done / self.all))
