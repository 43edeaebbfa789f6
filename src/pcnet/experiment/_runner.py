"""From an experiment to scored runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from pcnet._progress import Progress
from pcnet.compare import Metric, Summary, scores, summarise
from pcnet.data import Split, draw_validation, is_fixed, make_split
from pcnet.errors import PcnetError
from pcnet.experiment._ensemble import joined
from pcnet.experiment._estimate import Pooled, estimates
from pcnet.experiment._experiment import Experiment, Weighted
from pcnet.experiment._refit import refitted
from pcnet.graph import Graph, require_labels
from pcnet.training import Outcome, Run, Targets, clear_checkpoint, train

#: Members of a predictor: each keeps another fifth of the labels to stop by, so that every label trains four of them
#: and stops one.
MEMBERS, VAL_SHARE = 5, 0.2

#: What is said wherever there are results.
REFITTED = (
    "What predicts was trained once more with no label kept back (refit); the scores are about models that kept some "
    "back to stop by."
)

#: Which epoch is tested: of those with the highest validation accuracy the first one, or the one that is best on the
#: test nodes; of all epochs that one, or the last.
EpochRule = Literal["first of equals", "best test of equals", "best test", "last"]


@dataclass(frozen=True, eq=False)
class Result:
    """The runs of an experiment and their scores by metric (in percent where they are shares).

    There is an outcome for every split; where several `runs` answer together, it is that of their ensemble. `members`
    were trained on all labels, to predict: the runs say how good such predictions are.
    """

    experiment: Experiment
    splits: list[Split]
    outcomes: list[Outcome]
    test: dict[str, Summary]
    val: dict[str, Summary]
    seconds: float
    members: tuple[tuple[Run, Outcome], ...] = ()
    #: What each of those who predict weighs, where they do not count alike.
    weights: tuple[float, ...] = ()
    #: The members once more, with no label kept back to stop by.
    refitted: tuple[tuple[Run, Outcome], ...] = ()
    runs: tuple[tuple[Run, Outcome], ...] = ()

    @property
    def predictor(self) -> Sequence[tuple[Run, Outcome]]:
        """What is kept to predict with: the members where there are any, as they are at last, else the runs."""
        return self.refitted or self.members or self.runs

    @property
    def headline(self) -> Summary:
        """The test score by the metric of the experiment."""
        return self.test[self.experiment.metric]

    @property
    def pooled(self) -> Pooled:
        """What the runs say of the nodes that they tested."""
        return Pooled.of(self.splits, [outcome.logits for outcome in self.outcomes])

    def as_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON; shares in percent."""
        experiment = self.experiment
        return {
            "dataset": experiment.dataset,
            "preset": experiment.preset,
            "runs": len(experiment.seeds),
            "settings": {**experiment.settings, "seeds": list(experiment.seeds)},
            "metric": experiment.metric,
            "test": self.headline.as_dict(),
            "val": self.val[experiment.metric].as_dict(),
            "epochs": [outcome.epochs for outcome in self.outcomes],
            "refit": bool(self.refitted),
            "seconds": self.seconds,
        }

    @property
    def notes(self) -> list[str]:
        """What is to be known of the settings, the splits, the runs and what predicts, each sentence once."""
        by_test = self.experiment.by_test
        chosen = [f"The settings were chosen by test, so the score says less than it seems: {by_test}."] * bool(by_test)
        notes = dict.fromkeys([*chosen, *(note for split in self.splits for note in split.notes)])
        lost, of = sum(outcome.lost for outcome in self.outcomes), len(self.outcomes)
        words = f"{lost} of {of} runs learned nothing: the loss on validation nodes stayed far above a guess's. "
        return [*notes, *[f"{words}Lower the learning rates."] * bool(lost), *[REFITTED] * bool(self.refitted)]


def run_experiment(
    graph: Graph,
    experiment: Experiment,
    *,
    members: int = 0,
    refit: bool = False,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    tested: EpochRule | None = None,
) -> Result:
    """Split, train and only then score: training is handed no test label.

    Args:
        graph: with labels on two or more classes.
        experiment: what to train, of `resolve`.
        members: models to train besides, on every label that there is, to predict the nodes without one.
        refit: train the members once more with no label kept back to stop by (see `refitted`).
        threads: runs computed at the same time; all cores by default.
        device: as of torch.
        progress: is told of the training's stages.
        checkpoint: a folder to keep half-trained runs in; with `resume` they go on from there.
        tested: the epoch to score; by default the one that validation chose.

    Returns:
        The runs and their scores. Splits of the paper are summed up as there, by the mean over the runs; other splits
        by an `Estimate`.

    Raises:
        PcnetError: a graph without labels, splits that the metric says nothing on, a run that diverged.

    >>> from pcnet import csbm
    >>> from pcnet.experiment import resolve
    >>> graph = csbm(100, 0.8, features=4, seed=0)
    >>> result = run_experiment(graph, resolve(graph, "mlp", overrides=["epochs=3"], runs=2))
    >>> len(result.headline.per_run), result.headline.nodes
    (2, 40)
    """
    require_labels(graph)
    splits = splits_of(graph, experiment)
    check_scorable(experiment.scored_by, splits)
    known, seeds = graph.labelled, experiment.seeds
    settings = [experiment.settings_on(split, seed) for split, seed in zip(splits, seeds, strict=True)]
    teams = [
        _team(own, Targets.from_split(split), seed) for own, split, seed in zip(settings, splits, seeds, strict=True)
    ]
    # Where every split chose for itself, models that know every label have what the first splits chose.
    final = [
        _team(settings[place % len(settings)], targets_of_all(graph, known, VAL_SHARE, seed), seed)
        for place, seed in enumerate(range(seeds[0], seeds[0] + members))
    ]
    runs, weights = zip(*(each for team in [*teams, *final] for each in team), strict=True)
    candidates = None if tested is None else CandidateEpochs(tested, len(runs))
    start = time.perf_counter()
    trained = train(
        graph,
        runs,
        threads=threads,
        device=device,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        on_epoch=None if candidates is None else candidates.watch,
    )
    for run, outcome in zip(runs, trained, strict=True):
        if outcome.diverged:
            if checkpoint is not None:
                clear_checkpoint(checkpoint)
            advice = " ".join(run.model.remarks()) or "Lower the learning rates."
            raise PcnetError(f"Training with seed {run.seed} diverged: no epoch had a finite loss. {advice}")
    pairs, rest = list(zip(runs, trained, strict=True)), iter(trained)
    answers = [_together(team, [next(rest) for _ in team]) for team in [*teams, *final]]
    outcomes = [outcome for _, outcome in answers[: len(teams)]]
    logits = [outcome.logits for outcome in outcomes] if candidates is None else candidates.chosen_by_test(splits)
    test, val = score_splits(graph, experiment, splits, logits, answers[len(teams) :])
    first = sum(map(len, teams))
    single, kept = tuple(pairs[:first]), tuple(pairs[first:])
    how: dict[str, Any] = {"threads": threads, "device": device, "progress": progress}
    again = tuple(refitted(graph, kept, **how)) if refit and kept else ()
    seconds = time.perf_counter() - start
    ours = (weights[first:] or weights) if experiment.per_split else ()
    return Result(experiment, splits, outcomes, test, val, seconds, kept, ours, again, single)


def score_splits(
    graph: Graph,
    experiment: Experiment,
    splits: Sequence[Split],
    logits: Sequence[Tensor],
    members: Sequence[tuple[Run, Outcome]] = (),
) -> tuple[dict[str, Summary], dict[str, Summary]]:
    """Test and validation scores by metric, from what was answered on each split.

    Splits of the paper are summed up by the mean over them, others by an `Estimate`, in which `members` count that were
    trained on all labels.
    """
    test, val = (_summaries(logits, splits, part) for part in ("test", "val"))
    if experiment.follows_paper:
        return test, val
    both, unlabelled = {name: test[name] for name in test if name in val}, graph.num_nodes - len(graph.labelled)
    return dict(estimates(Pooled.of(splits, logits), both, unlabelled, val, members)), val


def splits_of(graph: Graph, experiment: Experiment) -> list[Split]:
    """The split of each seed.

    Fixed splits are numbered: seed i goes with split i, and starts over when there are more seeds than splits.
    """
    turns = len(graph.fixed_splits) if is_fixed(experiment.protocol) else 0
    numbers = [seed % turns if turns else seed for seed in experiment.seeds]
    return [make_split(graph, experiment.protocol, number) for number in numbers]


def ratios_of(splits: Sequence[Split]) -> list[float]:
    """n_test / n_train of each split, which says how much splits of the same nodes overlap."""
    return [len(split.test) / len(split.train) for split in splits]


def check_scorable(metric: Metric, splits: Sequence[Split]) -> None:
    """Refuse a ranking metric where the validation or the test nodes of a split are all of one class."""
    for number, split in enumerate(splits if metric.ranks else (), start=1):
        for part, nodes in (("validation", split.val), ("test", split.test)):
            if len(split.labels[nodes].unique()) < 2:
                raise PcnetError(
                    f"The {part} nodes of split {number} of {len(splits)} are all of one class, where "
                    f"{metric.title} says nothing; use another metric, such as log_loss, or label more nodes."
                )


def targets_of_all(graph: Graph, known: Tensor, share: float, seed: int) -> Targets:
    """The known labels of a graph, all in use: a share of each class chooses the epoch, the others train."""
    val = draw_validation(graph.y, known, share, seed)
    train = known[~torch.isin(known, val)]
    return Targets(train, graph.y[train], val, graph.y[val], graph.num_classes)


def _team(settings: Sequence[Weighted], targets: Targets, seed: int) -> list[tuple[Run, float]]:
    """The runs that answer together on a split, mostly one, and their weights."""
    return [(Run(model, training, targets, seed), weight) for model, training, weight in settings]


def _together(team: Sequence[tuple[Run, float]], outcomes: Sequence[Outcome]) -> tuple[Run, Outcome]:
    """The run that weighs most, and its outcome with the answers of all."""
    runs, weights = zip(*team, strict=True)
    first, known = weights.index(max(weights)), runs[0].targets
    logits = joined([outcome.logits for outcome in outcomes], known.val, known.val_labels, weights)
    return runs[first], replace(outcomes[first], logits=logits)


def _summaries(logits: Sequence[Tensor], splits: Sequence[Split], part: str) -> dict[str, Summary]:
    each = [scores(own, split.labels, getattr(split, part)) for own, split in zip(logits, splits, strict=True)]
    shared = [metric for metric in each[0] if all(metric in run for run in each)]
    return {metric: summarise([run[metric] for run in each]) for metric in shared}


class CandidateEpochs:
    """The logits of the epochs that a rule may test, kept while runs are trained; one of them is chosen afterwards."""

    def __init__(self, rule: EpochRule, runs: int) -> None:
        self.rule = rule
        self._best = [-1.0] * runs
        self._kept: list[list[Tensor]] = [[] for _ in range(runs)]

    def watch(self, run: int, accuracy: float, logits: Tensor) -> None:
        """An epoch of a run is over: its accuracy in validation, and the logits of all nodes."""
        if self.rule == "best test" or (accuracy == self._best[run] and self.rule == "best test of equals"):
            self._kept[run].append(logits.clone())
        elif self.rule == "last" or accuracy > self._best[run]:
            self._best[run], self._kept[run] = accuracy, [logits.clone()]

    def chosen_by_test(self, splits: Sequence[Split]) -> list[Tensor]:
        """The logits that each run is scored by: of the candidates the best on test nodes, the latest of equals.

        This is the one place where test labels choose an epoch, and it comes after all training.
        """
        return [
            max(reversed(kept), key=lambda logits: scores(logits, split.labels, split.test)["accuracy"])
            for kept, split in zip(self._kept, splits, strict=True)
        ]
