"""Lists of edges against sets of pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pcnet.data._canonical import one_way, undirected

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(PAIRS, st.sampled_from([np.int32, np.int64]))
def test_each_edge_once_and_in_order(pairs, kind):
    source, target = np.array(pairs, dtype=kind).reshape(-1, 2).T
    both = {*pairs} | {(j, i) for i, j in pairs}
    proper = {(i, j) for i, j in both if i != j}
    for edges, expected in (
        (one_way(source, target, 7), {*pairs}),
        (undirected(source, target, 7, keep_loops=True), both),
        (undirected(source, target, 7, keep_loops=False), proper),
    ):
        assert [*map(tuple, edges.T.tolist())] == sorted(expected)


def test_large_ids_do_not_overflow():
    n = 100_000
    ends = np.array([n - 1, n - 2], dtype=np.int32)
    assert one_way(ends, ends[::-1], n).tolist() == [[n - 2, n - 1], [n - 1, n - 2]]
