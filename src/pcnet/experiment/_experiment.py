"""What is to be computed: a model, how it is trained, the splits it is trained on, and `key=value` changes of it."""

from __future__ import annotations

import itertools
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pcnet._checks import whole_number
from pcnet.compare import Metric, metric_named
from pcnet.data import PAPER_PROTOCOLS
from pcnet.errors import SettingError, close_match
from pcnet.experiment._methods import method_name
from pcnet.nn import ModelSettings, PCNetSettings
from pcnet.training import TrainingSettings, selection_by


@dataclass(frozen=True)
class Experiment:
    """A model, how it is trained, and the seeded splits it is trained on; `resolve` makes one.

    >>> experiment = Experiment("mine", "defaults", "random-60-20-20", seeds=(0, 1))
    >>> experiment.with_overrides(["hidden=32"]).model.hidden
    32
    """

    dataset: str
    preset: str
    protocol: str
    seeds: tuple[int, ...]
    model: ModelSettings = field(default_factory=PCNetSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    #: What a score is, wherever runs, settings or methods are compared or reported.
    metric: str = "accuracy"
    #: Printed mean and ± of a preset's paper, and of its authors' code run again.
    paper: tuple[float, float] | None = None
    rerun: tuple[float, float] | None = None
    #: Where the settings come from.
    source: str = ""
    #: The row of the preset's table; several may be one method with other settings.
    row: str = ""
    #: Whether the settings are those of a preset, with changes or without.
    of_a_preset: bool = False

    @property
    def title(self) -> str:
        """The method, as its authors write it."""
        return method_name(self.row or self.model.method)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that can be set, under the names of `--set`."""
        own = {"method": self.model.method, "protocol": self.protocol, "metric": self.metric}
        rates = {"lr": dict(self.training.lr), "wd": dict(self.training.wd)}
        return {**own, **vars(self.model), **vars(self.training), **rates}

    @property
    def scored_by(self) -> Metric:
        """The metric itself."""
        return metric_named(self.metric)

    @property
    def follows_paper(self) -> bool:
        """Whether the splits are those of the paper, and so is how scores are summed up."""
        return self.protocol in PAPER_PROTOCOLS

    def with_metric(self, name: str | None) -> Experiment:
        """The experiment scored by another metric, which also chooses the epoch of every run; None changes nothing."""
        if name is None:
            return self
        metric = metric_named(name)
        training = replace(self.training, select=selection_by(metric))
        changed = replace(self, metric=metric.name, training=training)
        # Defaults that are scored in another way are defaults.
        return changed if training == self.training or not self.of_a_preset else changed._changed()

    def with_overrides(self, assignments: Sequence[str]) -> Experiment:
        """The experiment with `key=value` assignments applied; published figures are then no longer comparable."""
        if not assignments:
            return self
        model, training = override([self.model, self.training], assignments)
        return replace(self, model=model, training=training)._changed()

    def with_runs(self, runs: int | None = None, seed: int | None = None) -> Experiment:
        """As many runs: the published seeds and then unused small ones, or consecutive ones from `seed` on."""
        runs = whole_number("--runs", len(self.seeds) if runs is None else runs, least=1)
        unused = (number for number in itertools.count() if number not in self.seeds)
        seeds = itertools.chain(self.seeds, unused) if seed is None else itertools.count(whole_number("--seed", seed))
        return replace(self, seeds=tuple(itertools.islice(seeds, runs)))

    def checked(self) -> Experiment:
        """The experiment itself; rates for parameters that its model does not have are refused."""
        self.training.check_groups(self.model.groups)
        return self

    def _changed(self) -> Experiment:
        """With settings of one's own: no published figure is about it."""
        preset = self.preset if self.preset.endswith(", changed") else f"{self.preset}, changed"
        return replace(self, preset=preset, paper=None, rerun=None)


def override(settings: Sequence[Any], assignments: Sequence[str]) -> list[Any]:
    """Apply each `key=value` to the dataclass that has the field.

    Values are read by the field's type: numbers, true/false, one of the allowed words, "none". A mapping such as `lr`
    takes `lr=0.01` for all its entries or `lr.theta=0.01` for one.
    """
    changed = list(settings)
    owners = {each.name: place for place, part in enumerate(settings) for each in fields(part)}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        key, dot, entry = name.strip().partition(".")
        if not equals:
            raise SettingError(f"'{assignment}' is not of the form key=value, as in --set t=0.5.")
        if key not in owners:
            raise SettingError(f"There is no setting '{key}'.{close_match(key, owners)} Known: {', '.join(owners)}.")
        owner = changed[owners[key]]
        current = getattr(owner, key)
        rates = isinstance(current, Mapping)
        if dot and not rates:
            raise SettingError(f"The setting '{key}' is one value; write {key}={text}.")
        value = _parse(name, text.strip(), float if rates else typing.get_type_hints(type(owner))[key])
        if rates:
            value = {**current, entry: value} if dot else {"all": value}
        changed[owners[key]] = replace(owner, **{key: value})
    return changed


def _parse(name: str, text: str, annotation: Any) -> Any:
    choices = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in choices:
            return None
        return _parse(name, text, next(each for each in choices if each is not type(None)))
    if choices:
        if text in choices:
            return text
        raise SettingError(f"{name} cannot be '{text}'; choose from {', '.join(choices)}.{close_match(text, choices)}")
    if annotation is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() in words:
            return words[text.lower()]
        raise SettingError(f"{name} must be true or false, not '{text}'.")
    try:
        return annotation(text)
    except ValueError:
        kind = "a whole number" if annotation is int else "a number"
        raise SettingError(f"{name} must be {kind}, not '{text}'.") from None
