"""`auto`: a contest for an honest estimate, and its ensemble, trained once more with every label, to predict."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import positive_number
from pcnet._progress import Progress
from pcnet.compare import Summary, logits_of, scores, summarise
from pcnet.data import Split
from pcnet.experiment import Experiment, Pooled, Result, check_scorable, estimates, splits_of
from pcnet.graph import Graph, require_labels
from pcnet.nn import Model
from pcnet.training import Outcome
from pcnet.tune._compete import Chosen, compete
from pcnet.tune._contest import Contest
from pcnet.tune._members import Members, affordable, train_members, workers_of

#: What commands call it, and the minutes that it has where nobody says how many.
AUTO, MINUTES = "auto", 5.0
#: The share of the time that is kept for training what was chosen once more, with every label.
RESERVE = 0.25


@dataclass(frozen=True, eq=False)
class Auto:
    """What `auto` came to: a contest for every split, and the result."""

    result: Result
    contests: Sequence[Chosen]


def auto(
    graph: Graph,
    experiment: Experiment,
    folder: Path,
    *,
    minutes: float | None = None,
    trials: int | None = None,
    methods: Sequence[str] = (),
    refit: bool = False,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> Auto:
    """Let methods and settings compete, and say how good what wins is on nodes that it knew nothing of.

    Args:
        graph: with labels on two or more classes.
        experiment: the splits and the metric: on the training and validation nodes of each split there is a contest,
            whose ensemble is scored on its test nodes.
        folder: keeps the contests; one that was interrupted goes on from there.
        minutes: for all of it, where `trials` do not say how much there is to do: then nothing depends on time.
        methods: those that compete; all that can, by default.
        refit: train what predicts once more with no label kept back to stop by (see `refitted`); the scores are about
            models that knew fewer.

    Returns:
        The contests, and as a result the scores of their ensembles. What predicts are the members of the first one's,
        trained once more with every label. An interrupt ends a contest, and then the training, with what is there.

    Raises:
        PcnetError: a graph without labels, splits that the metric says nothing on, no time for a single method.

    >>> import tempfile
    >>> from pcnet import csbm
    >>> from pcnet.experiment import resolve
    >>> graph = csbm(60, 0.9, features=4, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = auto(graph, resolve(graph, runs=1), Path(folder), trials=1, methods=["mlp"])
    >>> len(found.contests[0].members), len(found.result.members)
    (1, 5)
    """
    require_labels(graph)
    start, splits = time.monotonic(), splits_of(graph, experiment)
    check_scorable(experiment.scored_by, splits)
    whole = None if trials is not None else 60 * positive_number("minutes", MINUTES if minutes is None else minutes)
    each = None if whole is None else (1 - RESERVE) * whole / len(splits)
    how: dict[str, Any] = {"threads": threads, "device": device, "progress": progress}
    contest = Contest.on(
        graph,
        len(splits[0].train) + len(splits[0].val),
        experiment.metric,
        protocol=experiment.protocol,
        seed=experiment.seeds[0],
        trials=trials,
        seconds=each,
        methods=methods,
        select=experiment.training.select,
    )
    contests = []
    for split, seed in zip(splits, experiment.seeds, strict=True):
        known = torch.cat([split.train, split.val]).sort().values
        place = folder / f"contest-{seed}"
        contests.append(compete(graph, contest, known, place, held=split.test, seconds=each, **how))
    members = affordable(contests[0].members, _left(whole, start, refit), workers_of(how))
    kept = train_members(graph, contest, members, refit=refit, **how)
    best = members[0]
    named = replace(experiment, preset=AUTO, row=AUTO, of_a_preset=False, paper=None, rerun=None, source="")
    named = replace(named, model=best.settings[0], training=best.settings[1])
    model = kept.trained[0][1].model
    outcomes = [_answers(graph, split, chosen, model) for split, chosen in zip(splits, contests, strict=True)]
    test, val = (_summaries(splits, outcomes, part) for part in ("test", "val"))
    # A single split says nothing of splits: the interval is about nodes, whatever the protocol.
    unlabelled = graph.num_nodes - len(graph.labelled)
    pooled = Pooled.of(splits, [outcome.logits for outcome in outcomes])
    test = dict(estimates(pooled, {name: test[name] for name in test if name in val}, unlabelled))
    parts = tuple(kept.trained), tuple(kept.weights), tuple(kept.refitted)
    return Auto(Result(named, splits, outcomes, test, val, time.monotonic() - start, *parts), contests)


def champions(
    graph: Graph,
    known: Tensor,
    folder: Path,
    minutes: float | None = None,
    *,
    metric: str | None = None,
    seed: int = 0,
    methods: Sequence[str] = (),
    refit: bool = False,
    **how: Any,
) -> tuple[Chosen, Members]:
    """A contest for all the `known` labels, its end, and the members of its ensemble.

    There is no estimate beyond its own scores. `how` is what `compete` takes besides: threads, device, progress.
    """
    start, whole = time.monotonic(), 60 * positive_number("minutes", MINUTES if minutes is None else minutes)
    contest = Contest.on(graph, len(known), metric, seed=seed, seconds=(1 - RESERVE) * whole, methods=methods)
    chosen = compete(graph, contest, known.sort().values, folder, seconds=contest.seconds, **how)
    members = affordable(chosen.members, _left(whole, start, refit), workers_of(how))
    return chosen, train_members(graph, contest, members, refit=refit, **how)


def _left(whole: float | None, start: float, refit: bool) -> float:
    """Seconds for the folds of the members; to refit them takes no longer than that once more."""
    return math.inf if whole is None else (whole - (time.monotonic() - start)) / (2 if refit else 1)


def _answers(graph: Graph, split: Split, chosen: Chosen, model: Model) -> Outcome:
    """The ensemble's answers as those of a run, each where it knew no label; epochs are trials, the best one so far."""
    logits = torch.zeros(graph.num_nodes, chosen.held.shape[1], dtype=torch.float32)
    logits[chosen.known] = logits_of(chosen.probabilities).float()
    logits[split.test] = logits_of(chosen.held).float()
    ordered = sorted(chosen.ranking, key=lambda each: each.trial)
    shares = np.array([each.score for each in ordered]) / chosen.metric.scale
    best = np.maximum.accumulate(chosen.metric.sign * shares)
    return Outcome(lambda: model, logits, int(best.argmax()), np.full(len(best), np.nan), best)


def _summaries(splits: Sequence[Split], outcomes: Sequence[Outcome], part: str) -> dict[str, Summary]:
    """By every metric, the scores on the test nodes; or "val", on all others, by answers that knew no label of them."""

    def nodes(split: Split) -> Tensor:
        return split.test if part == "test" else torch.cat([split.train, split.val])

    pairs = zip(splits, outcomes, strict=True)
    each = [scores(outcome.logits, split.labels, nodes(split)) for split, outcome in pairs]
    return {name: summarise([own[name] for own in each]) for name in each[0] if all(name in own for own in each)}
