"""Sparse products against SciPy, and the promise that columns do not see each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pcnet.graph import CSR
from pcnet.propagate import product

DTYPES = {torch.float32: 1e-5, torch.float64: 1e-13}


def matrix(rows: int, columns: int, density: float, seed: int = 0) -> scipy.sparse.csr_matrix:
    return scipy.sparse.random(
        rows, columns, density, "csr", random_state=seed, data_rvs=np.random.default_rng(seed).standard_normal
    )


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=60)
@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(1, 20), st.sampled_from([0, 0.03, 0.3, 1.0]), st.integers(0, 99)
)
def test_equals_scipy(dtype, rows, columns, width, density, seed):
    M = matrix(rows, columns, density, seed)
    x = np.random.default_rng(seed).standard_normal((columns, width))
    got = product(CSR.from_scipy(M, dtype), torch.from_numpy(x).to(dtype))
    assert got.dtype == dtype
    np.testing.assert_allclose(got.numpy(), M @ x, rtol=0, atol=DTYPES[dtype] * 40)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_stored_gives_zeros(dtype):
    empty = CSR.from_scipy(scipy.sparse.csr_matrix((4, 3)), dtype)
    assert torch.equal(product(empty, torch.ones(3, 2, dtype=dtype)), torch.zeros(4, 2, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_rows_first_between_and_last(dtype):
    M = scipy.sparse.csr_matrix(np.array([[0, 0], [1, 2], [0, 0], [3, 0], [0, 0]], dtype=float))
    x = torch.tensor([[1.0, 10.0], [2.0, 20.0]], dtype=dtype)
    expected = torch.tensor([[0, 0], [5, 50], [0, 0], [3, 30], [0, 0]], dtype=dtype)
    assert torch.equal(product(CSR.from_scipy(M, dtype), x), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_values_in_the_same_places(dtype):
    M = CSR.from_scipy(matrix(6, 5, 0.5), dtype)
    x, values = torch.randn(5, 3, dtype=dtype), torch.randn(M.nnz, dtype=dtype)
    expected = CSR(M.crow, M.col, values, M.shape).to_dense() @ x
    torch.testing.assert_close(product(M, x, values), expected)
    torch.testing.assert_close(product(M, x), M.to_dense() @ x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_need_not_lie_together(dtype):
    M = CSR.from_scipy(matrix(30, 30, 0.2), dtype)
    x = torch.randn(7, 30, dtype=dtype).t()
    assert torch.equal(product(M, x), product(M, x.contiguous()))


@pytest.mark.parametrize("width", [1, 2, 7, 8, 16, 33, 64, 130])
def test_a_column_is_the_same_to_the_bit_beside_any_others(width):
    """Short rows and one that is very long, slices of every width and offset."""
    M = matrix(300, 300, 0.05).tolil()
    M[7] = np.random.default_rng(1).standard_normal(300)
    csr = CSR.from_scipy(M.tocsr())
    x = torch.randn(300, width, generator=torch.Generator().manual_seed(width))
    whole = product(csr, x)
    for start in range(0, width, max(1, width // 9)):
        for stop in {start + 1, min(width, start + 5), min(width, start + 16), width}:
            assert torch.equal(product(csr, x[:, start:stop]), whole[:, start:stop])
    backwards = torch.arange(width).flip(0)
    assert torch.equal(product(csr, x[:, backwards]), whole[:, backwards])
