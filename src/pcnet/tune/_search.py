"""A search as it was asked for, and the choice that it ends with, by validation alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from pcnet._checks import whole_number
from pcnet.compare import Metric, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError, unknown
from pcnet.experiment import DEFAULT_METHOD, Experiment, method_file, presets
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.training import Targets
from pcnet.tune._evolution import Evolution
from pcnet.tune._space import WIDE, Settings, Space, Values, published_space, settings_of, space_of, value_of
from pcnet.tune._strategies import (
    SAMPLERS,
    GridSearch,
    Halving,
    Job,
    OptunaSearch,
    RandomSearch,
    Results,
    check_installed,
    reported,
)

#: The number of the trial that has the defaults; those that a strategy draws are numbered from 0.
DEFAULTS = -1
#: Points of a grid that are tried at most.
LARGEST_GRID = 10_000
#: Of a search, by the names of `--strategy`.
STRATEGIES: Mapping[str, type[RandomSearch]] = {
    "random": RandomSearch,
    "halving": Halving,
    "evolve": Evolution,
    "grid": GridSearch,
    "optuna": OptunaSearch,
}
#: A log loss of 10 is as bad as diverging; so is a share of 0.
WORST_LOSS = 10.0


@dataclass(frozen=True)
class Search:
    """What is searched, by which strategy, and from what it starts.

    `experiment` gives the splits, the metric and every setting that the space leaves open. The settings that one would
    have without a search are always tried too, so that the choice is never worse in validation than they are:
    `defaults`, or those of `experiment`. Without a `strategy` it is random for PCNet and for spaces too large for a
    grid, a grid for other methods, and Optuna where a `sampler` is named. With `leak`, test scores of all trials are
    kept in a file of their own; `published`, where there is such an experiment, is then scored next to the chosen
    trial. A `PcnetError` says which of these cannot be.

    >>> from pcnet.experiment import resolve
    >>> from pcnet.tune import Search, Space
    >>> space = Space.from_json({"K": [2, 4], "t": [0.5, 1.0, 1.5]}, "mine")
    >>> Search(resolve("citeseer"), space, strategy="grid").trials
    6
    """

    experiment: Experiment
    space: Space
    trials: int = 100
    strategy: str = ""
    #: For the strategy "optuna".
    sampler: str | None = None
    #: For "optuna" and "evolve": how many trials are suggested at a time.
    batch: int = 32
    seed: int = 0
    leak: bool = False
    published: Experiment | None = None
    defaults: Settings | None = None

    def __post_init__(self) -> None:
        whole_number("--trials", self.trials, least=1)
        whole_number("--batch", self.batch, least=1)
        whole_number("--seed", self.seed)
        if not self.strategy:
            grid = self.experiment.model.method != DEFAULT_METHOD and self._has_a_grid
            usual = "grid" if grid else "random"
            object.__setattr__(self, "strategy", usual if self.sampler is None else "optuna")
        _check_known("strategy", self.strategy, STRATEGIES)
        if self.strategy == "optuna":
            check_installed()
            object.__setattr__(self, "sampler", self.sampler or next(iter(SAMPLERS)))
            _check_known("sampler", str(self.sampler), SAMPLERS)
        elif self.sampler is not None:
            raise PcnetError(f"A sampler belongs to the strategy optuna; {self.strategy} has none.")
        if self.strategy == "grid":
            size = self.space.size
            if not self._has_a_grid:
                points = "infinitely many" if size is None else f"{size:,}"
                raise PcnetError(
                    f"The search space has {points} points; a grid search tries each of at most {LARGEST_GRID:,}. "
                    "Give a smaller one with --space, or use --strategy random."
                )
            object.__setattr__(self, "trials", size)
        self.space.check(self.base)

    @property
    def _has_a_grid(self) -> bool:
        return self.space.size is not None and self.space.size <= LARGEST_GRID

    @property
    def base(self) -> Settings:
        """What the space leaves open."""
        return self.experiment.model, self.experiment.training

    @property
    def metric(self) -> Metric:
        """What trials are chosen by."""
        return self.experiment.scored_by

    @property
    def seeds(self) -> Sequence[int]:
        """Of the splits, and of the runs on them."""
        return self.experiment.seeds

    @property
    def splits(self) -> int:
        """The number of splits."""
        return len(self.seeds)

    @property
    def epochs(self) -> int:
        """Of a run, at most."""
        return self.experiment.training.epochs

    def headline(self, results: Results) -> str:
        """What is shown while it goes on."""
        metric, best = self.metric, next(iter(results.ranking(self.splits)), None)
        words = "" if best is None else f", best validation {metric.title} {metric.text(reported(metric, best.gain))}"
        return f"searching{words}"

    def settings(self, trial: int, values: Values) -> Settings:
        """The settings of a trial."""
        return settings_of({}, self.defaults or self.base) if trial == DEFAULTS else settings_of(values, self.base)

    @cached_property
    def defaults_trial(self) -> int:
        """The trial that has the defaults: a point of the grid, where they are one."""
        defaults = self.settings(DEFAULTS, {})
        points = enumerate(self.space.points() if self.strategy == "grid" else [])
        return next((trial for trial, values in points if self.settings(trial, values) == defaults), DEFAULTS)

    @property
    def runs(self) -> int:
        """Runs of the whole search."""
        return self._strategy.runs + self.splits * (self.defaults_trial == DEFAULTS)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now, the defaults first, also what others `held`; nothing at the end of the search."""
        jobs, every = self._strategy.jobs(results, held), tuple(range(self.splits))
        if self.defaults_trial != DEFAULTS or results.knows(DEFAULTS, every):
            return jobs
        return [Job(DEFAULTS, {}, every), *jobs]

    @cached_property
    def _strategy(self) -> RandomSearch:
        more: tuple[Any, ...] = ()
        if self.strategy == "evolve":
            more = (self.batch,)
        if self.strategy == "optuna":
            more = self.batch, self.sampler, 0.0 if self.metric.sign > 0 else -WORST_LOSS
        return STRATEGIES[self.strategy](self.space, self.seed, self.trials, self.splits, *more)

    def description(self, graph: Graph, splits: Sequence[Split], targets: Sequence[Targets]) -> dict[str, Any]:
        """What two searches must have in common to be one. The labels in it are those that training may know."""
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        return {
            "dataset": self.experiment.dataset,
            "method": self.experiment.model.method,
            "metric": self.experiment.metric,
            "defaults": _described(self.settings(DEFAULTS, {})),
            "protocol": self.experiment.protocol,
            "seeds": list(self.experiment.seeds),
            "splits": [split.hash for split in splits],
            "labels": tensor_hash(*known),
            "graph": graph_hash(graph),
            "space": self.space.described,
            "base": _described(self.base),
            "strategy": self.strategy,
            **({"sampler": self.sampler} if self.strategy == "optuna" else {}),
            **({"batch": self.batch} if self.strategy in ("evolve", "optuna") else {}),
            "trials": self.trials,
            "seed": self.seed,
            "leak": self.leak,
        }

    def experiment_of(self, results: Results, trial: int) -> Experiment:
        """A trial on all splits of the search."""
        if trial not in results.values:
            raise PcnetError(f"The search knows scores of trial {trial} but not its values; search in another folder.")
        model, training = self.settings(trial, results.values[trial])
        return replace(self.experiment, preset="tuned", model=model, training=training, paper=None, rerun=None)

    def choice(self, results: Results) -> tuple[Experiment, dict[str, Any]]:
        """The trial with the best mean validation score, as an experiment and as a preset that says where from."""
        ranking = results.ranking(self.splits)
        trial, defaults = ranking[0].trial, self.defaults_trial
        if not math.isfinite(ranking[0].loss):
            raise PcnetError("Every trial diverged; lower the learning rates in the search space.")
        chosen, published = self.experiment_of(results, trial), self.published
        default_settings = self.settings(DEFAULTS, {})
        return chosen, {
            "dataset": chosen.dataset,
            "method": chosen.model.method,
            "preset": self.experiment.preset,
            "protocol": chosen.protocol,
            "metric": chosen.metric,
            "seeds": list(chosen.seeds),
            **_described((chosen.model, chosen.training)),
            "search": {
                "trial": trial,
                "trials": self.trials,
                "complete_trials": len(ranking),
                "strategy": self.strategy,
                "sampler": self.sampler,
                "seed": self.seed,
                "space": self.space.described,
                "runs": results.runs,
                "runs_of_random_search": (self.trials + (defaults == DEFAULTS)) * self.splits,
                "seconds": results.seconds,
            },
            "val": self._validation(results, trial),
            "epochs": [results.scores[trial][split].epochs for split in range(self.splits)],
            "defaults": {
                "trial": defaults,
                "values": {name: value_of(name, default_settings) for name in self.space.axes},
                "val": self._validation(results, defaults),
            },
            "published": None if published is None else {"paper": published.paper, "rerun": published.rerun},
            "notes": [*self._as_published(), *chosen.model.remarks()],
        }

    def _validation(self, results: Results, trial: int) -> dict[str, Any] | None:
        """The validation scores of a trial as reports have them; None where it diverged."""
        gains = [results.scores[trial][split].gain for split in range(self.splits)]
        if not all(map(math.isfinite, gains)):
            return None
        return summarise([reported(self.metric, gain) for gain in gains]).as_dict()

    def _as_published(self) -> list[str]:
        """A note on settings that others chose by test scores, and that this search does not choose anew."""
        if self.published is None:
            return []
        theirs, open_axes = (self.published.model, self.published.training), {*self.space.axes}
        method = self.experiment.model.method
        usual = published_space() if method == DEFAULT_METHOD else space_of(method, WIDE)
        names = [name for name in usual.axes if not {name, name.partition(".")[0]} & open_axes]
        kept = [name for name in names if value_of(name, self.base) == value_of(name, theirs)]
        return [f"Not searched but as published, where test scores chose it: {', '.join(kept)}."] if kept else []


def cells_to_search(table: str, method: str) -> list[str]:
    """Datasets of a table of the paper: for PCNet all it has settings for, for other methods those it has none for."""
    if method == DEFAULT_METHOD:
        return list(presets()[table].datasets_of(method))
    file = method_file(method)
    return [name for name in presets()[table].protocols if file.cell(table, name, chosen=False) is None]


def _check_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise unknown(what, name, known)


def _described(settings: Settings) -> dict[str, Any]:
    model, training = settings
    return {"model": asdict(model), "training": asdict(training)}
