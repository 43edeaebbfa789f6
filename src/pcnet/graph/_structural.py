"""Nodes that are alike by what surrounds them: struc2vec's distances (Ribeiro et al., KDD 2017), as WRGAT uses them."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from pcnet._checks import FloatArray
from pcnet._files import write_atomically
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetError
from pcnet.graph._warping import DegreeSequences, Ints, warping_distances

#: Smaller graphs are computed anew, which takes a second or less.
_WORTH_KEEPING = 300
#: Stands in the names of files; another way to compute needs another one.
_FORMAT = "structural-1"


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

    @cached_property
    def starts(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.counts)])

    def ring(self, k: int) -> StructuralEdges:
        """Ring k's edges: each pair in both directions.

        Weights are exp(−f_k), divided by their sum over the edges that leave the same node (each as often as it is
        there), or 0 where nothing is left of that sum.
        """
        count = int(self.counts[k])
        ends = self.pairs[:, :count]
        source, target = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
        copies = np.tile(self.copies[:count], 2).astype(np.float64)
        near = np.exp(-np.tile(self.distances[self.starts[k] : self.starts[k + 1]], 2))
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
    simple = _simple(adjacency)
    if simple.shape[0] < _WORTH_KEEPING:
        return _compute(simple, progress)
    digest = hashlib.sha256(_FORMAT.encode())
    for part in (simple.indptr, simple.indices):
        digest.update(part.astype(np.int64).tobytes())
    folder = Path(os.environ.get("PCNET_CACHE") or "~/.cache/pcnet").expanduser()
    path = folder / "structural" / f"{digest.hexdigest()}.npz"
    found = _read(path, simple.shape[0])
    if found is None:
        found = _compute(simple, progress)
        # Where nothing can be written, nothing is kept.
        with contextlib.suppress(PcnetError):
            _write(path, found)
    return found


def _read(path: Path, n: int) -> StructuralPairs | None:
    """What the file holds; nothing where it is missing or damaged."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return StructuralPairs(n, file["pairs"], file["copies"], file["counts"], file["distances"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, found: StructuralPairs) -> None:
    arrays = {name: getattr(found, name) for name in ("pairs", "copies", "counts", "distances")}

    def write(target: Path) -> None:
        with target.open("wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(path, write)


def _simple(adjacency: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """1 for every two nodes that are linked."""
    both = scipy.sparse.csr_matrix(adjacency + adjacency.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    both.data = np.ones(both.nnz)
    return both


def _compute(simple: scipy.sparse.csr_matrix, progress: Progress | None) -> StructuralPairs:
    n, degrees = simple.shape[0], np.diff(simple.indptr)
    progress, known = progress or Silent(), 0
    progress.stage("looking at the graph", 2 * n)

    def report(done: int) -> None:
        nonlocal known
        progress.advance(done - known)
        known = done

    rings, sequences = _ring_sequences(simple, degrees, report)
    chooser, chosen = comparisons(degrees)
    keys, copies = np.unique(np.minimum(chooser, chosen) * n + np.maximum(chooser, chosen), return_counts=True)
    pairs = np.stack([keys // n, keys % n])
    common = np.diff(rings.indptr)[pairs].min(axis=0)
    order = np.argsort(-common, kind="stable")
    pairs, copies, common = pairs[:, order], copies[order], common[order]
    counts = np.array([np.count_nonzero(common > k) for k in range(common.max(initial=0))], dtype=np.int64)
    first, second = (rings.indptr[:-1][ends] for ends in pairs)
    f, distances = np.zeros(len(common)), []
    before, total = np.cumsum([0, *counts]), max(1, int(counts.sum()))
    for k, count in enumerate(counts):

        def within(share: float, k: int = k) -> None:
            report(n + int(n * (before[k] + share * counts[k]) / total))

        one, other = (rings.indices[each[:count] + k] for each in (first, second))
        f = f[:count] + _ring_distances(sequences, one, other, within)
        distances.append(f)
    report(2 * n)
    flat = np.concatenate([*distances, np.empty(0)])
    return StructuralPairs(n, pairs.astype(np.int32), copies.astype(np.int8), counts, flat)


@dataclass(frozen=True, eq=False)
class _Rings:
    """Ring k of node v has the degrees of sequence number `indices[indptr[v] + k]`."""

    indptr: Ints
    indices: Ints


def _ring_sequences(
    simple: scipy.sparse.csr_matrix, degrees: Ints, report: Callable[[int], None]
) -> tuple[_Rings, DegreeSequences]:
    """Every node's rings, by a breadth-first search from it; equal rings, of which there are many, share a sequence."""
    values, kind = np.unique(degrees, return_inverse=True)
    numbers: dict[bytes, int] = {}
    tables: list[NDArray[np.int32]] = []
    indices: list[int] = []
    indptr, position = [0], np.empty(len(degrees), dtype=np.int64)
    for node in range(len(degrees)):
        order, came_from = breadth_first_order(simple, node, directed=True)
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
            number = numbers.setdefault(own.tobytes(), len(numbers))
            if number == len(tables):
                tables.append(own)
            indices.append(number)
        indptr.append(len(indices))
        report(node + 1)
    return _Rings(np.array(indptr), np.array(indices)), DegreeSequences.of(tables)


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


def _ring_distances(
    sequences: DegreeSequences, first: Ints, second: Ints, report: Callable[[float], None]
) -> FloatArray:
    """g of every two rings, computed once for each two sequences."""
    total = len(sequences.lengths)
    keys, which = np.unique(np.minimum(first, second) * total + np.maximum(first, second), return_inverse=True)
    unlike = keys // total != keys % total
    distances = np.zeros(len(keys))
    distances[unlike] = warping_distances(sequences, keys[unlike] // total, keys[unlike] % total, report)
    return distances[which]
