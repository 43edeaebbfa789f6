"""A search as it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pcnet._checks import whole_number
from pcnet.data import Split
from pcnet.errors import PcnetError, close_match
from pcnet.experiment import Experiment
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.nn import PCNetSettings
from pcnet.training import Targets, TrainingSettings
from pcnet.tune._optuna import SAMPLERS, OptunaSearch, check_installed
from pcnet.tune._space import Settings, Space, Values, settings_of, value_of
from pcnet.tune._strategies import DEFAULTS, GridSearch, Halving, RandomSearch, Strategy, WithDefaults

STRATEGIES = ("random", "halving", "grid", "optuna")
#: Points of a grid that are tried at most.
LARGEST_GRID = 10_000
#: A log loss of 10 is as bad as diverging; so is a share of 0.
WORST_LOSS = 10.0
#: Of the folder's files.
FORMAT = 1


@dataclass(frozen=True)
class Tuning:
    """What is searched, by which strategy, and from what it starts.

    `experiment` gives the splits, the metric and every setting that the space leaves open. The settings that one would
    have without a search are always tried too: `defaults`, or those of `experiment`. With `leak`, test scores of all
    trials are kept apart; `published`, where there is such an experiment, then is scored beside the chosen trial.
    """

    experiment: Experiment
    space: Space
    trials: int = 100
    strategy: str = "random"
    #: For the strategy "optuna": its sampler, and how many trials it suggests at a time.
    sampler: str | None = None
    batch: int = 32
    seed: int = 0
    leak: bool = False
    published: Experiment | None = None
    defaults: Settings | None = None

    def __post_init__(self) -> None:
        whole_number("--trials", self.trials, least=1)
        whole_number("--batch", self.batch, least=1)
        whole_number("--seed", self.seed)
        _check_known("strategy", self.strategy, STRATEGIES)
        if self.strategy == "optuna":
            check_installed()
            object.__setattr__(self, "sampler", self.sampler or SAMPLERS[0])
            _check_known("sampler", str(self.sampler), SAMPLERS)
        elif self.sampler is not None:
            raise PcnetError(f"A sampler belongs to the strategy optuna; {self.strategy} has none.")
        if self.strategy == "grid":
            size = self.space.size
            if size is None or size > LARGEST_GRID:
                points = "infinitely many" if size is None else f"{size:,}"
                raise PcnetError(
                    f"The search space has {points} points; a grid search tries each of at most {LARGEST_GRID:,}. "
                    "Give a smaller one with --space, or use --strategy random."
                )
            object.__setattr__(self, "trials", size)
        self.space.check(self.base)

    @property
    def base(self) -> Settings:
        """What the space leaves open."""
        return self.experiment.model, self.experiment.training

    def settings(self, trial: int, values: Values) -> Settings:
        """The settings of a trial."""
        return settings_of({}, self.defaults or self.base) if trial == DEFAULTS else settings_of(values, self.base)

    @cached_property
    def defaults_trial(self) -> int:
        """The trial that has the defaults: a point of the grid, where they are one."""
        defaults = self.settings(DEFAULTS, {})
        if self.strategy == "grid":
            for trial, values in enumerate(self.space.points()):
                if self.settings(trial, values) == defaults:
                    return trial
        return DEFAULTS

    @property
    def default_values(self) -> Values:
        """What the defaults are on the axes of the space."""
        defaults = self.settings(DEFAULTS, {})
        return {name: value_of(name, defaults) for name in self.space.axes}

    @property
    def candidates(self) -> int:
        """Trials, and the defaults where they are none of them."""
        return self.trials + (self.defaults_trial == DEFAULTS)

    @property
    def splits(self) -> int:
        return len(self.experiment.seeds)

    def strategy_in(self, folder: Path) -> Strategy:
        """The strategy, at work in the folder of a store."""
        drawn = (self.space, self.seed, self.trials, self.splits)
        kinds: dict[str, type[RandomSearch]] = {"random": RandomSearch, "halving": Halving, "grid": GridSearch}
        strategy: Strategy
        if self.strategy == "optuna":
            worst = 0.0 if self.experiment.scored_by.sign > 0 else -WORST_LOSS
            strategy = OptunaSearch(*drawn, self.batch, str(self.sampler), folder, worst)
        else:
            strategy = kinds[self.strategy](*drawn)
        return WithDefaults(strategy, self.splits) if self.defaults_trial == DEFAULTS else strategy

    @property
    def runs(self) -> int:
        """Runs of the whole search."""
        return self.strategy_in(Path()).runs

    def manifest(self, graph: Graph, splits: Sequence[Split], targets: Sequence[Targets]) -> dict[str, Any]:
        """What two searches must have in common to be one. The labels in it are those that training may know."""
        model = self.base[0]
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        return {
            "format": FORMAT,
            "dataset": self.experiment.dataset,
            "method": model.method,
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
            **({"sampler": self.sampler, "batch": self.batch} if self.strategy == "optuna" else {}),
            "trials": self.trials,
            "seed": self.seed,
            "leak": self.leak,
        }

    def unsaid(self) -> dict[str, Any]:
        """What a manifest of an older version means where it does not mention a setting that is known now."""
        model, training = self.base
        first = {"model": asdict(type(model)()), "training": asdict(TrainingSettings())}
        return {
            "method": PCNetSettings.method,
            # It was what training scored after every epoch.
            "metric": training.val_metric.name,
            "defaults": _described(self.settings(DEFAULTS, {})),
            # Rates are one setting each: those of a group that is not mentioned are none.
            "base": {part: _plain(own) for part, own in first.items()},
        }


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise PcnetError(f"There is no {what} '{name}'; choose from {', '.join(known)}.{close_match(name, known)}")


def _described(settings: Settings) -> dict[str, Any]:
    model, training = settings
    return {"model": asdict(model), "training": asdict(training)}


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if not isinstance(value, dict)}
