"""Settings with a name: which splits of which datasets, and which settings of a method there."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pcnet._registry import Registry
from pcnet.experiment._methods import Entry, MethodFile, method_file


@dataclass(frozen=True)
class Preset:
    """A table of results that can be computed again.

    Args:
        name: what `--preset` calls it.
        protocols: how each dataset is split; these are the preset's datasets.
        seeds: a seed names a split and begins a run.
        splits: how many splits a dataset comes with, where those are fewer than the seeds.
        figures: printed mean and ±, by row and dataset.
        settings_of: the preset whose settings the `rows` have that have none for this one.
        rows: the methods of the table.
        usual: whether it is meant where no preset is named.
    """

    name: str
    protocols: Mapping[str, str]
    seeds: tuple[int, ...]
    splits: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    settings_of: str | None = None
    rows: tuple[str, ...] = ()
    usual: bool = False

    def seeds_for(self, dataset: str) -> tuple[int, ...]:
        """As many as there are splits."""
        return self.seeds[: self.splits.get(dataset)]

    def entry(self, method: MethodFile, dataset: str, *, chosen: bool = True) -> Entry | None:
        """A method's settings for a dataset; None where it has none, or, without `chosen`, has those a grid chose."""
        if dataset not in self.protocols or (not chosen and method.is_chosen(self.name, dataset)):
            return None
        own = method.cell(self.name, dataset)
        if own is None and self.settings_of is not None and method.name in self.rows:
            return method.cell(self.settings_of, dataset)
        return own

    def datasets_of(self, method: str) -> tuple[str, ...]:
        """Datasets that a method has settings for."""
        file = method_file(method)
        return tuple(name for name in self.protocols if self.entry(file, name) is not None)


PRESETS: Registry[Preset] = Registry("preset")
#: Packages that add presets when they are imported; they stand above this room, which knows no more of them.
SOURCES = ("pcnet.paper",)


def presets() -> Registry[Preset]:
    """All presets by name.

    >>> presets().named("table3").protocols["texas"]
    'fixed-48-32-20'
    """
    for package in SOURCES:
        importlib.import_module(package)
    return PRESETS
