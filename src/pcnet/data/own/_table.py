"""A table whose cells are words (CSV, GraphML, NetworkX): what each column can be read as, and where it cannot."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet._progress import Progress
from pcnet.data.own._words import Bag, Coded, items_in, spread_rows, words_in
from pcnet.errors import PcnetError
from pcnet.graph import Kind

TRUE, FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
#: Sums of a hundred million numbers below this are still numbers of 32 bits.
LARGEST = 1e30
#: Features that a category becomes at most; a column of more different words is a bag of words or left out.
MOST_CATEGORIES = 50
#: From this share of numbers on, a column is meant to hold numbers and the rest of it is a mistake.
_MEANT_AS_NUMBERS = 0.8
#: A sentence names at most this many columns and counts the rest.
_NAMED = 12


class Table:
    """`rows` rows of named columns; `title` is what sentences call it and `locate(row)` where a row stands in it."""

    def __init__(
        self, title: str, columns: Mapping[str, Coded], rows: int, locate: Callable[[int], str] = "row {}".format
    ) -> None:
        self.title, self.names, self.rows = title, tuple(columns), rows
        self._columns, self._locate = columns, locate
        # Asked for twice, to be described and to be encoded; they take longest to read.
        self._lists: dict[str, scipy.sparse.csr_matrix] = {}
        self._bags: dict[str, Bag] = {}

    def coded(self, column: str) -> Coded:
        """The column as words."""
        return self._columns[column]

    def kind(self, column: str) -> Kind | None:
        """What the column looks like; None where it is empty or has too many different words."""
        return kind_of_words(self.coded(column))

    def numbers(self, column: str) -> NDArray[np.float64]:
        """The column as finite numbers, NaN where a cell is empty."""
        coded = self.coded(column)
        values = np.fromiter(map(_number, coded.words), dtype=np.float64, count=len(coded.words))
        self._check(column, np.abs(values) <= LARGEST, "is not a finite number")
        return coded.spread(values, np.nan)

    def flags(self, column: str) -> NDArray[np.float64]:
        """The column as 1 (true, yes) and 0 (false, no, empty)."""
        words = [word.lower() for word in self.coded(column).words]
        self._check(column, [word in TRUE | FALSE for word in words], "is none of true, false, yes, no, 1, 0")
        return self.coded(column).spread(np.array([word in TRUE for word in words], dtype=np.float64), 0.0)

    def lists(self, column: str) -> scipy.sparse.csr_matrix:
        """The column as rows of numbers, all of one length; an empty cell is a row of zeros."""
        if column not in self._lists:
            self._lists[column] = self._read_lists(column)
        return self._lists[column]

    def bag(self, column: str) -> Bag:
        """The column as words and how often each occurs."""
        if column not in self._bags:
            coded = self.coded(column)
            self._bags[column] = Bag.of(map(words_in, coded.words), coded.codes)
        return self._bags[column]

    def _read_lists(self, column: str) -> scipy.sparse.csr_matrix:
        coded = self.coded(column)
        rows = [_numbers_in(word) for word in coded.words]
        self._check(column, [row is not None for row in rows], "is not a list of finite numbers")
        lists = cast(list[NDArray[np.float32]], rows)
        width = len(lists[0]) if lists else 0
        self._check(column, [len(row) == width for row in lists], f"is not a list of {width} numbers")
        filled = [np.flatnonzero(row) for row in lists]
        start = np.cumsum([0, *map(len, filled)])
        values = [row[places] for row, places in zip(lists, filled, strict=True)]
        none = np.empty(0)
        parts = (np.concatenate([none.astype("f4"), *values]), np.concatenate([none.astype("i8"), *filled]), start)
        return spread_rows(coded.codes, scipy.sparse.csr_matrix(parts, shape=(len(lists), width)))

    def where(self, row: int, column: str) -> str:
        """The place of a cell."""
        return f"{self.title}, {self._locate(row)}, column '{column}'"

    def refuse(self, row: int, column: str, complaint: str) -> NoReturn:
        """Stop with the place of a cell and what is wrong with it."""
        raise PcnetError(f"{self.where(row, column)}: {complaint}.")

    def _check(self, column: str, good: NDArray[np.bool_] | list[bool], complaint: str) -> None:
        """Words are in the order of their rows, so that the first bad word is the first bad cell."""
        if not np.all(good):
            code, coded = int(np.argmin(good)), self.coded(column)
            complaint = f"{shortened(coded.words[code])} {complaint}; correct it or leave the column out (drop)"
            self.refuse(coded.row_of(code), column, complaint)


@dataclass(frozen=True)
class Source(ABC):
    """A table that knows its columns before it is read; `size` is how many bytes of a file that takes."""

    title: str
    names: tuple[str, ...]
    size: int = 0
    notes: tuple[str, ...] = ()

    @abstractmethod
    def read(self, names: Sequence[str], progress: Progress) -> Table:
        """The named columns."""


def kind_of_words(coded: Coded) -> Kind | None:
    """What a column of words is, from all of its different words."""
    words = coded.words
    if not words:
        return None
    if all(word.lower() in TRUE | FALSE for word in words):
        return "boolean"
    if sum(not math.isnan(_number(word)) for word in words) >= _MEANT_AS_NUMBERS * len(words):
        return "number"
    if all(word.startswith("[") for word in words):
        return "bag" if isinstance(next(iter(items_in(words[0])), 0.0), str) else "vector"
    spaced = any(len(word.split()) > 1 for word in words)
    repeated = 2 * len(words) <= len(coded.codes) - coded.empty
    if len(words) <= MOST_CATEGORIES and (repeated or not spaced):
        return "category"
    return "bag" if spaced else None


def shortened(word: str) -> str:
    """The word in quotation marks, on one line and never long."""
    return repr(word if len(word) <= 40 else f"{word[:37]}…")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; many are counted."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _number(word: str) -> float:
    """The number that a word is, else NaN. Python would read 1_2 as twelve; most tables mean a name."""
    try:
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan


def _numbers_in(word: str) -> NDArray[np.float32] | None:
    """A JSON list of numbers, or None."""
    items = items_in(word)
    if not items or not set(map(type, items)) <= {int, float}:
        return None
    try:
        values = np.array(items, dtype=np.float64)
    except OverflowError:
        return None
    return values.astype(np.float32) if math.isfinite(values.sum()) and np.abs(values).max() <= LARGEST else None
