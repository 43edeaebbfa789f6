"""The paper's PCNet experiments: settings and published figures, read from `pcnet.json`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pcnet._files import read_json
from pcnet.data import EMBEDDED, PROTOCOLS, dataset_named
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
    return _experiment(name, preset, table[name])


def file_experiment(path: str | Path, dataset: str | None = None) -> Experiment:
    """An experiment from a file with the keys of an entry of `pcnet.json`, for its own dataset or another.

    `pcnet tune` writes such files; what else they say is not read here.
    """
    entry = read_json(path)
    try:
        name = dataset_named(dataset or entry["dataset"]).name
        experiment = _experiment(name, Path(path).stem, {**entry, "paper": None, "rerun": None})
    except (KeyError, TypeError, AttributeError) as error:
        raise PcnetError(
            f"{path} is no preset ({error}); it needs dataset, protocol, seeds, model and training, as best.json of "
            "`pcnet tune` has them."
        ) from error
    if not experiment.seeds or not all(type(seed) is int for seed in experiment.seeds):
        raise PcnetError(f"{path} is no preset: its seeds must be whole numbers.")
    return experiment


def _experiment(name: str, preset: str, entry: Mapping[str, Any]) -> Experiment:
    figures = (None if entry.get(key) is None else tuple(entry[key]) for key in ("paper", "rerun"))
    model, training = PCNetSettings(**entry["model"]), TrainingSettings(**entry["training"])
    return Experiment(name, preset, entry["protocol"], tuple(entry["seeds"]), model, training, *figures)


def default_experiment(dataset: str) -> Experiment:
    """Table 2's settings where the paper has them, pcnet's defaults elsewhere."""
    name = dataset_named(dataset).name
    if name in _tables()["table2"]:
        return preset_experiment(name, "table2")
    return Experiment(name, "defaults", DEFAULT_PROTOCOL, tuple(range(10)))


def protocol_experiment(dataset: str, protocol: str) -> Experiment:
    """The settings of the table that has the dataset under this protocol, pcnet's defaults where none has."""
    name = dataset_named(dataset).name
    if protocol not in PROTOCOLS:
        hint = close_match(protocol, PROTOCOLS)
        raise PcnetError(f"There is no split protocol '{protocol}'.{hint} Known: {', '.join(PROTOCOLS)}.")
    for preset, table in _tables().items():
        if name in table and table[name]["protocol"] == protocol:
            return preset_experiment(name, preset)
    return Experiment(name, "defaults", protocol, tuple(range(10)))


def named_experiment(dataset: str | None, preset: str | None) -> Experiment:
    """What a command is asked for: a table's settings, those of a .json file, or without a preset the default ones."""
    if preset is not None and preset.endswith(".json"):
        return file_experiment(preset, dataset)
    dataset = dataset or EMBEDDED
    return default_experiment(dataset) if preset is None else preset_experiment(dataset, preset)


def _known_preset(preset: str) -> str:
    if preset not in _tables():
        known = ", ".join(_tables())
        raise PcnetError(
            f"There is no preset '{preset}'; choose from {known}, or name a .json file.{close_match(preset, _tables())}"
        )
    return preset
