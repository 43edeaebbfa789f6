"""Triton kernels of sparse products. Imported only where a CUDA tensor is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.graph import CSR


@dataclass(frozen=True)
class RowPolicy:
    """How programs are spread over the rows of a matrix.

    A program fetches WHOLE entries of its row at a time while that many are left, then REST at a time. Rows of more
    than `limit` entries are left to a second launch: a few of them would keep all others waiting.
    """

    limit: int
    short: dict[str, int]
    long: dict[str, int]


# Chosen by timing 10 and 100 runs on Cora, Texas, Actor and PubMed on an H200.
NODES = RowPolicy(256, {"WHOLE": 32, "REST": 4, "num_warps": 1}, {"WHOLE": 256, "REST": 64, "num_warps": 8})
FEATURES = RowPolicy(32, {"WHOLE": 8, "REST": 8, "num_warps": 1}, {"WHOLE": 128, "REST": 128, "num_warps": 4})


@triton.jit
def row_and_entries(crow, rows, LISTED: tl.constexpr, LIMIT: tl.constexpr):
    """The program's row and where its entries lie. Long rows are listed; where they are not, they have no entries."""
    row = tl.program_id(0).to(tl.int64)
    if LISTED:
        row = tl.load(rows + row).to(tl.int64)
    start = tl.load(crow + row)
    stop = tl.load(crow + row + 1)
    mine = (stop - start > LIMIT) == LISTED
    return row, start, stop, mine


@triton.jit
def _gather_some(col, values, x, first, stop, columns, mask, width, EDGES: tl.constexpr):
    """Σ_e values[e] · x[col[e], columns] over EDGES entries from `first`, none at or past `stop`."""
    e = first + tl.arange(0, EDGES)
    there = e < stop
    source = tl.load(col + e, mask=there, other=0).to(tl.int64)
    value = tl.load(values + e, mask=there, other=0.0)
    rows = tl.load(x + source[:, None] * width + columns[None, :], mask=there[:, None] & mask[None, :], other=0.0)
    return tl.sum(value[:, None] * rows, axis=0)


@triton.jit
def _gather(
    col, values, x, start, stop, columns, mask, width, WHOLE: tl.constexpr, REST: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Σ_e values[e] · x[col[e], columns] over the entries start ≤ e < stop."""
    total = tl.zeros((BLOCK,), dtype=x.dtype.element_ty)
    whole = start + (stop - start) // WHOLE * WHOLE
    for first in range(start, whole, WHOLE):
        total += _gather_some(col, values, x, first, stop, columns, mask, width, WHOLE)
    for first in range(whole, stop, REST):
        total += _gather_some(col, values, x, first, stop, columns, mask, width, REST)
    return total


@triton.jit
def _product_kernel(
    crow, col, values, long_rows, x, out, width,
    LISTED: tl.constexpr, LIMIT: tl.constexpr, WHOLE: tl.constexpr, REST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, start, stop, mine = row_and_entries(crow, long_rows, LISTED, LIMIT)
    if mine:
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        mask = columns < width
        total = _gather(col, values, x, start, stop, columns, mask, width, WHOLE, REST, BLOCK)
        tl.store(out + row * width + columns, total, mask=mask)


@triton.jit
def _step_kernel(
    crow, col, values, long_rows, current, previous, following, total, steps, coefficient, width, per_column,
    LISTED: tl.constexpr, LIMIT: tl.constexpr, WHOLE: tl.constexpr, REST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """following = (a S + b) current − c previous and total += coefficient · following, for some columns of a row."""
    row, start, stop, mine = row_and_entries(crow, long_rows, LISTED, LIMIT)
    if mine:
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        mask = columns < width
        here = row * width + columns
        product = _gather(col, values, current, start, stop, columns, mask, width, WHOLE, REST, BLOCK)
        a = tl.load(steps + columns, mask=mask, other=0.0)
        b = tl.load(steps + width + columns, mask=mask, other=0.0)
        c = tl.load(steps + 2 * width + columns, mask=mask, other=0.0)
        term = a * product + b * tl.load(current + here, mask=mask, other=0.0)
        term -= c * tl.load(previous + here, mask=mask, other=0.0)
        tl.store(following + here, term, mask=mask)
        scale = tl.load(coefficient + columns * per_column, mask=mask, other=0.0)
        tl.store(total + here, tl.load(total + here, mask=mask, other=0.0) + scale * term, mask=mask)


def by_row_length(
    kernel: Any, policy: RowPolicy, matrix: CSR, values: Tensor, second: int, *arguments: Any, **constants: Any
) -> None:
    """Launch `kernel` over the rows of a matrix: once for the short rows, and once more for the long ones, if any."""
    listed = matrix.long_rows(policy.limit)
    launches = [(matrix.shape[0], False, policy.short), (len(listed), True, policy.long)]
    for rows, long, shape in launches:
        if rows:
            kernel[(rows, second)](
                matrix.crow,
                matrix.col,
                values,
                listed,
                *arguments,
                LISTED=long,
                LIMIT=policy.limit,
                **shape,
                **constants,
            )


@triton.jit
def _column_dot_kernel(x, y, partial, rows, width, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """Σ_i x[i, columns] · y[i, columns] over a chunk of rows; chunks are added later, in a fixed order."""
    chunk = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=x.dtype.element_ty)
    for first in range(0, CHUNK, 16):
        row = chunk * CHUNK + first + tl.arange(0, 16)
        mask = (row < rows)[:, None] & (columns < width)[None, :]
        here = row[:, None] * width + columns[None, :]
        left = tl.load(x + here, mask=mask, other=0.0)
        total += tl.sum(left * tl.load(y + here, mask=mask, other=0.0), axis=0)
    tl.store(partial + chunk * width + columns, total, mask=columns < width)


def _blocks(width: int) -> int:
    return min(128, triton.next_power_of_2(width))


def product(matrix: CSR, x: Tensor, values: Tensor) -> Tensor:
    """M·x."""
    x = x.contiguous()
    width = x.shape[1]
    out = torch.empty(matrix.shape[0], width, dtype=x.dtype, device=x.device)
    block = _blocks(width)
    by_row_length(_product_kernel, NODES, matrix, values, triton.cdiv(width, block), x, out, width, BLOCK=block)
    return out


def sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, steps: Tensor, against: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Σ_n c_n P_n(M) x, and ⟨against, P_n(M) x⟩ for each n and column. `steps` is (N, 3, columns): a, b, c."""
    rows, width = x.shape
    order = len(steps)
    block = _blocks(width)
    column_blocks = triton.cdiv(width, block)
    total = x * coefficients[0]
    # A few hundred rows a chunk: enough chunks to fill the chip, few enough to add up cheaply.
    chunk = max(16, triton.next_power_of_2(triton.cdiv(rows, 512)))
    chunks = triton.cdiv(rows, chunk)
    partial = None if against is None else x.new_empty(order + 1, chunks, width)

    def dot(n: int, term: Tensor) -> None:
        if partial is not None:
            _column_dot_kernel[(chunks, column_blocks)](
                against, term, partial[n], rows, width, CHUNK=chunk, BLOCK=block
            )

    dot(0, x)
    previous, current = x, x
    for n in range(order):
        # P_{n−1} is not needed any more once P_{n+1} is there: its memory is used for it.
        following = torch.empty_like(x) if n < 2 else previous
        by_row_length(
            _step_kernel, NODES, matrix, matrix.values, column_blocks, current, previous, following, total, steps[n],
            coefficients[n + 1], width, int(coefficients.shape[1] > 1), BLOCK=block,
        )  # fmt: skip
        dot(n + 1, following)
        previous, current = current, following
    return total, None if partial is None else partial.sum(dim=1)
