"""The settings of every method on every dataset: `methods/*.toml`, what a grid has chosen, and presets of both."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pcnet._checks import Registry
from pcnet._files import read_toml
from pcnet.errors import PcnetError, unknown
from pcnet.nn import METHODS, ModelSettings, PCNetSettings, find_method, method_named
from pcnet.training import TrainingSettings

_FOLDER = Path(__file__).with_name("methods")
#: Settings for unknown graphs, chosen by validation on the graphs at hand; `python -m benchmarks.defaults` writes it.
_MEASURED = Path(__file__).with_name("defaults.toml")


@dataclass(frozen=True)
class Entry:
    """A method's settings for a dataset of a table, and where they come from."""

    model: ModelSettings
    training: TrainingSettings
    source: str
    #: Mean and ± of the authors' code run again, where that was done.
    rerun: tuple[float, float] | None
    #: How test scores chose them, or nothing where they did not, as far as is known.
    by_test: str = ""


@dataclass(frozen=True)
class MethodFile:
    """What a file says about a method: common settings, those of single cells, and a grid for the rest.

    A method that is `like` another has the other's cells, with its own settings put in.
    """

    name: str
    content: Mapping[str, Any] = field(default_factory=dict)
    #: What the grid has chosen.
    chosen: Mapping[str, Any] = field(default_factory=dict)
    like: MethodFile | None = None

    @property
    def kind(self) -> type[ModelSettings]:
        """The class of its settings; several rows of a table may be one method with other settings."""
        return method_named(self.content.get("method", self.name)) if self.like is None else self.like.kind

    @property
    def grid(self) -> Mapping[str, Any]:
        """Values that validation chooses from where nothing is published, by the names of `--set`."""
        return self.content.get("grid", {})

    @property
    def space(self) -> Mapping[str, Any]:
        """Wide ranges for graphs that nobody has settings for: those that methods share (`space.toml`), and its own.

        >>> method_file("mlp").space["drop_prop"], method_file("mlp").space["hidden"]
        ([0.0], [32, 64, 128])
        """
        own = method_files().get(self.kind.method, self).content.get("space", {})
        settings = {each.name for cls in (self.kind, TrainingSettings) for each in fields(cls)}
        settings -= {name.partition(".")[0] for name in own}
        shared = read_toml(_FOLDER.with_name("space.toml"))
        return {**{name: axis for name, axis in shared.items() if name in settings}, **own}

    @property
    def defaults(self) -> Entry:
        """What the settings of cells and of searches begin with."""
        return self._entry(self.content)

    @property
    def for_unknown_graphs(self) -> Entry:
        """For graphs that nobody has settings for: what validation chose on the graphs at hand, if it chose anything.

        PCNet's class has other defaults than its file, whose settings are published ones.
        """
        if self.name in _measured():
            return self._entry(_measured()[self.name])
        own = self.kind is PCNetSettings and self.like is None
        return Entry(PCNetSettings(), TrainingSettings(), "", None) if own else self.defaults

    def cell(self, table: str, dataset: str, *, chosen: bool = True) -> Entry | None:
        """The published settings of a cell, or those that a grid has chosen by validation, if they count."""
        own, grown = (content.get(table, {}).get(dataset) for content in (self.content, self.chosen))
        if self.like is not None and dataset in self.like.content.get(table, {}):
            return self._entry(self.like.content[table][dataset], self.content, own or {})
        own = grown if own is None and chosen else own
        return None if own is None else self._entry(own)

    def _entry(self, *layers: Mapping[str, Any]) -> Entry:
        """Common settings and those of each layer; where they disagree, the last counts."""
        common = self.content if self.like is None else self.like.content
        model, training = (
            {name: value for layer in (common, *layers) for name, value in layer.get(part, {}).items()}
            for part in ("model", "training")
        )
        # TOML has no null: "none" stands for it where a setting can be None, as it does in `--set`.
        hints = get_type_hints(self.kind)
        empty = [name for name, value in model.items() if value == "none" and type(None) in get_args(hints.get(name))]
        settings = self.kind(**{**model, **dict.fromkeys(empty)})
        if self.like is not None:
            # The other's models may have parameters that these have not.
            for rates in training.keys() & {"lr", "wd"}:
                known = ("all", *settings.groups)
                training[rates] = {group: rate for group, rate in training[rates].items() if group in known}
        source, by_test = (layers[-1].get(name, self.content.get(name, "")) for name in ("source", "by_test"))
        rerun = layers[-1].get("rerun")
        return Entry(settings, TrainingSettings(**training), source, rerun and (rerun[0], rerun[1]), by_test)


@cache
def method_files() -> dict[str, MethodFile]:
    """All of them, by the names of their rows."""
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.toml"))}


@cache
def _measured() -> Mapping[str, Any]:
    return read_toml(_MEASURED)


def chosen_on_other_graphs(method: str) -> bool:
    """Whether validation on the graphs at hand chose what a method has for unknown graphs."""
    return method in _measured()


def starters() -> list[tuple[str, Entry]]:
    """What `auto` begins with: methods and their settings, each of which adds the most to those before it."""
    return [(each["method"], method_file(each["method"])._entry(each)) for each in _measured()["first"]]


def _read(path: Path) -> MethodFile:
    content, chosen = read_toml(path), _FOLDER / "chosen" / path.name
    like = _read(_FOLDER / f"{content['like']}.toml") if "like" in content else None
    return MethodFile(path.stem, content, read_toml(chosen) if chosen.is_file() else {}, like)


def method_file(name: str) -> MethodFile:
    """One of them, by a name in any case; for a registered method without a file, one that says nothing.

    >>> method_file("GCN").defaults.model.hidden
    64
    """
    known = method_files()
    if name.lower() in known:
        return known[name.lower()]
    settings = find_method(name)
    if settings is None:
        raise unknown("method", name, {**known, **METHODS})
    for setting in fields(TrainingSettings):
        if hasattr(settings, setting.name):
            raise PcnetError(
                f"The method '{name}' has a setting '{setting.name}', which is the name of one of the training's; "
                "rename it."
            )
    return MethodFile(settings.method)


@cache
def _titles() -> Mapping[str, str]:
    return read_toml(Path(__file__).with_name("titles.toml"))


def method_name(method: str) -> str:
    """A method as its authors write it; rows that are a method with other settings have names of their own.

    >>> method_name("h2gcn"), method_name("glognn")
    ('H₂GCN', 'GloGNN')
    """
    return _titles().get(method) or method_named(method).title


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
    seeds: Sequence[int]
    splits: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    settings_of: str | None = None
    rows: tuple[str, ...] = ()
    usual: bool = False

    def entry(self, method: MethodFile, dataset: str, *, chosen: bool = True) -> Entry | None:
        """A method's settings for a dataset, if it has any; without `chosen`, those of a grid do not count."""
        if dataset not in self.protocols:
            return None
        own = method.cell(self.name, dataset, chosen=chosen)
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
