"""Row normalisation."""

from __future__ import annotations

import scipy.sparse
import torch

from pcnet.data import normalise_rows
from pcnet.graph import CSR


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
