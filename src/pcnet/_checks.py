"""Names and values that several rooms check: each check returns what is meant, or says what to change."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pcnet.errors import PcnetError, close_match, unknown

FloatArray = NDArray[np.float64]
T = TypeVar("T")


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
