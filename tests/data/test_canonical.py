"""Lists of edges against sets of pairs; rows of features that sum to 1."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet.data import normalise_rows
from pcnet.graph import CSR, one_way, undirected

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


def test_rows_sum_to_one_and_zero_rows_stay():
    x = torch.tensor([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, 0.1]])
    expected = torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    assert torch.equal(normalise_rows(x), expected)
    sparse = normalise_rows(CSR.from_scipy(scipy.sparse.csr_matrix(x.numpy())))
    assert torch.equal(sparse.to_dense(), expected)
    assert normalise_rows(x.double()).dtype == torch.float64


def test_input_is_left_alone():
    x = torch.ones(2, 2)
    normalise_rows(x)
    assert torch.equal(x, torch.ones(2, 2))
