"""A column of words in the form that reads, checks and encodes fast: each different word once, and a code a row."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
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
