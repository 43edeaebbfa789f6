"""Operators of edge lists are found again by content, and only by content."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from pcnet.graph import Operator, _operator, cached_operator

RING = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])


@pytest.fixture(autouse=True)
def empty_cache():
    _operator._cache.clear()
    yield
    _operator._cache.clear()


def get(edges, n=4, weight=None, eta=0.5, dtype=torch.float32) -> Operator:
    return cached_operator(edges, n, weight, eta=eta, dtype=dtype)


def fresh(edges, n=4, weight=None) -> torch.Tensor:
    return Operator.from_edges(edges, n, weight).matrix.to_dense()


def test_same_content_same_object():
    weight = torch.rand(8)
    weight[4:] = weight[:4]
    assert get(RING) is get(RING)
    assert get(RING) is get(RING.clone())
    assert get(RING, weight=weight) is get(RING.clone(), weight=weight.clone())


def test_anything_else_is_another_operator():
    ones = torch.ones(8)
    other = torch.tensor([[0, 2, 1, 3, 2, 1, 3, 0], [2, 1, 3, 0, 0, 2, 1, 3]])
    first = get(RING)
    for build in (
        lambda: get(other),
        lambda: get(RING, n=5),
        lambda: get(RING, eta=0.4),
        lambda: get(RING, dtype=torch.float64),
        lambda: get(RING, weight=ones),
    ):
        assert build() is not first
    weighted = get(RING, weight=ones)
    assert get(RING, weight=2 * ones) is not weighted
    assert get(RING, weight=ones) is weighted
    assert torch.equal(get(other).matrix.to_dense(), fresh(other))


def test_changed_in_place():
    edges, weight = RING.clone(), torch.ones(8)
    before = get(edges, weight=weight)
    weight[[0, 4]] = 3.0
    changed = get(edges, weight=weight)
    assert changed is not before
    assert torch.equal(changed.matrix.to_dense(), fresh(edges, weight=weight))
    edges[:, [3, 7]] = torch.tensor([[1, 3], [3, 1]])
    after = get(edges, weight=weight)
    assert after is not changed
    assert torch.equal(after.matrix.to_dense(), fresh(edges, weight=weight))


def test_changed_through_numpy():
    """Such a change leaves address, shape and torch's version counter as they were."""
    array, weights = RING.numpy().copy(), np.ones(8, dtype=np.float32)
    edges, weight = torch.from_numpy(array), torch.from_numpy(weights)
    before, version = get(edges, weight=weight), edges._version
    array[:, [3, 7]] = [[1, 3], [3, 1]]
    assert edges._version == version
    after = get(edges, weight=weight)
    assert after is not before
    assert torch.equal(after.matrix.to_dense(), fresh(edges, weight=weight))
    weights[[0, 4]] = 3.0
    assert torch.equal(get(edges, weight=weight).matrix.to_dense(), fresh(edges, weight=weight))


def test_a_list_that_was_freed_is_never_mistaken():
    """Addresses are used again by later graphs of the same shape."""
    for seed in range(20):
        half = torch.randint(6, (2, 8), generator=torch.Generator().manual_seed(seed))
        edges = torch.cat([half, half.flip(0)], dim=1)
        assert torch.equal(get(edges, n=6).matrix.to_dense(), fresh(edges, n=6))


def test_only_a_few_are_kept():
    operators = [get(RING, n=4 + extra) for extra in range(_operator._CAPACITY + 1)]
    assert len(_operator._cache) == _operator._CAPACITY
    for extra in range(1, _operator._CAPACITY + 1):
        assert get(RING, n=4 + extra) is operators[extra]
    assert get(RING) is not operators[0]


def test_what_is_used_stays():
    first = get(RING)
    for extra in range(1, 2 * _operator._CAPACITY):
        get(RING, n=4 + extra)
        assert get(RING) is first


def test_cleared():
    before = get(RING)
    _operator._cache.clear()
    assert get(RING) is not before


def test_many_threads():
    """Eight threads, six graphs, a cache of four: everyone gets the operator of the graph that was asked for."""
    graphs = [RING % (3 + extra) for extra in range(6)]
    expected = [fresh(edges, n=8) for edges in graphs]
    wrong: list[int] = []

    def work(seed: int) -> None:
        for which in np.random.default_rng(seed).integers(0, len(graphs), 40):
            if not torch.equal(get(graphs[which], n=8).matrix.to_dense(), expected[which]):
                wrong.append(int(which))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(_operator._cache) <= _operator._CAPACITY
