"""Coefficients from what was learned."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _combine_kernel(
    matrix, x, out, rows, columns, BACK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """out = B x of each run in double precision, or with BACK, Bᵀ x."""
    run = tl.program_id(0)
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    b = tl.load(matrix + (run * rows + i)[:, None] * columns + j[None, :], mask=inside, other=0.0)
    if BACK:
        v = tl.load(x + run * rows + i, mask=i < rows, other=0.0).to(tl.float64)
        tl.store(out + run * columns + j, tl.sum(b * v[:, None], axis=0), mask=j < columns)
    else:
        v = tl.load(x + run * columns + j, mask=j < columns, other=0.0).to(tl.float64)
        tl.store(out + run * rows + i, tl.sum(b * v[None, :], axis=1), mask=i < rows)


def combine(matrix: Tensor, x: Tensor, *, back: bool) -> Tensor:
    """B x, or Bᵀ x, of each run: B (R, rows, columns) and the sums in double precision, x and the result in its own."""
    runs, rows, columns = matrix.shape
    out = x.new_empty(runs, columns if back else rows)
    _combine_kernel[(runs,)](
        matrix, x.contiguous(), out, rows, columns, BACK=back,
        ROWS=triton.next_power_of_2(rows), COLUMNS=triton.next_power_of_2(columns),
    )  # fmt: skip
    return out
