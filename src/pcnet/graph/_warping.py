"""Dynamic time warping of many pairs of short sequences at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcnet._checks import FloatArray

Ints = NDArray[np.int64]

#: Cells of an anti-diagonal that are computed in one go: few enough for the processor's cache.
_CELLS = 16384


@dataclass(frozen=True, eq=False)
class DegreeSequences:
    """Sequences of (degree, count), degrees ascending, end to end: number s is `[start[s] : start[s+1]]` of both."""

    start: Ints
    degree: FloatArray
    count: FloatArray

    @staticmethod
    def of(tables: Sequence[NDArray[np.int32]]) -> DegreeSequences:
        """From arrays (length, 2)."""
        joined = np.concatenate([*tables, np.empty((0, 2), dtype=np.int32)]).astype(np.float64)
        start = np.cumsum([0, *(len(table) for table in tables)])
        return DegreeSequences(start, joined[:, 0], joined[:, 1])

    @property
    def lengths(self) -> Ints:
        return np.diff(self.start)

    def padded(self, which: Ints) -> tuple[FloatArray, FloatArray]:
        """degree + ½ and count, (longest, len(which)): a column for each sequence, filled up with ½ and 0."""
        lengths = self.lengths[which]
        place = np.arange(lengths.max())[:, None]
        inside = place < lengths
        where = np.where(inside, self.start[which] + place, 0)
        return np.where(inside, self.degree[where], 0.0) + 0.5, np.where(inside, self.count[where], 0.0)


def warping_distances(
    sequences: DegreeSequences, first: Ints, second: Ints, report: Callable[[float], None] = lambda share: None
) -> FloatArray:
    """min over monotone alignments of Σ ((max(a,b)+½) / (min(a,b)+½) − 1) · max(counts), for every pair of sequences.

    It is the minimum itself; the authors take FastDTW's, which searches near that of shortened sequences only.
    `report` is told which share of the work is done.
    """
    lengths = sequences.lengths
    swap = lengths[first] > lengths[second]
    short, long = np.where(swap, second, first), np.where(swap, first, second)
    distances, cells = np.empty(len(first)), lengths[short] * lengths[long]
    # Pairs of similar lengths together, so that little is computed for nothing: the last of them is about as long.
    order, begin, done = np.lexsort((lengths[short], lengths[long])), 0, 0
    while begin < len(order):
        some = order[begin : begin + max(1, _CELLS // max(1, lengths[short[order[begin]]]))]
        distances[some] = _warp(sequences, short[some], long[some])
        begin, done = begin + len(some), done + int(cells[some].sum())
        report(done / int(cells.sum()))
    return distances


def _warp(sequences: DegreeSequences, short: Ints, long: Ints) -> FloatArray:
    """D_ij = c_ij + min(D_{i−1,j}, D_{i,j−1}, D_{i−1,j−1}), all cells of an anti-diagonal i + j = s at once.

    The diagonals before are kept by i, moved by one: in front of i = 0 and behind the last i reached there is ∞.
    """
    a, count_a = sequences.padded(short)
    b, count_b = (each[::-1] for each in sequences.padded(long))
    rows, columns, pairs = len(a), len(b), len(short)
    last = sequences.lengths[short] - 1
    ends = last + sequences.lengths[long] - 1
    distances = np.empty(pairs)
    before, earlier, now = (np.full((rows + 1, pairs), np.inf) for _ in range(3))
    earlier[0] = 0.0
    for s in range(rows + columns - 1):
        i, stop = max(0, s - columns + 1), min(s, rows - 1) + 1
        # b is turned round, so that j = s − i ascends with i.
        mine, theirs = slice(i, stop), slice(columns - 1 - s + i, columns - 1 - s + stop)
        ratio = a[mine] / b[theirs]
        cost = np.maximum(ratio, 1 / ratio) - 1
        cost *= np.maximum(count_a[mine], count_b[theirs])
        best = np.minimum(before[i:stop], before[i + 1 : stop + 1])
        now[i + 1 : stop + 1] = np.minimum(best, earlier[i:stop], out=best) + cost
        ending = np.flatnonzero(ends == s)
        distances[ending] = now[last[ending] + 1, ending]
        earlier[0] = np.inf
        before, earlier, now = now, before, earlier
    return distances
