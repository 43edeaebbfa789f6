"""Bags of words: how often each word occurs in each cell of a column."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


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
