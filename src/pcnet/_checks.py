"""Names and values that several rooms check: each check returns what is meant, or says what to change."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from pcnet.errors import PcnetError, close_match, unknown

FloatArray = NDArray[np.float64]
T = TypeVar("T")

#: What a value of each type is called that JSON knows.
_CALLED = {int: "a whole number", float: "a finite number", str: "a text", bool: "true or false", NoneType: "null"}


class Registry(dict[str, T]):
    """Things that come in many kinds, found by name: methods, readers, protocols, losses, metrics.

    Names are in small letters and in the order in which they were added.

    >>> losses = Registry[float]("loss")
    >>> losses.add("focal", 2.0)
    >>> losses.named("Focal")
    2.0
    """

    def __init__(self, what: str) -> None:
        #: What each entry is called in messages, as in "There is no method 'gxn'".
        self.what = what

    def add(self, name: str, entry: T, *, replace: bool = False) -> None:
        """Register an entry; a name can be taken only once, unless the entry is meant to replace the one before."""
        if name.lower() in self and not replace:
            raise PcnetError(f"There is a {self.what} '{name}' already; choose another name.")
        self[name.lower()] = entry

    def sort(self, first: str) -> None:
        """Order what has been added so far by its names, after the one that comes first."""
        ordered = sorted(self.items(), key=lambda entry: (entry[0] != first, entry[0]))
        self.clear()
        self.update(ordered)

    def remove(self, name: str) -> None:
        """Forget an entry, where things are tried out."""
        del self[name.lower()]

    def named(self, name: str) -> T:
        """The entry of this name in any case; a PcnetError lists the known names when there is none."""
        if name.lower() not in self:
            raise unknown(self.what, name, self)
        return self[name.lower()]


def one_of(name: str, value: T, known: Sequence[T]) -> T:
    """`value`, if it is one of the known ones."""
    if value not in known:
        words = [str(each) for each in known]
        raise PcnetError(f"{name} cannot be {value!r}; choose from {', '.join(words)}.{close_match(str(value), words)}")
    return value


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """`value` as an int that is at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise PcnetError(f"{name} must be a whole number, not {value!r}.") from None
    if number < least:
        raise PcnetError(f"{name} must be at least {least}, not {number}.")
    return number


def finite_number(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """`value` as a finite float within bounds."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise PcnetError(f"{name} must be one number, not {value!r}.") from None
    if not math.isfinite(number):
        raise PcnetError(f"{name} must be finite, not {number}.")
    if not least <= number <= most:
        bound = f"least {least:g}" if number < least else f"most {most:g}"
        raise PcnetError(f"{name} must be at {bound}, not {number:g}.")
    return number


def positive_number(name: str, value: Any) -> float:
    """`value` as a finite float above zero."""
    number = finite_number(name, value)
    if number <= 0:
        raise PcnetError(f"{name} must be above 0, not {number:g}.")
    return number


def finite_array(name: str, values: Any) -> FloatArray:
    """`values` as a float64 array without NaN or infinity."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PcnetError(f"{name} must hold numbers only, not {values!r}.") from None
    if not np.isfinite(array).all():
        raise PcnetError(f"{name} must be finite; drop its NaN and infinite entries.")
    return array


def finite_interval(name: str, ends: Sequence[float], *, may_be_a_point: bool = False) -> tuple[float, float]:
    """`ends` as (low, high) with low < high, or low = high where a single point makes sense."""
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise PcnetError(f"{name} must be a pair (low, high), not {ends!r}.") from None
    low, high = finite_number(f"{name}'s low end", low), finite_number(f"{name}'s high end", high)
    if low > high or (low == high and not may_be_a_point):
        raise PcnetError(f"{name} must have its low end below its high end, not ({low:g}, {high:g}).")
    return low, high


def from_json(kind: Any, value: Any, name: str = "it") -> Any:
    """A value out of a JSON file as a type, or a PcnetError that calls it `name` and says what it must be.

    The type is Any, a plain one, a `Literal`, a union, `tuple[T, ...]` (a list), `dict[str, T]` (an object) or a
    dataclass: an object with its fields, of which those with defaults may be missing; what else is there is ignored.
    Numbers must be finite, and texts are such as UTF-8 can write.

    >>> from_json(dict[str, tuple[int, ...]], {"seeds": [3, 4]})
    {'seeds': (3, 4)}
    >>> from_json(dict[str, tuple[int, ...]], {"seeds": [3, "4"]})
    Traceback (most recent call last):
    pcnet.errors.PcnetError: seeds[1] must be a whole number, not '4'.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        others = [part for part in parts if part != NoneType]
        # Where there is one type besides null, it says what is wrong.
        fitting = [part for part in parts if _looks_like(part, value)] or (others if len(others) == 1 else [])
        if fitting:
            return from_json(fitting[0], value, name)
    elif origin is Literal:
        if any(type(value) is type(known) and value == known for known in parts):
            return value
    elif _looks_like(kind, value):
        if origin is tuple:
            return tuple(from_json(parts[0], each, f"{name}[{place}]") for place, each in enumerate(value))
        if origin is dict or is_dataclass(kind):
            inside = "" if name == "it" else f"{name}."
            if origin is dict:
                return {key: from_json(parts[1], each, inside + key) for key, each in value.items()}
            return _made(kind, value, inside)
        return float(value) if kind is float else value
    short = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}…"
    raise PcnetError(f"{name} must be {_called(kind)}, not {short}.")


def _made(kind: Any, value: dict[str, Any], inside: str) -> Any:
    """A dataclass of the entries of an object."""
    hints, known = get_type_hints(kind), {}
    for each in fields(kind):
        if each.name in value:
            known[each.name] = from_json(hints[each.name], value[each.name], inside + each.name)
        elif each.default is MISSING and each.default_factory is MISSING:
            raise PcnetError(f"{inside}{each.name} is missing.")
    return kind(**known)


def _looks_like(kind: Any, value: Any) -> bool:
    """Whether a value is of a type, as far as one sees without looking into it."""
    if kind is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    if kind is str:
        return type(value) is str and writable(value)
    if kind in _CALLED:
        return type(value) is kind
    return isinstance(value, list if get_origin(kind) is tuple else dict)


def _called(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_called, get_args(kind)))
    return _CALLED.get(kind, "a list" if get_origin(kind) is tuple else "an object")


def writable(text: str) -> bool:
    """Whether UTF-8 can write a text: damaged files hold halves of characters, which nothing can.

    >>> writable("naïve"), writable("\\ud83d")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
