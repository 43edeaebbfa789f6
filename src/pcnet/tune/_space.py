"""What is searched: for each setting the values it may take."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pcnet._files import read_json
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.experiment import DEFAULT_METHOD, method_file, override
from pcnet.nn import ModelSettings, PCNetSettings
from pcnet.training import ALL, TrainingSettings

Settings = tuple[ModelSettings, TrainingSettings]
Values = dict[str, Any]

#: What commands call the space that every method has, of which `auto` draws.
WIDE = "wide"
#: How far from a value of a range its neighbours are, as a share of the range's length.
REACH = 0.15
#: Settings with a value for each parameter group, searched under names such as `lr.theta`.
GROUPED = ("lr", "wd")


@dataclass(frozen=True)
class Axis:
    """Some values, all as likely, evenly spaced numbers where there is a `step`; or all numbers `between` two.

    Those are drawn evenly ("linear"), or so that their logarithms are ("log").
    """

    values: tuple[Any, ...]
    step: float | None = None
    between: Literal["", "linear", "log"] = ""

    def draw(self, random: np.random.Generator) -> Any:
        if not self.between:
            return self.values[int(random.integers(len(self.values)))]
        low, high = map(self._place, self.values)
        return self._at(low + float(random.random()) * (high - low))

    def near(self, value: Any, random: np.random.Generator) -> Any:
        """Another value: any of a list, of a range one that is about `REACH` of its length away, or its end."""
        if self.between:
            low, high = map(self._place, self.values)
            return self._at(self._place(value) + float(random.normal(0, REACH * (high - low))))
        if self.step is None:
            others = [each for each in self.values if each != value]
            return others[int(random.integers(len(others)))] if others else value
        away, last = float(random.normal(0, REACH * len(self.values))), len(self.values) - 1
        # A value from elsewhere need not be on the grid.
        nearest = min(range(len(self.values)), key=lambda place: abs(self.values[place] - value))
        place = nearest + (round(away) or (1 if away > 0 else -1))
        return self.values[min(max(place, 0), last)]

    def _place(self, value: float) -> float:
        """Where a number lies between the ends."""
        return math.log(value) if self.between == "log" else value

    def _at(self, place: float) -> float:
        """The number at a place, or an end."""
        value = math.exp(place) if self.between == "log" else place
        return min(max(value, self.values[0]), self.values[1])

    @property
    def described(self) -> Any:
        """As in a file."""
        if self.step is None and not self.between:
            return list(self.values)
        scale = {"scale": "log"} if self.between == "log" else {}
        return {"from": self.values[0], "to": self.values[-1], **({"step": self.step} if self.step else scale)}


@dataclass(frozen=True)
class Space:
    """The axes of a search, by the names that `--set` knows; `published_space()` is the paper's.

    Trial i of seed s is a function of (s, i) alone: whoever trains it needs no message from anyone.

    >>> space = Space.from_json({"K": [2, 4], "lr.theta": {"from": 0.001, "to": 0.1, "scale": "log"}}, "mine")
    >>> space.draw(seed=0, trial=3) == space.draw(seed=0, trial=3)
    True
    """

    axes: Mapping[str, Axis]

    def draw(self, seed: int, trial: int) -> Values:
        """The values of a trial, each drawn evenly from its axis."""
        random = np.random.default_rng([seed, trial])
        return {name: axis.draw(random) for name, axis in self.axes.items()}

    @property
    def size(self) -> int | None:
        """Number of its points, or None where they cannot be counted."""
        axes = self.axes.values()
        return None if any(axis.between for axis in axes) else math.prod(len(axis.values) for axis in axes)

    def points(self) -> list[Values]:
        """Every point of a space that is a grid."""
        combinations = itertools.product(*(axis.values for axis in self.axes.values()))
        return [dict(zip(self.axes, values, strict=True)) for values in combinations]

    def fixing(self, assignments: Iterable[str], model: ModelSettings) -> Space:
        """Without the axes that `key=value` assignments fix, and those of layers that the model does not have."""
        fixed = {assignment.partition("=")[0].strip() for assignment in assignments}
        axes = {}
        for name, axis in self.axes.items():
            field, _, group = name.partition(".")
            if not {name, field} & fixed and group not in _absent(model):
                axes[name] = axis
        if not axes:
            raise PcnetError("There is nothing left to search: every setting of the space is fixed with --set.")
        return Space(axes)

    def check(self, base: Settings) -> None:
        """Refuse a value that no model or training can have."""
        for name, axis in self.axes.items():
            for value in axis.values:
                model, training = settings_of({name: value}, base)
                training.check_groups(model.groups)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PcnetWarning)
                    model.build(1, 2)

    @property
    def described(self) -> dict[str, Any]:
        """As in a file."""
        return {name: axis.described for name, axis in self.axes.items()}

    @staticmethod
    def from_json(content: Any, source: str, kind: type[ModelSettings] = PCNetSettings) -> Space:
        """The space that a file describes: a list of values, or {"from", "to"} with a "step" or "scale": "log".

        Values get the types that settings of a method of this `kind` have; a `PcnetError` names `source`.
        """
        if not isinstance(content, dict) or not content:
            raise PcnetError(
                f'{source} is no search space; it must give settings their values, as in {{"t": [0, 0.5, 1]}}.'
            )
        axes = {}
        for name, described in content.items():
            try:
                axes[name] = _axis(name, described, kind)
            except PcnetError as error:
                raise PcnetError(f"{source}: {error}") from None
        return Space(axes)


def published_space() -> Space:
    """The search space of the paper.

    >>> published_space().axes["K"].values
    (4, 5, 6)
    """
    content = files("pcnet.tune").joinpath("space.json").read_text(encoding="utf-8")
    return Space.from_json(json.loads(content), "space.json")


def read_space(path: str | Path, kind: type[ModelSettings] = PCNetSettings) -> Space:
    """A search space from a user's JSON file, as `Space.from_json` reads it; a `PcnetError` where it cannot.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "space.json").write_text('{"t": {"from": 0, "to": 1, "step": 0.5}}')
    ...     read_space(Path(folder) / "space.json").points()
    [{'t': 0.0}, {'t': 0.5}, {'t': 1.0}]
    """
    return Space.from_json(read_json(path), str(path), kind)


def space_of(method: str, path: str | Path | None = None) -> Space:
    """A user's space for a method, or its "wide" one; without either the paper's for PCNet, and for others their grid.

    >>> space_of("gcn").size
    6
    >>> space_of("bernnet", "wide").axes["basis"].values
    ('plain', 'orthonormal')
    """
    known = method_file(method)
    if path == WIDE:
        return Space.from_json(dict(known.space), f"The space of {known.name}", known.kind)
    if path is not None:
        return read_space(path, known.kind)
    if known.name == DEFAULT_METHOD:
        return published_space()
    return Space.from_json(dict(known.grid), f"The grid of {known.name}", known.kind)


def settings_of(values: Values, base: Settings) -> Settings:
    """`base` with these values, named as in a space, and without rates that no layer of the model takes."""
    model, training = base
    changed: Values = {name: dict(getattr(training, name)) for name in GROUPED}
    for name, value in values.items():
        field, dot, group = name.partition(".")
        if field in GROUPED:
            value = {**changed[field], group: value} if dot else {ALL: value}
        changed[field] = value
    known = {each.name for part in base for each in dataclasses.fields(part)}
    if unknown := [name for name in changed if name not in known]:
        raise PcnetError(f"{type(model).method} has no setting '{unknown[0]}'; give it another name.")
    own = {each.name for each in dataclasses.fields(model)} & {*changed}
    model = dataclasses.replace(model, **{name: changed.pop(name) for name in own})
    for name in GROUPED:
        idle = _absent(model) | ({ALL} - {*model.groups} if {*model.groups} <= {*changed[name]} else set())
        changed[name] = {group: rate for group, rate in changed[name].items() if group not in idle}
    return model, dataclasses.replace(training, **changed)


def value_of(name: str, settings: Settings) -> Any:
    """The value that settings have on an axis."""
    field, _, group = name.partition(".")
    found = next(getattr(part, field) for part in settings if hasattr(part, field))
    return found.get(group or ALL, found.get(ALL)) if field in GROUPED else found


def _absent(model: ModelSettings) -> set[str]:
    """Parameter groups that the method has with other settings."""
    return {*type(model)().groups} - {*model.groups}


def _axis(name: str, described: Any, kind: type[ModelSettings]) -> Axis:
    """The axis of a setting, from what a file says of it."""

    def typed(value: Any) -> Any:
        """With the type that the setting has, as `--set` would read it."""
        text = "none" if value is None else str(value)
        model, training = override([kind(), TrainingSettings()], [f"{name}={text}"])
        return value_of(name, (model, training))

    if isinstance(described, list) and described:
        return Axis(tuple(map(typed, described)))
    ends = described if isinstance(described, dict) else {}
    complete = {"from", "to"} <= {*ends} <= {"from", "to", "step", "scale"}
    low, high = (typed(ends[end]) if complete else math.nan for end in ("from", "to"))
    if not (_is_number(low) and _is_number(high) and low < high):
        raise PcnetError(
            f'{name} must be a list of values, or numbers {{"from": low, "to": high}} with a "step" or "scale": "log", '
            f"not {json.dumps(described)}."
        )
    if "step" in ends:
        step = ends["step"]
        if "scale" in ends or not _is_number(step) or not 0 < step <= high - low:
            raise PcnetError(f"the step of {name} must be a number above 0 that leads from {low} to {high}.")
        count = math.floor((high - low) / step + 1e-9) + 1
        return Axis(tuple(typed(round(low + place * step, 10)) for place in range(count)), step)
    if isinstance(low, int):
        raise PcnetError(f"{name} is a whole number; give its range a step.")
    if ends.get("scale", "log") != "log" or ("scale" in ends and low <= 0):
        raise PcnetError(f'the scale of {name} can only be "log", from above 0.')
    return Axis((low, high), between="log" if "scale" in ends else "linear")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
