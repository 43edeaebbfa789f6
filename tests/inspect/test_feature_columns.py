"""Zeros and columns that say nothing, in dense and in sparse features alike."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pcnet import Graph
from pcnet.graph import CSR, Column, Schema
from pcnet.inspect import Features

SMALL = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.sampled_from([0.0, 1.0, -2.0]))


def features(x: torch.Tensor | CSR, schema: Schema | None = None) -> Features:
    n = x.shape[0]
    return Features.of(Graph(torch.empty(2, 0, dtype=torch.int64), x, torch.zeros(n, dtype=torch.int64), schema=schema))


@given(SMALL)
def test_counts_are_those_of_the_table(values):
    found = features(torch.from_numpy(values))
    assert found.count == values.shape[1]
    assert found.constant == sum(len(set(column.tolist())) == 1 for column in values.T)
    assert found.empty == sum(not row.any() for row in values)
    assert found.density == np.count_nonzero(values) / values.size


@given(SMALL)
def test_sparse_features_count_as_dense_ones(values):
    assert features(CSR.from_scipy(scipy.sparse.csr_matrix(values))) == features(torch.from_numpy(values))


def test_stored_zeros_are_zeros():
    stored = scipy.sparse.csr_matrix((np.array([0.0, 3.0]), ([0, 1], [0, 0])), shape=(2, 1))
    assert features(CSR.from_scipy(stored)) == features(torch.tensor([[0.0], [3.0]]))


def test_constant_columns_have_names():
    schema = Schema((Column("age", "number"), Column("town", "category", 2, values=("Bonn", "Kiel"))))
    found = features(torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]), schema)
    assert found.constant_names == ("age", "town=Kiel")
    assert not found.structural


def test_no_columns():
    found = features(torch.empty(3, 0))
    assert (found.count, found.density, found.constant, found.empty) == (0, 0.0, 0, 3)
