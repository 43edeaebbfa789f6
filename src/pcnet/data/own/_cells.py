"""Columns of a table: their cells as words, each different word once, and what else they can be read as."""

from __future__ import annotations

import json
import math
import numbers
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet.data.own._columns import number_in
from pcnet.errors import PcnetError
from pcnet.graph import Kind

TRUE, FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
#: Sums of a hundred million numbers below this are still numbers of 32 bits.
LARGEST = 1e30
#: Features that a category becomes at most; a column of more different words is a bag of words or left out.
MOST_CATEGORIES = 50
#: From this share of numbers on, a column is meant to hold numbers and the rest of it is a mistake.
_MEANT_AS_NUMBERS = 0.8
#: Whole numbers as one would write them (no +, no leading zeros), at most 18 digits: they fit into 64 bits.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def numbering(*first: str) -> defaultdict[str, int]:
    """Numbers words in the order in which they are first asked for; those given have the numbers below 0."""
    numbers: defaultdict[str, int] = defaultdict(count(-len(first)).__next__)
    for word in first:
        numbers[word]
    return numbers


@dataclass(frozen=True, eq=False)
class Coded:
    """Row r holds `words[codes[r]]`; the code −1 is an empty cell. Words stand in the order of their first rows.

    `text` says that the words are known to be text even where they look like numbers (a typed file says so).
    """

    words: list[str]
    codes: NDArray[np.int32]
    text: bool = False

    @staticmethod
    def of(words: Iterable[str], *, text: bool = False) -> Coded:
        code = numbering("")
        codes = np.fromiter(map(code.__getitem__, words), dtype=np.int32)
        return Coded(list(code)[1:], codes, text)

    @property
    def empty(self) -> int:
        return int((self.codes < 0).sum())

    @property
    def repeated(self) -> bool:
        """Whether a word fills two cells on average."""
        return 2 * len(self.words) <= len(self.codes) - self.empty

    def spread(self, values: NDArray, empty: object) -> NDArray:
        """`values[c]` for the word c of every row, `empty` where the cell is."""
        # The code −1 finds the last entry.
        return np.append(values, np.array([empty], dtype=values.dtype))[self.codes]

    def of_rows(self, rows: NDArray[np.int64]) -> Coded:
        """The column of other rows, each a row of this one, or empty at −1."""
        words = [*self.words, ""]
        return Coded.of((words[code] for code in np.append(self.codes, -1)[rows].tolist()), text=self.text)

    @property
    def whole(self) -> bool:
        return not self.text and bool(self.words) and all(map(_INTEGER.fullmatch, self.words))

    def names(self) -> NDArray:
        """The words as an array: integers where all are whole numbers, else strings."""
        return np.array(self.words, dtype=np.str_).astype(np.int64) if self.whole else np.array(self.words, dtype=str)

    @property
    def sorted(self) -> NDArray:
        """The words as an array in order: whole numbers by size, else by letters."""
        return np.sort(self.names())


@dataclass(frozen=True, eq=False)
class Bag:
    """`counts[c, w]`: how often `words[w]` occurs in the cell c. Row r has the cell `codes[r]`, none at −1."""

    words: list[str]
    counts: scipy.sparse.csr_matrix
    codes: NDArray[np.integer]

    @staticmethod
    def of(cells: Iterable[Sequence[str]], codes: NDArray[np.integer]) -> Bag:
        place = numbering()
        places, ends = array("i"), array("q", [0])
        for words in cells:
            places.extend(map(place.__getitem__, words))
            ends.append(len(places))
        parts = (np.ones(len(places), dtype=np.float32), np.array(places), np.array(ends))
        counts = scipy.sparse.csr_matrix(parts, shape=(len(ends) - 1, len(place)))
        counts.sum_duplicates()
        return Bag(list(place), counts, codes)

    @property
    def frequency(self) -> list[int]:
        """How many rows have each word."""
        rows = np.bincount(self.codes[self.codes >= 0], minlength=self.counts.shape[0])
        return ((self.counts > 0).T @ rows).tolist()

    def features(self, vocabulary: Sequence[str]) -> scipy.sparse.csr_matrix:
        """A row of counts for each row, a column for each word of the vocabulary."""
        place = {word: column for column, word in enumerate(self.words)}
        never = scipy.sparse.csr_matrix((self.counts.shape[0], 1), dtype=np.float32)
        counts = scipy.sparse.hstack([self.counts, never], format="csr")
        return spread_rows(self.codes, counts[:, [place.get(word, len(place)) for word in vocabulary]])


def spread_rows(codes: NDArray[np.integer], rows: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Row `codes[r]` of `rows` for every r, zeros at −1."""
    nothing = scipy.sparse.csr_matrix((1, rows.shape[1]), dtype=rows.dtype)
    return scipy.sparse.vstack([rows, nothing], format="csr")[codes]


class Cells:
    """One column; `title` is what sentences call its table, `where(row)` a cell; `code` makes words of the cells."""

    def __init__(self, title: str, name: str, where: Callable[[int], str], code: Callable[[], Coded]) -> None:
        self.title, self.name, self.where, self._code = title, name, where, code

    @cached_property
    def coded(self) -> Coded:
        return self._code()

    @cached_property
    def kind(self) -> Kind | None:
        """What the column looks like by all of its different words; None where it is empty or has too many."""
        words = self.coded.words
        if not words:
            return None
        if all(word.lower() in TRUE | FALSE for word in words):
            return "boolean"
        if sum(not math.isnan(number_in(word)) for word in words) >= _MEANT_AS_NUMBERS * len(words):
            return "number"
        if all(word.startswith("[") for word in words):
            return "bag" if isinstance(next(iter(_items_in(words[0])), 0.0), str) else "vector"
        spaced = any(len(word.split()) > 1 for word in words)
        if len(words) <= MOST_CATEGORIES and (self.coded.repeated or not spaced):
            return "category"
        return "bag" if spaced else None

    def numbers(self) -> NDArray[np.float64]:
        """Finite numbers, NaN where a cell is empty."""
        coded = self.coded
        values = np.fromiter(map(number_in, coded.words), dtype=np.float64, count=len(coded.words))
        self._check(np.abs(values) <= LARGEST, "is not a finite number")
        return coded.spread(values, np.nan)

    def flags(self) -> NDArray[np.float64]:
        """1 (true, yes) and 0 (false, no, empty)."""
        words = [word.lower() for word in self.coded.words]
        self._check([word in TRUE | FALSE for word in words], "is none of true, false, yes, no, 1, 0")
        return self.coded.spread(np.array([word in TRUE for word in words], dtype=np.float64), 0.0)

    # Lists and bags are asked for twice, to be described and to be encoded, and take longest to read.
    @cached_property
    def lists(self) -> scipy.sparse.csr_matrix:
        """Rows of numbers, all of one length; an empty cell is a row of zeros."""
        rows = [_numbers_in(word) for word in self.coded.words]
        self._check([row is not None for row in rows], "is not a list of finite numbers")
        lists = [row for row in rows if row is not None]
        width = len(lists[0]) if lists else 0
        self._check([len(row) == width for row in lists], f"is not a list of {width} numbers")
        matrix = scipy.sparse.csr_matrix(np.stack(lists) if lists else np.empty((0, 0), np.float32))
        return spread_rows(self.coded.codes, matrix)

    @cached_property
    def bag(self) -> Bag:
        """Words, in small letters, and how often each occurs."""
        return Bag.of(map(_words_in, self.coded.words), self.coded.codes)

    def refuse(self, row: int, complaint: str) -> NoReturn:
        """Stop with the place of a cell and what is wrong with it."""
        raise PcnetError(f"{self.where(row)}: {complaint}.")

    def refuse_word(self, code: int, complaint: str) -> NoReturn:
        """Stop at the first cell that holds a word."""
        self.refuse(int(np.argmax(self.coded.codes == code)), complaint)

    def _check(self, good: NDArray[np.bool_] | list[bool], complaint: str) -> None:
        """Words are in the order of their rows, so that the first bad word is the first bad cell."""
        if not np.all(good):
            code = int(np.argmin(good))
            word = shortened(self.coded.words[code])
            self.refuse_word(code, f"{word} {complaint}; correct it or leave the column out (drop)")


class Table(NamedTuple):
    """`rows` rows of columns; `title` is what sentences call it."""

    title: str
    columns: Mapping[str, Cells]
    rows: int

    @staticmethod
    def of_words(title: str, words: Mapping[str, Coded], rows: int, locate: Callable[[int], str]) -> Table:
        """A table of words; `locate(row)` is where a row stands in it."""

        def cells(name: str) -> Cells:
            return Cells(title, name, lambda row: f"{title}, {locate(row)}, column '{name}'", lambda: words[name])

        return Table(title, {name: cells(name) for name in words}, rows)


def word_of(value: Any) -> str:
    """A value as a CSV file would have it."""
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return json.dumps(value, default=str)
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, int)):
        return repr(float(value))
    return str(value).strip()


def shortened(word: str) -> str:
    """The word in quotation marks, on one line and never long."""
    return repr(word if len(word) <= 40 else f"{word[:37]}…")


def _words_in(cell: str) -> list[str]:
    """The items of a JSON list of words, or what spaces separate."""
    items = _items_in(cell) if cell.startswith("[") else []
    return [str(item).lower() for item in items] if items else cell.lower().split()


def _numbers_in(word: str) -> NDArray[np.float32] | None:
    """A JSON list of numbers, or None."""
    items = _items_in(word)
    if not items or not set(map(type, items)) <= {int, float}:
        return None
    try:
        values = np.array(items, dtype=np.float64)
    except OverflowError:
        return None
    return values.astype(np.float32) if np.abs(values).max() <= LARGEST else None


def _items_in(word: str) -> list[Any]:
    """What a JSON list holds; nothing where the word is none."""
    try:
        items = json.loads(word)
    except (ValueError, RecursionError):
        return []
    return items if isinstance(items, list) else []
