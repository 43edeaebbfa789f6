"""From an experiment to scored runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from pcnet.data import Split, is_fixed, make_split
from pcnet.errors import PcnetError
from pcnet.evaluation import Summary, scores, summarise
from pcnet.experiments._as_published import AsPublished, EpochsInQuestion
from pcnet.experiments._presets import Experiment
from pcnet.graph import Graph
from pcnet.training import Outcome, Reporter, Run, Targets, clear_checkpoint, train


@dataclass(frozen=True, eq=False)
class Result:
    """The runs of an experiment and their scores in percent, by metric."""

    experiment: Experiment
    splits: list[Split]
    outcomes: list[Outcome]
    test: dict[str, Summary]
    val: dict[str, Summary]
    seconds: float

    @property
    def runs(self) -> list[Run]:
        """What was trained."""
        return _runs(self.experiment, self.splits)

    @property
    def notes(self) -> list[str]:
        """What the splits have to say, each sentence once."""
        return list(dict.fromkeys(note for split in self.splits for note in split.notes))


def run_experiment(
    graph: Graph,
    experiment: Experiment,
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    reporter: Reporter | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    as_published: AsPublished | None = None,
) -> Result:
    """Split, train and only then score: training is handed no test label.

    Scored is the epoch that validation chose, or with `as_published` the one that the method's authors tested.
    """
    splits = splits_of(graph, experiment)
    runs = _runs(experiment, splits)
    asked = None if as_published is None else EpochsInQuestion(as_published.epoch, len(runs))
    start = time.perf_counter()
    outcomes = train(
        graph,
        runs,
        threads=threads,
        device=device,
        reporter=reporter,
        checkpoint=checkpoint,
        resume=resume,
        watch=None if asked is None else asked.watch,
    )
    seconds = time.perf_counter() - start
    for seed, outcome in zip(experiment.seeds, outcomes, strict=True):
        if outcome.diverged:
            if checkpoint is not None:
                clear_checkpoint(checkpoint)
            raise PcnetError(
                f"Training with seed {seed} diverged: no epoch had a finite loss. Lower the learning rates."
            )
    logits = [outcome.logits for outcome in outcomes] if asked is None else asked.chosen_by_test(splits)
    test, val = (_summaries(logits, splits, part) for part in ("test", "val"))
    return Result(experiment, splits, outcomes, test, val, seconds)


def splits_of(graph: Graph, experiment: Experiment) -> list[Split]:
    """The split of each seed.

    Fixed splits are numbered: seed i goes with split i, and starts over when there are more seeds than splits.
    """
    turns = len(graph.fixed_splits) if is_fixed(experiment.protocol) else 0
    numbers = [seed % turns if turns else seed for seed in experiment.seeds]
    return [make_split(graph, experiment.protocol, number) for number in numbers]


def _runs(experiment: Experiment, splits: list[Split]) -> list[Run]:
    return [
        Run(experiment.model, experiment.training, Targets.from_split(split), seed)
        for split, seed in zip(splits, experiment.seeds, strict=True)
    ]


def _summaries(logits: list[Tensor], splits: list[Split], part: str) -> dict[str, Summary]:
    each = [scores(own, split.labels, getattr(split, part)) for own, split in zip(logits, splits, strict=True)]
    shared = [metric for metric in each[0] if all(metric in run for run in each)]
    return {metric: summarise([run[metric] for run in each]) for metric in shared}
