"""Methods and settings that compete on folds of the known labels: what they are, and in which order they come."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pcnet.compare import Metric
from pcnet.errors import PcnetError
from pcnet.experiment import MEMBERS, VAL_SHARE, method_name, resolve, starters
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.training import Targets
from pcnet.tune._clock import SHARE
from pcnet.tune._evolution import child_of_any, ranked
from pcnet.tune._room import Room
from pcnet.tune._space import WIDE, Settings, Space, Values, settings_of, space_of, value_of
from pcnet.tune._strategies import Halving, Job, Results, next_jobs, reported

#: Methods that compete; the first one is trained before anything else.
CONTENDERS = ("pcnet", "mlp", "gcn", "gprgnn", "sage", "linkx", "acmgcn", "fagcn", "gat")
#: Labels that choose the ensemble, each by models that do not know it, if there are as many: then fewer folds do.
ENOUGH = 1500
#: Trials that are drawn together: a third of them goes on to further folds, and a third of those to all.
ROUND = 18
#: How drawn settings are trained.
TRAINING: Mapping[str, Any] = {"epochs": 600, "stopping": "patience", "patience": 60}
#: Epochs that a run must be able to make in its share of the time.
LEAST = 100
#: More trials than any time is enough for.
MOST = 100_000
#: Trials that are shown while it goes on.
LEADERS = 5


@dataclass(frozen=True)
class Contest:
    """What competes: settings that did well elsewhere, trials 0, 1, …, and then what is drawn from the methods' spaces
    or bred from the best so far.

    A round of trials is trained under successive halving over folds of the labels: a model stops by a fold and is
    trained on the others. `trials` ends the contest (None: time does). It is to a `Worker` what a `Search` is.
    """

    metric: Metric
    seed: int
    trials: int | None
    #: Of each method what its drawn settings begin with.
    entrants: Mapping[str, Settings]
    #: The first trials.
    starters: Sequence[Settings]
    #: The number of folds that trials are trained on.
    splits: int
    #: The time that there is, where it ends the contest: settings that would take too much of it are left out.
    seconds: float | None = None
    #: The memory that there is: settings that would take more are left out.
    room: Room | None = None

    @staticmethod
    def on(
        graph: Graph,
        labels: int,
        metric: str | None = None,
        *,
        protocol: str | None = None,
        seed: int = 0,
        trials: int | None = None,
        seconds: float | None = None,
        methods: Sequence[str] = (),
        select: str | None = None,
    ) -> Contest:
        """For so many known labels, the methods, or all, that can be made for a graph.

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
        entrants = {name: (own.model, replace(own.training, select=select)) for name, own in found.items()}
        elsewhere = [(own.model, replace(own.training, select=select)) for name, own in starters() if name in found]
        usual = iter(entrants.values())
        order: list[Settings] = []
        for each in (next(usual), *elsewhere, *usual):
            if each not in order:
                order.append(each)
        folds = min(MEMBERS, max(1, math.ceil(ENOUGH / (VAL_SHARE * labels))))
        return Contest(first.scored_by, seed, trials, entrants, order, folds, seconds)

    @property
    def seeds(self) -> list[int]:
        """Of the folds; those from 0 to 4 draw every label once, as do those from 5 to 9, and so on."""
        return [self.seed * MEMBERS + fold for fold in range(self.splits)]

    @cached_property
    def spaces(self) -> Mapping[str, Space]:
        """What settings of each method are drawn from."""
        return {name: space_of(name, WIDE) for name in self.entrants}

    def values(self, trial: int) -> Values:
        """A method's name, and its settings on the axes of its space: a starter's, or drawn."""
        if trial < len(self.starters):
            settings = self.starters[trial]
            name = settings[0].method
            return {"method": name, **{axis: value_of(axis, settings) for axis in self.spaces[name].axes}}
        drawn = list(self.spaces)
        name = drawn[int(np.random.default_rng([self.seed, trial, 1]).integers(len(drawn)))]
        return {"method": name, **self.spaces[name].draw(self.seed, trial)}

    def of_round(self, trials: Sequence[int], results: Results) -> dict[int, Values]:
        """What is drawn, and of every second trial what the best before the round, of any method, breed.

        A round that was begun is as it was kept.
        """
        kept = {trial: results.values[trial] for trial in trials if trial in results.values}
        if kept and trials[0]:
            return kept
        found = {trial: self.values(trial) for trial in trials}
        counts = [splits for _, splits in self.halving(trials).rungs]
        if best := ranked(results, counts, range(trials[0]))[: ROUND // 3]:
            parents = [results.values[trial] for trial in best]
            for trial in (each for each in trials if each % 2):
                random = np.random.default_rng([self.seed, trial, 2])
                before = [results.values[each] for each in range(trials[0]) if each in results.values]
                found[trial] = child_of_any(self.spaces, parents, [*before, *found.values()], random)
        return found

    def settings(self, trial: int, values: Values) -> Settings:
        """The settings of a trial."""
        if trial < len(self.starters):
            return self.starters[trial]
        drawn = {name: value for name, value in values.items() if name != "method"}
        return settings_of({**TRAINING, **drawn}, self.entrants[values["method"]])

    @property
    def epochs(self) -> int:
        """Of a run, at most."""
        return max(TRAINING["epochs"], *(training.epochs for _, training in self.starters))

    @property
    def runs(self) -> int:
        """Of the whole contest, from above."""
        return 0 if self.trials is None else self.splits + sum(self.halving(trials).runs for trials in self.rounds())

    def rounds(self) -> Iterator[Sequence[int]]:
        """Trials that compete with each other: first the starters, then as many as are drawn together."""
        first, most = len(self.starters), MOST if self.trials is None else self.trials
        yield range(min(first, most))
        for at in range(first, most, ROUND):
            yield range(at, min(at + ROUND, most))

    def halving(self, trials: Sequence[int]) -> Halving:
        """On how many folds how many of the trials of a round are trained."""
        return Halving(Space({}), 0, len(trials), self.splits)

    def has_begun(self, results: Results) -> bool:
        """Whether the first trial is known, with which one can predict."""
        return results.knows(0, range(self.splits))

    def fits(self, trial: int, values: Values) -> bool:
        """Whether there is the memory to train a trial; the first one is trained in any case."""
        return not trial or self.room is None or self.room.fits(self.settings(trial, values)[0])

    def is_slow(self, trial: int, values: Values, results: Results) -> bool:
        """Whether `LEAST` epochs would take more than a run's share of the time.

        Time is taken to grow with the numbers that an epoch keeps, from that of the first trial on.
        """
        if self.seconds is None or self.room is None or not trial or not self.has_begun(results):
            return False
        trained = sum(score.epochs for score in results.scores[0].values())
        model, first = (self.settings(*each)[0] for each in ((trial, values), (0, self.values(0))))
        times = self.room.bytes_of(model) / self.room.bytes_of(first)
        return LEAST * times * results.seconds_of[0] / trained > SHARE * self.seconds

    def left_out(self, results: Results) -> tuple[Counter[str], Counter[str]]:
        """How many settings of each method were too slow, and how many too big, in the rounds that have begun."""
        begun = itertools.takewhile(lambda trials: trials[0] <= max(results.values), self.rounds())
        drawn = [each for trials in begun for each in self.of_round(trials, results).items()]
        slow = Counter(own["method"] for trial, own in drawn if self.is_slow(trial, own, results))
        return slow, Counter(own["method"] for trial, own in drawn if not self.fits(trial, own))

    def headline(self, results: Results) -> str:
        """The best so far, a line for each."""
        best, tried = results.ranking(self.splits)[:LEADERS], len(results.scores)
        heading = f"searching, {tried:,} setting{'s' if tried != 1 else ''} tried"
        lines = [f"{heading}; {self.metric.title}:" if best else heading]
        for each in best:
            values, score = results.values[each.trial], self.metric.text(reported(self.metric, each.gain))
            lines.append(f"  {score}  {method_name(values['method'])}, setting {each.trial}")
        return "\n".join(lines)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now; nothing at the end."""
        if not self.has_begun(results):
            return [Job(0, self.values(0), tuple(range(self.splits)))]
        for trials in self.rounds():
            values = self.of_round(trials, results)
            able = [
                each for each, own in values.items() if self.fits(each, own) and not self.is_slow(each, own, results)
            ]
            if jobs := next_jobs(able, self.halving(trials).rungs, results, values.__getitem__):
                return jobs
        return []

    def description(self, graph: Graph, targets: Sequence[Targets]) -> dict[str, Any]:
        """What two contests must have in common to be one."""
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        described = {name: [asdict(part) for part in settings] for name, settings in self.entrants.items()}
        first = [[own.method, asdict(own), asdict(training)] for own, training in self.starters]
        return {"graph": graph_hash(graph), "labels": tensor_hash(*known), "metric": self.metric.name} | {
            "methods": described,
            "starters": first,
            "seed": self.seed,
        }
