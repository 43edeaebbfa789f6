"""Stratified splits keep the classes' shares, and consecutive seeds test every node once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError, make_split
from pcnet.data import official_name
from pcnet.graph import Graph

COUNTS = st.lists(st.integers(0, 60), min_size=2, max_size=6).filter(lambda counts: sum(n > 2 for n in counts) > 1)


def graph_of(counts: list[int], seed: int = 0, **more: object) -> Graph:
    """So many nodes of each class in random order, a few of them without a label."""
    y = np.repeat([*range(len(counts)), -1], [*counts, 5])
    y = torch.from_numpy(np.random.default_rng(seed).permutation(y))
    return Graph(torch.zeros(2, 0, dtype=torch.int64), torch.ones(len(y), 1), y, name="mine", **more)


@given(COUNTS, st.integers(0, 12), st.sampled_from([(60, 20, 20), (48, 32, 20), (2.5, 2.5, 95), (70, 15, 15)]))
def test_every_class_has_its_share_in_every_part(counts, seed, shares):
    graph = graph_of(counts)
    split = make_split(graph, f"stratified-{'-'.join(map(str, shares))}", seed)
    assert sum(split.sizes) == sum(counts)
    for label, n in enumerate(counts):
        found = [int((graph.y[part] == label).sum()) for part in (split.train, split.val, split.test)]
        assert sum(found) == n
        if n > 2:
            assert min(found) >= 1
            # To the nearest node, but for those that other parts must have.
            off = [abs(size - n * share / 100) for size, share in zip(found, shares, strict=True)]
            assert max(off) < 2
        elif n == 2:
            assert found == [1, 0, 1]
        else:
            assert found == [n, 0, 0]


@given(st.lists(st.integers(5, 60), min_size=2, max_size=5), st.integers(0, 3))
def test_five_seeds_test_every_node_once(counts, round_number):
    graph = graph_of(counts)
    seeds = range(5 * round_number, 5 * round_number + 5)
    tested = torch.cat([make_split(graph, "stratified-60-20-20", seed).test for seed in seeds])
    assert torch.equal(tested.sort().values, (graph.y >= 0).nonzero().flatten())


def test_rounds_and_windows_differ():
    graph = graph_of([30, 50])
    hashes = [make_split(graph, "stratified-60-20-20", seed).hash for seed in range(12)]
    assert len({*hashes}) == 12
    assert hashes[7] == make_split(graph, "stratified-60-20-20", 7).hash


def test_a_class_of_one_node_is_called_by_its_name():
    graph = graph_of([20, 1, 1], classes=("cat", "dog", "emu"))
    assert make_split(graph, "stratified-60-20-20", 0).notes == (
        "Classes 'dog', 'emu' have a single labelled node each: it trains, and nothing tests it.",
    )


@pytest.mark.parametrize("name", ["stratified", "stratified-60-20", "stratified-60-20-30", "stratified-0-50-50"])
def test_shares_that_are_none(name):
    with pytest.raises(PcnetError, match=f"'{name}' is no split protocol; write stratified-A-B-C"):
        make_split(graph_of([9, 9]), name, 0)


def test_too_few_labels():
    with pytest.raises(PcnetError, match="4 labelled nodes are too few for stratified-60-20-20: no class has three"):
        make_split(graph_of([2, 2]), "stratified-60-20-20", 0)


def test_splits_of_a_file_are_called_what_they_are():
    ids = (torch.arange(50), torch.arange(50, 75), torch.arange(75, 100))
    labelled = graph_of([50, 50])
    graph = replace(labelled, y=torch.arange(105) % 2, fixed_splits=(ids,))
    assert official_name(graph) == "official-50-25-25"
    assert make_split(graph, "official", 0).protocol == "official-50-25-25"
    with pytest.raises(PcnetError, match="come with mine are official-50-25-25, not official-60-20-20"):
        make_split(graph, "official-60-20-20", 0)
    with pytest.raises(PcnetError, match="mine has no fixed splits"):
        make_split(labelled, "official", 0)
