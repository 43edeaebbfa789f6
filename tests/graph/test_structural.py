"""Structural pairs are struc2vec's, computed here node by node and cell by cell."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st

from pcnet._progress import Silent
from pcnet.data import csbm
from pcnet.graph import Operator, StructuralPairs, _structural, structural_pairs
from pcnet.graph._structural import DegreeSequences, warping_distances
from strategies import NAMED, Edges, dense_adjacency, graphs

Sequence = list[tuple[int, int]]


def linked(graph: Edges) -> dict[int, set[int]]:
    """Neighbours of the nodes that have any."""
    A = dense_adjacency(graph)
    found = {i: {j for j in range(len(A)) if j != i and (A[i, j] or A[j, i])} for i in range(len(A))}
    return {i: them for i, them in found.items() if them}


def rings_of(near: dict[int, set[int]], root: int) -> list[Sequence]:
    rings, seen, ring = [], {root}, [root]
    while ring:
        rings.append(sorted(Counter(len(near[v]) for v in ring).items()))
        ring = sorted({w for v in ring for w in near[v]} - seen)
        seen |= set(ring)
    return rings


def chosen_by(near: dict[int, set[int]], root: int) -> list[int]:
    """One degree after the other, always the closest that is left; of two, the higher."""
    own, found = len(near[root]), []
    for degree in sorted({len(them) for them in near.values()}, key=lambda d: (abs(d - own), -d)):
        for v in sorted(near):
            if v != root and len(near[v]) == degree:
                found.append(v)
                if len(found) > 2 * math.log2(len(near)):
                    return found
    return found


def warped(a: Sequence, b: Sequence) -> float:
    D = np.full((len(a) + 1, len(b) + 1), np.inf)
    D[0, 0] = 0
    for i, (degree_a, count_a) in enumerate(a, 1):
        for j, (degree_b, count_b) in enumerate(b, 1):
            high, low = max(degree_a, degree_b) + 0.5, min(degree_a, degree_b) + 0.5
            cost = (high / low - 1) * max(count_a, count_b)
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return float(D[-1, -1])


def plainly(graph: Edges) -> list[dict[tuple[int, int], tuple[float, int]]]:
    """Of every ring, the weight of the edge from u to v, and how often it is there."""
    near = linked(graph)
    rings = {v: rings_of(near, v) for v in near}
    lists: list[dict[int, list[tuple[int, float]]]] = []
    for u in near:
        for v in chosen_by(near, u):
            f = 0.0
            for k, (a, b) in enumerate(zip(rings[u], rings[v], strict=False)):
                f += warped(a, b)
                if k == len(lists):
                    lists.append(defaultdict(list))
                lists[k][u].append((v, math.exp(-f)))
                lists[k][v].append((u, math.exp(-f)))
    result = []
    for own in lists:
        edges: dict[tuple[int, int], tuple[float, int]] = {}
        for u, neighbours in own.items():
            total = sum(weight for _, weight in neighbours)
            for v, weight in neighbours:
                edges[u, v] = (weight / total if total else 0.0, edges.get((u, v), (0.0, 0))[1] + 1)
        result.append(edges)
    return result


def found_in(graph: Edges) -> StructuralPairs:
    return structural_pairs(scipy.sparse.csr_matrix(dense_adjacency(graph)))


@given(graph=graphs(max_nodes=25, directed=True))
@example(NAMED["one node"])
@example(NAMED["star"])
@example(NAMED["self loops"])
@example(NAMED["disconnected"])
def test_weights_and_copies_of_every_ring(graph):
    expected, found = plainly(graph), found_in(graph)
    assert found.rings == len(expected)
    for k, edges in enumerate(expected):
        ring = found.ring(k)
        ours = {
            (int(u), int(v)): (weight, copies)
            for u, v, weight, copies in zip(ring.source, ring.target, ring.weight, ring.copies, strict=True)
        }
        assert ours.keys() == edges.keys()
        for pair, (weight, copies) in edges.items():
            assert ours[pair] == (pytest.approx(weight, rel=1e-9), copies)


sequences = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12)


@given(st.lists(st.tuples(sequences, sequences), min_size=1, max_size=8))
def test_warping(pairs):
    tables = [np.array(each, dtype=np.int32) for pair in pairs for each in pair]
    first = np.arange(0, len(tables), 2)
    found = warping_distances(DegreeSequences.of(tables), first, first + 1)
    np.testing.assert_allclose(found, [warped(*pair) for pair in pairs], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found, warping_distances(DegreeSequences.of(tables), first + 1, first), rtol=1e-10)


def test_equal_surroundings_have_no_distance():
    """All leaves of a star look the same, and a triangle's nodes do."""
    star = found_in(NAMED["star"])
    leaves = (star.pairs > 0).all(axis=0)
    near = leaves[: star.counts[0]]
    assert (star.distances[: star.counts[0]][near] == 0).all()
    assert (found_in(NAMED["triangle"]).distances == 0).all()


def test_a_sum_that_vanishes_gives_no_weight():
    """Beyond e^-745 nothing is left."""
    pairs = StructuralPairs(2, np.array([[0], [1]], np.int32), np.ones(1, np.int8), np.array([1]), np.array([800.0]))
    assert pairs.ring(0).weight.tolist() == [0.0, 0.0]


def adjacency() -> scipy.sparse.csr_matrix:
    return Operator.from_graph(csbm(60, 0.5, seed=1), eta=0.0, self_loops="remove").matrix.to_scipy()


class NeverAgain(Silent):
    def stage(self, title: str, total: int) -> None:
        pytest.fail("It is computed again.")


def test_kept_on_disk_and_found_by_content(tmp_path, monkeypatch):
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path))
    assert list(tmp_path.rglob("*")) == []
    small = structural_pairs(adjacency())
    assert list(tmp_path.rglob("*")) == []
    monkeypatch.setattr(_structural, "_WORTH_KEEPING", 1)
    first = structural_pairs(adjacency())
    [file] = tmp_path.rglob("*.npz")
    second = structural_pairs(2 * adjacency(), progress=NeverAgain())
    for name in ("pairs", "copies", "counts", "distances"):
        for other in (first, second):
            np.testing.assert_array_equal(getattr(small, name), getattr(other, name))
    other = adjacency().tolil()
    other[0, 59] = other[59, 0] = 1 - other[0, 59]
    structural_pairs(other.tocsr())
    assert len([*tmp_path.rglob("*.npz")]) == 2
    file.write_bytes(file.read_bytes()[:100])
    np.testing.assert_array_equal(structural_pairs(adjacency()).distances, small.distances)
    with np.load(file) as again:
        assert again["pairs"].shape == small.pairs.shape


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.setattr(_structural, "_WORTH_KEEPING", 1)
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("PCNET_CACHE", str(blocked))
    assert structural_pairs(adjacency()).rings > 0
    assert blocked.read_text() == "no folder"


class Heard:
    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.units: list[int] = []

    def stage(self, title: str, total: int) -> None:
        self.stages.append((title, total))

    def advance(self, units: int = 1) -> None:
        self.units.append(units)


def test_progress_goes_to_the_end():
    heard = Heard()
    structural_pairs(adjacency(), progress=heard)
    assert heard.stages == [("looking at the graph", 120)]
    assert min(heard.units) >= 0
    assert sum(heard.units) == 120
