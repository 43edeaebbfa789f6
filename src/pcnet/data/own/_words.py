"""Columns of words in the forms that read, check and encode fast: codes of whole cells, and bags of what is in them."""

from __future__ import annotations

import json
import numbers
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

#: Whole numbers as one would write them (no +, no leading zeros), at most 18 digits: they fit into 64 bits.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


class Codes(dict[str, int]):
    """Numbers words in the order in which they are first asked for; the empty word is −1."""

    def __init__(self) -> None:
        super().__init__({"": -1})

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self) - 1
        return code

    @property
    def words(self) -> list[str]:
        """All words but the empty one; word c has the code c."""
        return list(self)[1:]


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
        """Number the words of a column."""
        codes = Codes()
        numbers = np.fromiter(map(codes.__getitem__, words), dtype=np.int32)
        return Coded(codes.words, numbers, text)

    @property
    def empty(self) -> int:
        """How many cells are empty."""
        return int((self.codes < 0).sum())

    @property
    def different(self) -> bool:
        """Whether every row has a word of its own."""
        return len(self.words) == len(self.codes)

    def spread(self, values: NDArray, empty: object) -> NDArray:
        """`values[c]` for the word c of every row, `empty` where the cell is."""
        # The code −1 finds the last entry.
        return np.append(values, np.array([empty], dtype=values.dtype))[self.codes]

    def of_rows(self, rows: NDArray[np.int64]) -> Coded:
        """The column of other rows, each a row of this one, or empty at −1."""
        codes = np.append(self.codes, -1)[rows]
        there = codes[codes >= 0]
        kept, first = np.unique(there, return_index=True)
        order = np.argsort(first)
        renumbered = np.full(len(self.words) + 1, -1, dtype=np.int32)
        renumbered[kept[order]] = np.arange(len(kept), dtype=np.int32)
        return Coded([self.words[code] for code in kept[order].tolist()], renumbered[codes], self.text)

    def row_of(self, code: int) -> int:
        """The first row with that code."""
        return int(np.argmax(self.codes == code))

    @property
    def whole(self) -> bool:
        """Whether every word is a whole number."""
        return not self.text and bool(self.words) and all(map(_INTEGER.fullmatch, self.words))

    def names(self) -> NDArray:
        """The words as an array: integers where all are whole numbers, else strings."""
        return np.array(self.words, dtype=np.str_).astype(np.int64) if self.whole else np.array(self.words, dtype=str)


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


@dataclass(frozen=True, eq=False)
class Bag:
    """`counts[c, w]`: how often `words[w]` occurs in the cell c. Row r has the cell `codes[r]`, none at −1."""

    words: list[str]
    counts: scipy.sparse.csr_matrix
    codes: NDArray[np.integer]

    @staticmethod
    def of(cells: Iterable[Sequence[str]], codes: NDArray[np.integer]) -> Bag:
        """Count the words of the different cells."""
        place: defaultdict[str, int] = defaultdict(count().__next__)
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
        each = np.repeat(rows, np.diff(self.counts.indptr))
        return np.bincount(self.counts.indices, each, minlength=len(self.words)).astype(np.int64).tolist()

    def of_rows(self, rows: NDArray[np.int64]) -> Bag:
        """The bag of other rows, each a row of this one, or nothing at −1."""
        return replace(self, codes=np.append(self.codes, -1)[rows])

    def features(self, vocabulary: Sequence[str]) -> scipy.sparse.csr_matrix:
        """A row of counts for each row, a column for each word of the vocabulary."""
        place = {word: column for column, word in enumerate(vocabulary)}
        columns = np.array([place.get(word, -1) for word in self.words], dtype=np.int64)[self.counts.indices]
        known = columns >= 0
        start = np.concatenate([[0], np.cumsum(known)])[self.counts.indptr]
        parts = (self.counts.data[known], columns[known], start)
        shape = (self.counts.shape[0], len(vocabulary))
        return spread_rows(self.codes, scipy.sparse.csr_matrix(parts, shape=shape))


def spread_rows(codes: NDArray[np.integer], rows: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Row `codes[r]` of `rows` for every r, zeros at −1."""
    nothing = scipy.sparse.csr_matrix((1, rows.shape[1]), dtype=rows.dtype)
    return scipy.sparse.vstack([rows, nothing], format="csr")[codes]


def words_in(cell: str) -> list[str]:
    """The words of a bag, in lower case: the items of a JSON list of words, or what spaces separate."""
    items = items_in(cell) if cell.startswith("[") else []
    return [str(item).lower() for item in items] if items else cell.lower().split()


def items_in(word: str) -> list[object]:
    """What a JSON list holds; nothing where the word is none."""
    try:
        items = json.loads(word)
    except (ValueError, RecursionError):
        return []
    return items if isinstance(items, list) else []
