"""Compressed rows: in from SciPy and torch, out again, transposed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet.errors import PcnetError
from pcnet.graph import CSR


@st.composite
def matrices(draw) -> scipy.sparse.csr_matrix:
    rows, columns, seed = draw(st.integers(1, 20)), draw(st.integers(1, 20)), draw(st.integers(0, 99))
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, columns)) * (
        random.random((rows, columns)) < draw(st.sampled_from([0, 0.1, 0.5, 1]))
    )
    return scipy.sparse.csr_matrix(values)


@given(matrices())
def test_scipy_and_back(matrix):
    csr = CSR.from_scipy(matrix, torch.float64)
    assert (csr.shape, csr.nnz, csr.dtype) == (matrix.shape, matrix.nnz, torch.float64)
    assert (csr.to_scipy() != matrix).nnz == 0
    np.testing.assert_array_equal(csr.to_dense().numpy(), matrix.toarray())
    assert CSR.from_scipy(matrix).dtype == torch.float32


@given(matrices())
def test_torch_and_back(matrix):
    dense = torch.from_numpy(matrix.toarray())
    for sparse in (dense.to_sparse_coo(), dense.to_sparse_csr()):
        csr = CSR.from_torch(sparse)
        assert csr.dtype == torch.float64
        assert torch.equal(csr.to_dense(), dense)
    assert CSR.from_torch(dense.float().to_sparse()).dtype == torch.float32


@given(matrices())
def test_transposed_equals_scipys(matrix):
    csr = CSR.from_scipy(matrix, torch.float64)
    expected = matrix.T.tocsr()
    expected.sort_indices()
    twin = csr.transposed
    assert twin.shape == expected.shape
    np.testing.assert_array_equal(twin.crow.numpy(), expected.indptr)
    np.testing.assert_array_equal(twin.col.numpy(), expected.indices)
    np.testing.assert_array_equal(twin.values.numpy(), expected.data)
    assert torch.equal(csr.values[csr.to_transposed], twin.values)
    assert twin.crow.dtype == csr.crow.dtype
    assert csr.transposed is twin


def test_duplicates_are_summed_and_columns_sorted():
    rows, columns, values = [0, 1, 0, 0, 1], [2, 1, 0, 2, 0], [1.0, 2.0, 3.0, 4.0, 5.0]
    csr = CSR.from_scipy(scipy.sparse.coo_matrix((values, (rows, columns)), shape=(2, 3)))
    assert csr.crow.tolist() == [0, 2, 4]
    assert csr.col.tolist() == [0, 2, 0, 1]
    assert csr.values.tolist() == [3, 5, 5, 2]
    coo = torch.sparse_coo_tensor(torch.tensor([rows, columns]), torch.tensor(values), (2, 3))
    assert torch.equal(CSR.from_torch(coo).to_dense(), csr.to_dense())


def test_unsorted_input_is_left_alone():
    """Rows whose columns do not ascend are legal; sorting them is our own affair."""
    crow, col, values = torch.tensor([0, 2, 3]), torch.tensor([1, 0, 1]), torch.tensor([10.0, 20.0, 30.0])
    theirs = torch.sparse_csr_tensor(crow, col, values, (2, 2))
    assert CSR.from_torch(theirs).to_dense().tolist() == [[20, 10], [0, 30]]
    assert theirs.values().tolist() == [10, 20, 30]
    assert theirs.col_indices().tolist() == [1, 0, 1]
    matrix = scipy.sparse.csr_matrix((values.double().numpy(), col.int().numpy(), crow.int().numpy()), shape=(2, 2))
    assert CSR.from_scipy(matrix, torch.float64).to_dense().tolist() == [[20, 10], [0, 30]]
    assert matrix.data.tolist() == [10, 20, 30]
    assert matrix.indices.tolist() == [1, 0, 1]


def test_values_are_a_copy():
    matrix = scipy.sparse.eye(3, format="csr")
    csr = CSR.from_scipy(matrix, torch.float64)
    matrix.data[:] = 7
    assert csr.values.tolist() == [1, 1, 1]


def test_indices_take_32_bits():
    csr = CSR.from_torch(torch.eye(3).to_sparse())
    assert csr.crow.dtype == csr.col.dtype == torch.int32


def test_to():
    csr = CSR.from_scipy(scipy.sparse.eye(3), torch.float64)
    single = csr.to(torch.float32)
    assert single.dtype == torch.float32
    assert single.crow is csr.crow
    assert csr.to(torch.float64) is csr
    assert csr.to("cpu") is csr
    assert csr.device == torch.device("cpu")
    meta = csr.to("meta")
    assert {part.device.type for part in (meta.crow, meta.col, meta.values)} == {"meta"}


def test_other_layouts_are_refused():
    with pytest.raises(PcnetError, match=r"must be COO or CSR, not torch\.sparse_csc; call \.to_sparse_csr\(\) first"):
        CSR.from_torch(torch.eye(2).to_sparse_csc())
