"""Methods and settings compete on folds of the known labels, and what does well is chosen to predict together."""

from __future__ import annotations

import itertools
import math
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet._progress import Progress, Silent
from pcnet.compare import Metric, temperature
from pcnet.errors import PcnetError
from pcnet.experiment import MEMBERS, VAL_SHARE, method_name, resolve, targets_of_all
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.training import Run, Targets, available_threads
from pcnet.tune._answers import Answers
from pcnet.tune._clock import Clock, TimeIsUpError, epochs_in
from pcnet.tune._evolution import child_of_any, ranked
from pcnet.tune._room import Room
from pcnet.tune._select import greedy, standing
from pcnet.tune._space import WIDE, Settings, Space, Values, settings_of, space_of
from pcnet.tune._store import Store
from pcnet.tune._strategies import Halving, Job, Results, next_jobs, reported
from pcnet.tune._worker import Worker

#: Methods that compete; the defaults of the first one are trained on all folds before anything else.
CONTENDERS = ("pcnet", "mlp", "gcn", "gprgnn", "sage", "linkx", "acmgcn", "fagcn", "gat")
#: A model stops by each fold of the known labels and is trained on the others.
FOLDS = MEMBERS
#: Trials that are drawn together: a third of them goes on to further folds, and a third of those to all.
ROUND = 18
#: So many are drawn at random before half of a round is bred from the best so far.
RANDOM = 2 * ROUND
#: How drawn settings are trained.
TRAINING: Mapping[str, Any] = {"epochs": 600, "stopping": "patience", "patience": 60}
#: About how many times as long as the first method a run of another takes, and the share of the time that is too long.
TIMES_AS_LONG: Mapping[str, float] = {"gcn": 3, "sage": 4, "linkx": 4, "acmgcn": 5, "fagcn": 8, "gat": 12}
SLOW = 0.05
#: More trials, and epochs, than any time is enough for.
MOST = 100_000
#: Trials that are shown while it goes on.
LEADERS = 5
#: Runs of each core that are trained together: an interrupt loses them.
TOGETHER = 8


@dataclass(frozen=True)
class Contest:
    """What competes: the defaults of every method, trials 0, 1, …, and then settings that are drawn from its space, or
    bred from those that did best.

    A round of trials is trained under successive halving over the folds; `trials` ends the contest (None: time does).
    It is to a `Worker` what a `Search` is.
    """

    metric: Metric
    seed: int
    trials: int | None
    #: Of each method its defaults on the graph, and what its drawn settings begin with.
    entrants: Mapping[str, Settings]
    #: The time that there is, where it ends the contest: methods that would take too much of it are left out.
    seconds: float | None = None
    #: The memory that there is: settings that would take more are left out.
    room: Room | None = None
    #: Epochs that the time is enough for.
    most_epochs: int = MOST
    splits: int = FOLDS

    @staticmethod
    def on(
        graph: Graph,
        metric: str | None = None,
        *,
        protocol: str | None = None,
        seed: int = 0,
        trials: int | None = None,
        seconds: float | None = None,
        methods: Sequence[str] = (),
        select: str | None = None,
    ) -> Contest:
        """The methods, or all, that can be made for a graph, with what they have for unknown graphs.

        One rule, `select`, chooses the epochs of all of them: that of the first method, which is a `metric` if one is
        named and the loss otherwise.
        """
        found = {}
        for name in methods or CONTENDERS:
            experiment = resolve(graph, name, metric=metric, protocol=protocol)
            with suppress(PcnetError):
                experiment.model.for_graph(graph).build(graph.num_features, graph.num_classes)
                found[name] = experiment
        if not found:
            raise PcnetError(f"No method can be made for {graph.name}; `pcnet inspect` says what it is like.")
        first = next(iter(found.values()))
        select = select or first.training.select
        settings = {name: (own.model, replace(own.training, select=select)) for name, own in found.items()}
        return Contest(first.scored_by, seed, trials, settings, seconds)

    @property
    def seeds(self) -> list[int]:
        """Of the folds; those from 0 to 4 draw every label once, as do those from 5 to 9, and so on."""
        return [self.seed * FOLDS + fold for fold in range(FOLDS)]

    @cached_property
    def spaces(self) -> Mapping[str, Space]:
        """What settings of each method are drawn from."""
        return {name: space_of(name, WIDE) for name in self.entrants}

    def values(self, trial: int) -> Values:
        """A method's name, and what was drawn from its space: nothing for its defaults."""
        names = list(self.entrants)
        if trial < len(names):
            return {"method": names[trial]}
        drawn = list(self.spaces)
        name = drawn[int(np.random.default_rng([self.seed, trial, 1]).integers(len(drawn)))]
        return {"method": name, **self.spaces[name].draw(self.seed, trial)}

    def of_round(self, trials: Sequence[int], results: Results) -> dict[int, Values]:
        """What is drawn, and of every second trial after `RANDOM` what the best before the round, of any method, breed.

        A round that was begun is as it was kept.
        """
        kept, first = {trial: results.values[trial] for trial in trials if trial in results.values}, len(self.entrants)
        if kept and trials[0] >= first:
            return kept
        found = {trial: self.values(trial) for trial in trials}
        counts, earlier = [splits for _, splits in _halving(trials).rungs], range(first, trials[0])
        if len(earlier) >= RANDOM and (best := ranked(results, counts, earlier)[: ROUND // 3]):
            parents = [results.values[trial] for trial in best]
            odd = {trial: np.random.default_rng([self.seed, trial, 2]) for trial in trials if trial % 2}
            found |= {trial: child_of_any(self.spaces, parents, random) for trial, random in odd.items()}
        return found

    def settings(self, trial: int, values: Values) -> Settings:
        """The settings of a trial."""
        drawn = {name: value for name, value in values.items() if name != "method"}
        model, training = self.entrants[values["method"]]
        model, training = settings_of({**TRAINING, **drawn}, (model, training)) if drawn else (model, training)
        return model, replace(training, epochs=min(training.epochs, self.most_epochs))

    @property
    def epochs(self) -> int:
        return min(self.most_epochs, max(TRAINING["epochs"], *(own.epochs for _, own in self.entrants.values())))

    @property
    def runs(self) -> int:
        """Of the whole contest, from above."""
        return 0 if self.trials is None else FOLDS + sum(_halving(trials).runs for trials in self.rounds())

    def rounds(self) -> Iterator[Sequence[int]]:
        """Trials that compete with each other: first the defaults, then as many as are drawn together."""
        first = len(self.entrants)
        yield range(first)
        for at in range(first, MOST if self.trials is None else self.trials, ROUND):
            yield range(at, at + ROUND if self.trials is None else min(at + ROUND, self.trials))

    def slow(self, results: Results) -> dict[str, float]:
        """Methods of which a run would take too much of the time, with the seconds, by those of the first one."""
        if self.seconds is None or not results.knows(0, range(FOLDS)):
            return {}
        first = results.seconds_of[0] / FOLDS
        expected = {name: first * TIMES_AS_LONG.get(name, 1.0) for name in self.entrants}
        return {name: found for name, found in expected.items() if found > SLOW * self.seconds}

    def fits(self, trial: int, values: Values) -> bool:
        """Whether there is the memory to train a trial; the first one is trained in any case."""
        return not trial or self.room is None or self.room.fits(self.settings(trial, values)[0], FOLDS)

    def too_big(self, results: Results) -> dict[str, int]:
        """How many settings of each method were left out because they do not fit, of the rounds that have begun."""
        begun = itertools.takewhile(lambda trials: trials[0] <= max(results.values), self.rounds())
        drawn = ((trial, own) for trials in begun for trial, own in self.of_round(trials, results).items())
        return Counter(own["method"] for trial, own in drawn if not self.fits(trial, own))

    def headline(self, results: Results) -> str:
        """The best so far, a line for each."""
        best, tried = results.ranking(FOLDS)[:LEADERS], len(results.scores)
        heading = f"searching, {tried:,} setting{'s' if tried != 1 else ''} tried"
        lines = [f"{heading}; {self.metric.title}:" if best else heading]
        for each in best:
            values, score = results.values[each.trial], self.metric.text(reported(self.metric, each.gain))
            drawn = f"setting {each.trial}" if len(values) > 1 else "its defaults"
            lines.append(f"  {score}  {method_name(values['method'])}, {drawn}")
        return "\n".join(lines)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now; nothing at the end."""
        if not results.knows(0, range(FOLDS)):
            return [Job(0, self.values(0), tuple(range(FOLDS)))]
        slow = self.slow(results)
        for trials in self.rounds():
            values = self.of_round(trials, results)
            trials = [trial for trial, own in values.items() if own["method"] not in slow and self.fits(trial, own)]
            if jobs := next_jobs(trials, _halving(trials).rungs, results, values.__getitem__):
                return jobs
        return []

    def description(self, graph: Graph, targets: Sequence[Targets]) -> dict[str, Any]:
        """What two contests must have in common to be one."""
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        described = {name: [asdict(part) for part in settings] for name, settings in self.entrants.items()}
        return {"graph": graph_hash(graph), "labels": tensor_hash(*known), "metric": self.metric.name} | {
            "methods": described,
            "seed": self.seed,
        }


def _halving(trials: Sequence[int]) -> Halving:
    return Halving(Space({}), 0, len(trials), FOLDS)


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
    #: Methods that were left out because a run would take too many seconds, and those of which so many settings were
    #: left out because they would take more memory than there is.
    slow: Mapping[str, float]
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
    if clock is not None:
        settings = contest.settings(0, contest.values(0))
        first = [Run(*settings, *own) for own in zip(targets, contest.seeds, strict=True)]
        contest = replace(contest, most_epochs=epochs_in(clock.left, graph, first, threads=threads, device=device))
    nodes, shown = torch.empty(0, dtype=torch.int64) if held is None else held, clock or progress or Silent()
    others = [nodes] * FOLDS
    with Store(folder, contest.description(graph, targets)) as store, Answers(folder, targets, others) as answers:
        worker = Worker(
            graph, contest, targets, store, threads, torch.device(device), shown, [answers], TOGETHER, contest.room
        )
        with suppress(TimeIsUpError):
            try:
                worker.run()
            except KeyboardInterrupt:
                if not store.results().knows(0, range(FOLDS)):
                    raise
        if store.results().knows(0, range(FOLDS)):
            return _chosen(contest, store.results(), answers, targets)
    shutil.rmtree(folder)
    raise PcnetError(
        f"{seconds:.3g} seconds are not enough to train a single method on {FOLDS} folds of {graph.name}; give it more "
        "time."
    )


def _chosen(contest: Contest, results: Results, answers: Answers, targets: Sequence[Targets]) -> Chosen:
    """Weigh what was trained on all folds by its answers where it knew no label."""
    complete = [each.trial for each in results.ranking(FOLDS) if math.isfinite(each.loss)]
    if not complete:
        raise PcnetError("Every trial diverged; lower the learning rates of the spaces, or leave out strange features.")
    labels = torch.cat([own.val_labels for own in targets])
    known, held = [], []
    for trial in complete:
        val, others = zip(*(answers.of(trial, fold) for fold in range(FOLDS)), strict=True)
        heats = [temperature(logits, own.val_labels) for logits, own in zip(val, targets, strict=True)]
        known.append(torch.cat([(z.double() / heat).softmax(1) for z, heat in zip(val, heats, strict=True)]))
        held.append(
            torch.stack([(z.double() / heat).softmax(1) for z, heat in zip(others, heats, strict=True)]).mean(0)
        )
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
        contest.slow(results),
        contest.too_big(results),
    )
