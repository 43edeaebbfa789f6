"""A search as it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcnet._checks import whole_number
from pcnet.data import Split
from pcnet.errors import PcnetError, close_match
from pcnet.experiments import Experiment
from pcnet.graph import Graph
from pcnet.nn import PCNetSettings
from pcnet.training import Targets, TrainingSettings
from pcnet.tuning._hash import graph_hash, tensor_hash
from pcnet.tuning._optuna import SAMPLERS, OptunaSearch, check_installed
from pcnet.tuning._space import Settings, Space
from pcnet.tuning._strategies import GridSearch, Halving, RandomSearch, Strategy

STRATEGIES = ("random", "halving", "grid", "optuna")
#: Points of a grid that are tried at most.
LARGEST_GRID = 10_000
#: Of the folder's files.
FORMAT = 1


@dataclass(frozen=True)
class Tuning:
    """What is searched, by which strategy, and from what it starts.

    `experiment` gives the splits and every setting that the space leaves open. With `leak`, test scores of all trials
    are kept apart; `published`, where there is such an experiment, then is scored beside the chosen trial.
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

    @property
    def splits(self) -> int:
        return len(self.experiment.seeds)

    def strategy_in(self, folder: Path) -> Strategy:
        """The strategy, at work in the folder of a store."""
        drawn = (self.space, self.seed, self.trials, self.splits)
        if self.strategy == "optuna":
            return OptunaSearch(*drawn, self.batch, str(self.sampler), folder)
        kinds: dict[str, type[RandomSearch]] = {"random": RandomSearch, "halving": Halving, "grid": GridSearch}
        return kinds[self.strategy](*drawn)

    @property
    def runs(self) -> int:
        """Runs of the whole search."""
        return self.strategy_in(Path()).runs

    def manifest(self, graph: Graph, splits: Sequence[Split], targets: Sequence[Targets]) -> dict[str, Any]:
        """What two searches must have in common to be one. The labels in it are those that training may know."""
        model, training = self.base
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        return {
            "format": FORMAT,
            "dataset": self.experiment.dataset,
            "method": model.method,
            "protocol": self.experiment.protocol,
            "seeds": list(self.experiment.seeds),
            "splits": [split.hash for split in splits],
            "labels": tensor_hash(*known),
            "graph": graph_hash(graph),
            "space": self.space.described,
            "base": {"model": asdict(model), "training": asdict(training)},
            "strategy": self.strategy,
            **({"sampler": self.sampler, "batch": self.batch} if self.strategy == "optuna" else {}),
            "trials": self.trials,
            "seed": self.seed,
            "leak": self.leak,
        }

    def unsaid(self) -> dict[str, Any]:
        """What a manifest of an older version means where it does not mention a setting that is known now."""
        model = self.base[0]
        defaults = {"model": asdict(type(model)()), "training": asdict(TrainingSettings())}
        # Rates are one setting each: those of a group that is not mentioned are none.
        return {"method": PCNetSettings.method, "base": {part: _plain(own) for part, own in defaults.items()}}


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise PcnetError(f"There is no {what} '{name}'; choose from {', '.join(known)}.{close_match(name, known)}")


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if not isinstance(value, dict)}
