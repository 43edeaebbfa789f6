"""A contest from beginning to end: train what competes, and choose what is to predict together."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from pcnet._progress import Progress, Silent
from pcnet.compare import Metric, temperature
from pcnet.errors import PcnetError
from pcnet.experiment import VAL_SHARE, method_name, targets_of_all
from pcnet.graph import Graph
from pcnet.training import Targets, available_threads
from pcnet.tune._answers import Answers
from pcnet.tune._clock import Clock
from pcnet.tune._contest import Contest
from pcnet.tune._room import Room
from pcnet.tune._select import greedy, standing
from pcnet.tune._space import Settings, Values
from pcnet.tune._store import Store
from pcnet.tune._strategies import Results
from pcnet.tune._worker import Worker

#: Runs of each core that are trained together: an interrupt loses them.
TOGETHER = 8


@dataclass(frozen=True)
class Ranked:
    """A trial that was trained on all folds: its settings, its score where it knew no label, and its weight."""

    trial: int
    values: Values
    settings: Settings
    score: float
    seconds: float
    #: Seconds of training in all, when it was complete.
    ended: float
    weight: int

    @property
    def title(self) -> str:
        """The method, as its authors write it."""
        return method_name(self.settings[0].method)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The end of a contest: who came how far, and the ensemble's answers."""

    metric: Metric
    #: Best first.
    ranking: Sequence[Ranked]
    #: By the metric, where no label was known: the ensemble's.
    score: float
    #: The nodes that competed, and the ensemble's probabilities for them where it knew no label of theirs.
    known: Tensor
    probabilities: Tensor
    #: Its probabilities for the nodes that were held back, and those of the best trial alone.
    held: Tensor
    held_of_best: Tensor
    trials: int
    runs: int
    #: Of each method, how many settings were left out because a run would take too much of the time, or of the memory.
    slow: Mapping[str, int]
    too_big: Mapping[str, int]

    @property
    def members(self) -> list[Ranked]:
        """Those who are in the ensemble."""
        return [each for each in self.ranking if each.weight]


def compete(
    graph: Graph,
    contest: Contest,
    known: Tensor,
    folder: Path,
    *,
    held: Tensor | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> Chosen:
    """Let methods and settings compete for the `known` labels until there is no trial, or no time, left.

    Everything is kept in the `folder`, from which an interrupted contest goes on. An interrupt ends it with what is
    there, if at least one trial is complete.
    """
    targets = [targets_of_all(graph, known, VAL_SHARE, seed) for seed in contest.seeds]
    workers = threads or available_threads() if torch.device(device).type == "cpu" else 1
    contest = replace(contest, room=Room.on(graph, workers, device))
    clock = None if seconds is None else Clock(progress or Silent(), seconds)
    nodes, shown = torch.empty(0, dtype=torch.int64) if held is None else held, clock or progress or Silent()
    limit = None if clock is None else clock.is_over
    others = [nodes] * contest.splits
    with Store(folder, contest.description(graph, targets)) as store, Answers(folder, targets, others) as answers:
        how = threads, torch.device(device), shown, [answers], TOGETHER, limit
        worker = Worker(graph, contest, targets, store, *how)
        try:
            worker.run()
        except KeyboardInterrupt:
            if not contest.has_begun(store.results()):
                raise
        if contest.has_begun(store.results()):
            return _chosen(contest, store.results(), answers, targets)
    shutil.rmtree(folder)
    raise PcnetError(
        f"{seconds:.3g} seconds are not enough to train a single method on {graph.name}; give it more time."
    )


def _chosen(contest: Contest, results: Results, answers: Answers, targets: Sequence[Targets]) -> Chosen:
    """Weigh what was trained on all folds by its answers where it knew no label."""
    complete = [each.trial for each in results.ranking(contest.splits) if math.isfinite(each.loss)]
    if not complete:
        raise PcnetError("Every trial diverged; lower the learning rates of the spaces, or leave out strange features.")
    labels = torch.cat([own.val_labels for own in targets])
    known, held = [], []
    for trial in complete:
        val, others = zip(*(answers.of(trial, fold) for fold in range(contest.splits)), strict=True)
        heats = [temperature(logits, own.val_labels) for logits, own in zip(val, targets, strict=True)]
        known.append(torch.cat([(z.double() / heat).softmax(1) for z, heat in zip(val, heats, strict=True)]))
        elsewhere = [(z.double() / heat).softmax(1) for z, heat in zip(others, heats, strict=True)]
        held.append(torch.stack(elsewhere).mean(0))
    everyone = torch.stack(known)
    weights = greedy(everyone, labels, contest.metric)
    shares = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    ranking = [
        Ranked(
            trial,
            results.values[trial],
            contest.settings(trial, results.values[trial]),
            contest.metric.scale * contest.metric.sign * -gain,
            results.seconds_of[trial],
            results.ended[trial],
            weight,
        )
        for trial, weight, (gain, _) in zip(complete, weights, standing(everyone, labels, contest.metric), strict=True)
    ]
    together = torch.einsum("m,mnc->nc", shares, everyone)
    ((gain, _),) = standing(together[None], labels, contest.metric)
    # In a small class a node may be in several folds.
    nodes, places = torch.cat([own.val for own in targets]).unique(return_inverse=True)
    times = torch.bincount(places).unsqueeze(1)
    mean = torch.zeros(len(nodes), together.shape[1], dtype=torch.float64).index_add_(0, places, together) / times
    return Chosen(
        contest.metric,
        ranking,
        contest.metric.scale * contest.metric.sign * -gain,
        nodes,
        mean,
        torch.einsum("m,mnc->nc", shares, torch.stack(held)),
        held[0],
        len(results.scores),
        results.runs,
        *contest.left_out(results),
    )
