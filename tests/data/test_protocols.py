"""A protocol that is registered from outside is one like the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from pcnet import Graph, PcnetError, Split, csbm, make_split
from pcnet.data import PAPER_PROTOCOLS, PROTOCOLS, check_protocol, is_fixed, protocol


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(PROTOCOLS)
    yield
    PROTOCOLS.clear()
    PROTOCOLS.update(before)


def thirds(graph: Graph, name: str, seed: int) -> Split:
    part = (torch.arange(graph.num_nodes) + seed) % 3
    return Split(part == 0, part == 1, part == 2, graph.y, name, seed)


def test_names():
    known = ("stratified-60-20-20", *PAPER_PROTOCOLS, "official")
    assert tuple(name for name in PROTOCOLS if name in known) == known
    assert PAPER_PROTOCOLS == ("semi-20-500-1000", "sparse-2.5-2.5-95", "random-60-20-20", "fixed-48-32-20")
    for name in known:
        assert is_fixed(name) == (name in ("fixed-48-32-20", "official"))
    assert is_fixed("official-50-25-25")
    assert not is_fixed("stratified-80-10-10")


def test_one_of_your_own():
    protocol("thirds-of-all")(thirds)
    split = make_split(csbm(60), "thirds-of-all", 1)
    assert (split.sizes, split.protocol, split.seed) == ((20, 20, 20), "thirds-of-all", 1)
    assert not is_fixed("thirds-of-all")
    with pytest.raises(PcnetError, match="Did you mean 'thirds-of-all'"):
        check_protocol("third-of-all")
    with pytest.raises(PcnetError, match="The seed of a split must be an integer"):
        make_split(csbm(60), "thirds-of-all", -1)
    with pytest.raises(PcnetError, match="There is a split protocol 'thirds-of-all' already"):
        protocol("thirds-of-all")(thirds)
