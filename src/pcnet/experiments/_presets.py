"""The paper's PCNet experiments: settings and published figures, read from `pcnet.json`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from pcnet.data import dataset_named
from pcnet.errors import PcnetError, close_match
from pcnet.experiments._overrides import override
from pcnet.nn import PCNetSettings
from pcnet.training import TrainingSettings

#: For graphs that the paper does not have.
DEFAULT_PROTOCOL = "random-60-20-20"


@dataclass(frozen=True)
class Experiment:
    """A model, how it is trained, and the seeded splits it is trained on."""

    dataset: str
    preset: str
    protocol: str
    seeds: tuple[int, ...]
    model: PCNetSettings = field(default_factory=PCNetSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    #: Mean and ± of the paper, and of its authors' code run again.
    paper: tuple[float, float] | None = None
    rerun: tuple[float, float] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that can be set, under the names of `--set`."""
        model, training = vars(self.model), vars(self.training)
        return {
            "protocol": self.protocol,
            **model,
            **training,
            "lr": dict(self.training.lr),
            "wd": dict(self.training.wd),
        }

    def with_overrides(self, assignments: Sequence[str]) -> Experiment:
        """The experiment with `key=value` assignments applied; published figures are then no longer comparable."""
        if not assignments:
            return self
        model, training = override([self.model, self.training], assignments)
        return replace(self, preset=f"{self.preset}, changed", model=model, training=training, paper=None, rerun=None)

    def with_runs(self, runs: int, seed: int | None) -> Experiment:
        """So many runs: the published seeds and then unused small ones, or consecutive ones from `seed` on."""
        if runs < 1:
            raise PcnetError(f"--runs must be at least 1, not {runs}.")
        if seed is None:
            unused = (number for number in itertools.count() if number not in self.seeds)
            seeds = itertools.islice(itertools.chain(self.seeds, unused), runs)
        elif seed < 0:
            raise PcnetError(f"--seed must be at least 0, not {seed}.")
        else:
            seeds = itertools.islice(itertools.count(seed), runs)
        return replace(self, seeds=tuple(seeds))


@cache
def _tables() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return json.loads(files("pcnet.experiments").joinpath("pcnet.json").read_text(encoding="utf-8"))


def preset_names() -> tuple[str, ...]:
    """table1, table2 and table3."""
    return tuple(_tables())


def preset_datasets(preset: str) -> tuple[str, ...]:
    """Datasets that a table has PCNet settings for."""
    return tuple(_tables()[_known_preset(preset)])


def preset_experiment(dataset: str, preset: str = "table2") -> Experiment:
    """The published PCNet settings of a table for a dataset."""
    name = dataset_named(dataset).name
    table = _tables()[_known_preset(preset)]
    if name not in table:
        raise PcnetError(
            f"{preset} has no settings for {name}; it has {', '.join(table)}. Leave out --preset for defaults."
        )
    entry = table[name]
    return Experiment(
        name,
        preset,
        entry["protocol"],
        tuple(entry["seeds"]),
        PCNetSettings(**entry["model"]),
        TrainingSettings(**entry["training"]),
        tuple(entry["paper"]),
        tuple(entry["rerun"]) if "rerun" in entry else None,
    )


def default_experiment(dataset: str) -> Experiment:
    """Table 2's settings where the paper has them, pcnet's defaults elsewhere."""
    name = dataset_named(dataset).name
    if name in _tables()["table2"]:
        return preset_experiment(name, "table2")
    return Experiment(name, "defaults", DEFAULT_PROTOCOL, tuple(range(10)))


def _known_preset(preset: str) -> str:
    if preset not in _tables():
        known = ", ".join(_tables())
        raise PcnetError(f"There is no preset '{preset}'; choose from {known}.{close_match(preset, _tables())}")
    return preset
