"""The members of an ensemble, trained anew with every label that there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from pcnet._progress import OneStage, Progress, Silent
from pcnet.errors import PcnetError
from pcnet.experiment import VAL_SHARE, refitted, targets_of_all
from pcnet.graph import Graph
from pcnet.training import Outcome, Run, available_threads, train
from pcnet.tune._compete import Ranked
from pcnet.tune._contest import Contest


@dataclass(frozen=True, eq=False)
class Members:
    """Runs that predict together, each stopped by a fold of the labels, and their weights."""

    trained: list[tuple[Run, Outcome]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    #: The same runs once more with no label kept back, where that is asked for.
    refitted: list[tuple[Run, Outcome]] = field(default_factory=list)


def affordable(members: Sequence[Ranked], seconds: float, workers: int) -> list[Ranked]:
    """The heaviest members that `workers` can train in the time, and at least one."""
    ordered = sorted(members, key=lambda each: -each.weight)
    spent = np.cumsum([each.seconds for each in ordered])
    return ordered[: max(1, int((spent <= workers * seconds).sum()))]


def workers_of(how: Mapping[str, Any]) -> int:
    """Who trains at the same time, by what `train` takes."""
    on_cpu = torch.device(how.get("device", "cpu")).type == "cpu"
    return int(how.get("threads") or available_threads()) if on_cpu else 1


def train_members(
    graph: Graph,
    contest: Contest,
    members: Sequence[Ranked],
    *,
    refit: bool = False,
    progress: Progress | None = None,
    **how: Any,
) -> Members:
    """Train members on folds of every label, as few at a time as keep all workers busy; with `refit`, once more on all
    labels.

    After an interrupt those predict that are trained. The first ones are trained in any case: they begin anew, and only
    another interrupt ends them. `how` is what `train` takes besides.
    """
    targets = [targets_of_all(graph, graph.labelled, VAL_SHARE, seed) for seed in contest.seeds]
    shown, found = progress or Silent(), Members()
    together = -(-workers_of(how) // contest.splits)

    def add(first: int) -> None:
        some = members[first : first + together]
        title = f"training {some[0].title} with every label, {first + 1} of {len(members)}"
        shown.stage(title, contest.splits * sum(member.settings[1].epochs for member in some))
        own: dict[str, Any] = {**how, "progress": OneStage(shown, "training")}
        folds = list(zip(targets, contest.seeds, strict=True))
        runs = [Run(*member.settings, target, seed) for member in some for target, seed in folds]
        weights = [float(member.weight) for member in some for _ in folds]
        trained = list(zip(runs, train(graph, runs, **own), strict=True))
        kept = [place for place, (_, outcome) in enumerate(trained) if not outcome.diverged]
        pairs = [trained[place] for place in kept]
        again = refitted(graph, pairs, **own) if refit and kept else []
        # Nothing is half there after an interrupt.
        found.refitted.extend(again)
        found.weights.extend(weights[place] for place in kept)
        found.trained.extend(pairs)

    try:
        for first in range(0, len(members), together):
            add(first)
    except KeyboardInterrupt:
        if not found.trained:
            add(0)
    if not found.trained:
        raise PcnetError("Every model diverged when it was trained with every label; give the contest another --seed.")
    return found
