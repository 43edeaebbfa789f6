"""Sparse matrix times dense columns."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from pcnet.graph import CSR

with warnings.catch_warnings():
    # The first compressed-row tensor of a process makes torch say that they are new; users need not hear it from us.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([]), (1, 1))

# The C library hands freed memory back to the system until it has seen a block of this size, its largest, come and go;
# pages that a sweep must ask for again each time can cost as much as its products.
torch.empty(2**25 - 2**16, dtype=torch.uint8)


def product(matrix: CSR, x: Tensor, values: Tensor | None = None) -> Tensor:
    """M·x, or with `values` the product of a matrix that has them in the places of M's entries.

    On the CPU a sum-mode embedding bag is this product and two to three times faster than the compressed-row kernel
    that `@` calls. Each column of its result depends on that column alone, to the bit: a run sees the same numbers
    whichever other runs are trained beside it.
    """
    values = matrix.values if values is None else values
    if x.device.type == "cpu" and x.dtype == torch.float32:
        return torch.embedding_bag(
            x.detach().contiguous(),
            matrix.col,
            matrix.crow,
            False,
            0,
            False,
            values,
            include_last_offset=True,
        )[0]
    if x.is_cuda:
        from pcnet.propagate import kernels

        return kernels.product(matrix, x, values)
    # The fields are known to be consistent: checking them at every product would cost as much as the product.
    return (
        torch.sparse_csr_tensor(matrix.crow, matrix.col, values, matrix.shape, check_invariants=False) @ x.contiguous()
    )
