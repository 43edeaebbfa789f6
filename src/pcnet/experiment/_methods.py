"""The settings of every method on every dataset: `methods/*.toml`, and what a grid has chosen in `methods/chosen/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, get_args, get_type_hints

from pcnet._files import parse_toml
from pcnet.errors import PcnetError, close_match
from pcnet.nn import METHODS, ModelSettings, find_method, method_named
from pcnet.training import TrainingSettings

_FOLDER = "methods"


@dataclass(frozen=True)
class Entry:
    """A method's settings for a dataset of a table, and where they come from."""

    model: ModelSettings
    training: TrainingSettings
    source: str
    #: Mean and ± of the authors' code run again, where that was done.
    rerun: tuple[float, float] | None = None


@dataclass(frozen=True)
class MethodFile:
    """What a file says about a method: common settings, those of single cells, and a grid for the rest."""

    name: str
    content: Mapping[str, Any]
    chosen: Mapping[str, Any]

    @property
    def kind(self) -> type[ModelSettings]:
        """The class of its settings; several rows of a table may be one method with other settings."""
        return method_named(self.content.get("method", self.name))

    @property
    def grid(self) -> Mapping[str, Any]:
        """Values that validation chooses from where nothing is published, by the names of `--set`."""
        return self.content.get("grid", {})

    @property
    def defaults(self) -> Entry:
        """For graphs and protocols that nobody has settings for."""
        return self._entry({})

    def cell(self, table: str, dataset: str) -> Entry | None:
        """The published settings of a cell, or those that a grid has chosen by validation."""
        for source in (self.content, self.chosen):
            if dataset in source.get(table, {}):
                return self._entry(source[table][dataset])
        return None

    def is_chosen(self, table: str, dataset: str) -> bool:
        """Whether the settings of a cell are a grid's choice."""
        return dataset not in self.content.get(table, {}) and dataset in self.chosen.get(table, {})

    def _entry(self, own: Mapping[str, Any]) -> Entry:
        model, training = ({**self.content.get(part, {}), **own.get(part, {})} for part in ("model", "training"))
        rerun = own.get("rerun")
        source = own.get("source", self.content.get("source", ""))
        known = None if rerun is None else (rerun[0], rerun[1])
        return Entry(_settings(self.kind, model), TrainingSettings(**training), source, known)


@cache
def method_files() -> dict[str, MethodFile]:
    """All of them, by the names of their rows."""
    folder = files("pcnet.experiment").joinpath(_FOLDER)
    found = sorted(path.name for path in folder.iterdir() if path.name.endswith(".toml"))
    return {name.removesuffix(".toml"): _read(name) for name in found}


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
        every = {**known, **METHODS}
        raise PcnetError(
            f"There is no method '{name}'; choose from {', '.join(every)}.{close_match(name.lower(), every)}"
        )
    for setting in fields(TrainingSettings):
        if hasattr(settings, setting.name):
            raise PcnetError(
                f"The method '{name}' has a setting '{setting.name}', which is the name of one of the training's; "
                "rename it."
            )
    return MethodFile(settings.method, {}, {})


@cache
def _titles() -> Mapping[str, str]:
    name = "titles.toml"
    return parse_toml(files("pcnet.experiment").joinpath(name).read_text(encoding="utf-8"), name)


def method_name(method: str) -> str:
    """A method as its authors write it; rows that are a method with other settings have names of their own.

    >>> method_name("h2gcn"), method_name("glognn")
    ('H₂GCN', 'GloGNN')
    """
    return _titles().get(method) or method_named(method).title


def _read(name: str) -> MethodFile:
    folder = files("pcnet.experiment").joinpath(_FOLDER)
    content = parse_toml(folder.joinpath(name).read_text(encoding="utf-8"), name)
    if "like" in content:
        content = _like(_read(f"{content['like']}.toml"), content)
    grown = folder.joinpath("chosen").joinpath(name)
    chosen = parse_toml(grown.read_text(encoding="utf-8"), f"chosen/{name}") if grown.is_file() else {}
    return MethodFile(name.removesuffix(".toml"), content, chosen)


def _like(other: MethodFile, own: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a file that is like another but for some settings: the other's cells with its own put in.

    Of learning rates and decays, those of parameters that its models do not have are left out.
    """
    base = other.content

    def joined(*layers: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of all layers; where they disagree, the last counts."""
        model, training = (
            {name: value for layer in layers for name, value in layer.get(part, {}).items()}
            for part in ("model", "training")
        )
        groups = ("all", *_settings(other.kind, model).groups)
        for name in ("lr", "wd"):
            if name in training:
                training[name] = {group: rate for group, rate in training[name].items() if group in groups}
        return {"model": model, "training": training}

    content: dict[str, Any] = {"method": other.kind.method, "source": own["source"], **joined(base, own)}
    for table in (name for name in base if name.startswith("table")):
        changes = own.get(table, {})
        content[table] = {
            dataset: joined(base, cell, own, changes.get(dataset, {})) for dataset, cell in base[table].items()
        }
    return content


def _settings(kind: type[ModelSettings], values: Mapping[str, Any]) -> ModelSettings:
    """TOML has no null: the word "none" stands for it where a setting can be None, as it does in `--set`."""
    hints = get_type_hints(kind)
    empty = {name for name, value in values.items() if value == "none" and type(None) in get_args(hints.get(name))}
    return kind(**{**values, **dict.fromkeys(empty)})
