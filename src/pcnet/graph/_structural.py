"""Nodes that are alike by what surrounds them: struc2vec's distances (Ribeiro et al., KDD 2017), as WRGAT uses them."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from pcnet._checks import FloatArray
from pcnet._files import write_atomically
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetError

Ints = NDArray[np.int64]

#: Smaller graphs are computed anew, which takes a second or less.
_WORTH_KEEPING = 300
#: Cells of an anti-diagonal that are computed in one go: few enough for the processor's cache.
_CELLS = 16384
#: Stands in the names of files; another way to compute needs another one.
_FORMAT = "structural-1"
_KEPT = ("pairs", "copies", "counts", "distances")


@dataclass(frozen=True, eq=False)
class StructuralPairs:
    """Pairs u < v of nodes of similar degree, and f_k = Σ_{l≤k} g_l, how much their surroundings differ up to ring k.

    Ring l of a node is what lies at distance l, and g_l the distance of two rings by dynamic time warping of their
    sorted degrees. f_k is known while both nodes have a ring k: pairs with more rings come first, and the first
    `counts[k]` of them have an f_k.
    """

    num_nodes: int
    pairs: NDArray[np.int32]
    #: How many of its two nodes chose the other, 1 or 2.
    copies: NDArray[np.int8]
    counts: Ints
    #: f_0 of the pairs that have it, then f_1, …
    distances: FloatArray

    @property
    def rings(self) -> int:
        return len(self.counts)

    def ring(self, k: int) -> StructuralEdges:
        """Ring k's edges: each pair in both directions.

        Weights are exp(−f_k), divided by their sum over the edges that leave the same node (each as often as it is
        there), or 0 where nothing is left of that sum.
        """
        count, start = int(self.counts[k]), int(self.counts[:k].sum())
        ends = self.pairs[:, :count]
        source, target = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
        copies = np.tile(self.copies[:count], 2).astype(np.float64)
        near = np.exp(-np.tile(self.distances[start : start + count], 2))
        total = np.bincount(source, weights=near * copies, minlength=self.num_nodes)[source]
        return StructuralEdges(source, target, np.divide(near, total, out=np.zeros_like(near), where=total > 0), copies)


@dataclass(frozen=True, eq=False)
class StructuralEdges:
    """Edges with weights; `copies` is how often each is there."""

    source: Ints
    target: Ints
    weight: FloatArray
    copies: FloatArray


def structural_pairs(adjacency: scipy.sparse.csr_matrix, progress: Progress | None = None) -> StructuralPairs:
    """Those of a graph, whose edges count in both directions, without weights and loops.

    Of graphs for which it takes long they are kept under PCNET_CACHE and found again by content.
    """
    linked = scipy.sparse.csr_matrix(adjacency + adjacency.T)
    linked.setdiag(0)
    linked.eliminate_zeros()
    linked.sort_indices()
    linked.data = np.ones(linked.nnz)
    n, progress = linked.shape[0], progress or Silent()
    if n < _WORTH_KEEPING:
        return _compute(linked, progress)
    digest = hashlib.sha256(_FORMAT.encode())
    for part in (linked.indptr, linked.indices):
        digest.update(part.astype(np.int64).tobytes())
    folder = Path(os.environ.get("PCNET_CACHE") or "~/.cache/pcnet").expanduser()
    path = folder / "structural" / f"{digest.hexdigest()}.npz"
    # A file that is missing or damaged is written anew.
    damage = contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
    with damage, path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        return StructuralPairs(n, *(file[name] for name in _KEPT))
    found = _compute(linked, progress)

    def write(target: Path) -> None:
        with target.open("wb") as stream:
            np.savez(stream, **{name: getattr(found, name) for name in _KEPT})

    # Where nothing can be written, nothing is kept.
    with contextlib.suppress(PcnetError):
        write_atomically(path, write)
    return found


def _compute(linked: scipy.sparse.csr_matrix, progress: Progress) -> StructuralPairs:
    n, degrees = linked.shape[0], np.diff(linked.indptr)
    progress.stage("looking at the graph", 2 * n)
    begin, rings, sequences = _rings(linked, degrees, progress)
    chooser, chosen = comparisons(degrees)
    keys, copies = np.unique(np.minimum(chooser, chosen) * n + np.maximum(chooser, chosen), return_counts=True)
    pairs = np.stack([keys // n, keys % n])
    common = np.diff(begin)[pairs].min(axis=0)
    order = np.argsort(-common, kind="stable")
    pairs, copies, common = pairs[:, order], copies[order], common[order]
    counts = np.array([np.count_nonzero(common > k) for k in range(common.max(initial=0))], dtype=np.int64)
    places = [begin[pairs[:, :count]] + k for k, count in enumerate(counts)]
    first, second = rings[np.concatenate([np.empty((2, 0), dtype=np.int64), *places], axis=1)]
    # g of every two rings, computed once for each two sequences.
    total = len(sequences.lengths)
    keys, which = np.unique(np.minimum(first, second) * total + np.maximum(first, second), return_inverse=True)
    unlike, between, told = keys // total != keys % total, np.zeros(len(keys)), 0

    def report(share: float) -> None:
        nonlocal told
        progress.advance(int(n * share) - told)
        told = int(n * share)

    between[unlike] = warping_distances(sequences, keys[unlike] // total, keys[unlike] % total, report)
    report(1.0)
    distances, start = between[which], np.cumsum([0, *counts])
    for k in range(1, len(counts)):
        distances[start[k] : start[k + 1]] += distances[start[k - 1] : start[k - 1] + counts[k]]
    return StructuralPairs(n, pairs.astype(np.int32), copies.astype(np.int8), counts, distances)


def _rings(linked: scipy.sparse.csr_matrix, degrees: Ints, progress: Progress) -> tuple[Ints, Ints, DegreeSequences]:
    """Every node's rings, by a breadth-first search from it; equal rings, of which there are many, share a sequence.

    Ring k of node v has the degrees of sequence number `rings[begin[v] + k]`.
    """
    values, kind = np.unique(degrees, return_inverse=True)
    numbers: dict[bytes, int] = {}
    tables: list[NDArray[np.int32]] = []
    rings: list[int] = []
    begin, position = [0], np.empty(len(degrees), dtype=np.int64)
    for node in range(len(degrees)):
        order, came_from = breadth_first_order(linked, node, directed=True)
        position[order] = np.arange(len(order))
        parents = position[came_from[order[1:]]]
        # Whom a ring has brought in stand behind each other in the order: ring by ring, see how far that goes.
        ends = [1]
        while ends[-1] < len(order):
            ends.append(1 + int(np.searchsorted(parents, ends[-1])))
        ring = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
        counts = np.bincount(ring * len(values) + kind[order], minlength=len(ends) * len(values))
        where = np.flatnonzero(counts)
        table = np.stack([values[where % len(values)], counts[where]], axis=1).astype(np.int32)
        for own in np.split(table, np.searchsorted(where // len(values), np.arange(1, len(ends)))):
            rings.append(numbers.setdefault(own.tobytes(), len(numbers)))
            if rings[-1] == len(tables):
                tables.append(own)
        begin.append(len(rings))
        progress.advance()
    return np.array(begin), np.array(rings), DegreeSequences.of(tables)


def comparisons(degrees: Ints) -> tuple[Ints, Ints]:
    """(u, v) for every v that u is compared with: just more than 2·log2(n) nodes of the closest degrees.

    Those of u's own degree come first, then always the closest degree that is left, the higher of two equally close
    ones; within a degree, by number. Nodes without an edge are not compared.
    """
    linked = np.flatnonzero(degrees)
    if len(linked) < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    wanted = math.floor(2 * math.log2(len(linked))) + 1
    values, sizes = np.unique(degrees[linked], return_counts=True)
    buckets = np.split(linked[np.argsort(degrees[linked], kind="stable")], np.cumsum(sizes)[:-1])
    chooser, chosen = [], []
    for own, bucket in enumerate(buckets):
        # One more than is wanted: u itself may be among them.
        closest, low, high = [bucket], own - 1, own + 1
        while sum(map(len, closest)) <= wanted and (low >= 0 or high < len(values)):
            lower = low >= 0 and (high == len(values) or values[own] - values[low] < values[high] - values[own])
            closest.append(buckets[low if lower else high])
            low, high = (low - 1, high) if lower else (low, high + 1)
        offered = np.concatenate(closest)[: wanted + 1]
        taken = bucket[:, None] != offered
        taken[:, wanted:] &= ~taken.all(axis=1, keepdims=True)
        chooser.append(np.repeat(bucket, taken.sum(axis=1)))
        chosen.append(np.broadcast_to(offered, taken.shape)[taken])
    return np.concatenate(chooser), np.concatenate(chosen)


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
