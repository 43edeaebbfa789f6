"""The members of an ensemble, trained anew with every label that there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pcnet._progress import OneStage, Progress, Silent
from pcnet.errors import PcnetError
from pcnet.experiment import VAL_SHARE, refitted, targets_of_all
from pcnet.graph import Graph
from pcnet.training import Outcome, Run, train
from pcnet.tune._contest import FOLDS, Contest, Ranked


@dataclass(frozen=True, eq=False)
class Members:
    """Runs that predict together, each stopped by a fold of the labels, and their weights."""

    trained: list[tuple[Run, Outcome]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    #: The same runs once more with no label kept back, where that is asked for.
    refitted: list[tuple[Run, Outcome]] = field(default_factory=list)


def affordable(members: Sequence[Ranked], seconds: float) -> list[Ranked]:
    """The heaviest members that can be trained in the time, and at least one."""
    ordered = sorted(members, key=lambda each: -each.weight)
    spent = np.cumsum([each.seconds for each in ordered])
    return ordered[: max(1, int((spent <= seconds).sum()))]


def train_members(
    graph: Graph,
    contest: Contest,
    members: Sequence[Ranked],
    *,
    refit: bool = False,
    progress: Progress | None = None,
    **how: Any,
) -> Members:
    """Train members on folds of every label, one after the other; with `refit`, once more on all labels.

    After an interrupt those predict that are trained. The first one is trained in any case: it begins anew, and only
    another interrupt ends it. `how` is what `train` takes besides.
    """
    targets = [targets_of_all(graph, graph.labelled, VAL_SHARE, seed) for seed in contest.seeds]
    shown, found = progress or Silent(), Members()

    def add(place: int) -> None:
        member = members[place]
        title = f"training {member.title} with every label, {place + 1} of {len(members)}"
        shown.stage(title, FOLDS * member.settings[1].epochs)
        own: dict[str, Any] = {**how, "progress": OneStage(shown, "training")}
        runs = [Run(*member.settings, *each) for each in zip(targets, contest.seeds, strict=True)]
        pairs = zip(runs, train(graph, runs, **own), strict=True)
        kept = [(run, outcome) for run, outcome in pairs if not outcome.diverged]
        again = refitted(graph, kept, **own) if refit and kept else []
        # Nothing is half there after an interrupt.
        found.refitted.extend(again)
        found.weights.extend([float(member.weight)] * len(kept))
        found.trained.extend(kept)

    try:
        for place in range(len(members)):
            add(place)
    except KeyboardInterrupt:
        if not found.trained:
            add(0)
    if not found.trained:
        raise PcnetError("Every model diverged when it was trained with every label; give the contest another --seed.")
    return found
