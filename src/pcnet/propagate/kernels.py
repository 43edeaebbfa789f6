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
class Tiling:
    """How programs share the rows of a matrix, the longest rows first.

    A row of more than `limit` entries has a program of its own, which fetches `long` of them at a time. Other programs
    take `rows` rows and fetch `entries` of each at a time. Both hold for columns up to `block` at a time. A matrix with
    a row of more than `giant` entries is served by another tiling: everybody waits for its longest rows.
    """

    limit: int
    long: int
    rows: int
    entries: int
    block: int
    warps: int
    giant: int = 2**31
    for_giants: Tiling | None = None


# Chosen by timing 10 and 100 runs on Cora, Texas, Actor and PubMed on an H200.
NODES = Tiling(32, 64, 8, 4, 32, warps=4, giant=512, for_giants=Tiling(64, 256, 8, 4, 32, warps=4))
#: For rows or columns enough to fill the chip: what counts is not the wait for one load but all of them.
BULK = Tiling(64, 32, 4, 4, 64, warps=1, giant=2048, for_giants=Tiling(128, 256, 8, 4, 64, warps=4))
BULKY = 2**24


@triton.jit
def keep_scale(seeds, epoch, run, layer, rate, element):
    """1/(1−rate) with probability 1 − rate, else 0: a hash of (seed, epoch, layer, element) decides.

    Three rounds of multiplying and folding, keyed before the first and the second by the two halves of a 64-bit hash of
    (seed, epoch, layer): a fifth of the work of a counter-based generator, of which dropout would use a quarter.
    """
    key = tl.load(seeds + run).to(tl.uint64) * 0x9E3779B97F4A7C15 + tl.load(epoch).to(tl.uint64)
    key = (key ^ (key >> 32)) * 0xD6E8FEB86659FD93 + layer
    key = (key ^ (key >> 32)) * 0xD6E8FEB86659FD93
    key = key ^ (key >> 29)
    h = element.to(tl.uint32) ^ key.to(tl.uint32)
    h = (h ^ (h >> 16)) * 0x21F0AAAD
    h = (h ^ (key >> 32).to(tl.uint32) ^ (h >> 15)) * 0xD35A2D97
    h = (h ^ (h >> 15)) * 0x9E3779B1
    h = h ^ (h >> 16)
    return tl.where((h >> 8).to(tl.float32) * 5.9604644775390625e-08 >= rate, 1.0 / (1.0 - rate), 0.0)


@triton.jit
def block_of_rows(rows, start, stop, first, count, ROWS: tl.constexpr):
    """Some rows of the list from `first` on: which they are, where their entries begin and end, and if they exist."""
    i = first + tl.arange(0, ROWS)
    mine = i < count
    row = tl.load(rows + i, mask=mine, other=0).to(tl.int64)
    return row, tl.load(start + i, mask=mine, other=0), tl.load(stop + i, mask=mine, other=0), mine


@triton.jit
def gather(
    col, values, x, start, stop, columns, inside, width,
    ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
    entry=None, seeds=None, epoch=None, run=0, rate=0.0, DROP: tl.constexpr = False, TWIN: tl.constexpr = False,
):  # fmt: skip
    """Σ_e δ(values[e]) · x[col[e], columns] over the entries start ≤ e < stop of each row, (ROWS, BLOCK).

    Dropout δ is decided by an entry's place in the matrix itself; a transposed one (TWIN) knows it as entry[e].
    """
    total = tl.zeros((ROWS, BLOCK), dtype=values.dtype.element_ty)
    longest = tl.max(stop - start, axis=0)
    for begin in range(0, longest, ENTRIES):
        e = (start + begin)[:, None] + tl.arange(0, ENTRIES)[None, :]
        there = e < stop[:, None]
        source = tl.load(col + e, mask=there, other=0).to(tl.int64)
        value = tl.load(values + e, mask=there, other=0.0)
        if DROP:
            place = e
            if TWIN:
                place = tl.load(entry + e, mask=there, other=0)
            value *= keep_scale(seeds, epoch, run, 0, rate, place)
        where = source[:, :, None] * width + columns[None, None, :]
        found = tl.load(x + where, mask=there[:, :, None] & inside[None, None, :], other=0.0)
        total += tl.sum(value[:, :, None] * found.to(total.dtype), axis=1)
    return total


def over_rows(
    kernel: Any, tiling: Tiling, matrix: CSR, values: Tensor, second: int, *arguments: Any, block: int, **constants: Any
) -> None:
    """Launch `kernel` over the rows of a matrix and `second` of something else."""
    order = matrix.by_length
    if tiling.for_giants and order.longer_than(tiling.giant):
        tiling = tiling.for_giants
    long = order.longer_than(tiling.limit)
    # Wider rows leave fewer of them to be held at a time.
    wider = max(1, block // 64)
    rows = max(1, tiling.rows // wider)
    entries = max(1, tiling.entries * tiling.rows // wider // rows)
    kernel[(long + triton.cdiv(matrix.shape[0] - long, rows), second)](
        order.rows, order.start, order.stop, long, matrix.shape[0], matrix.col, values, *arguments,
        HAS_LONG=long > 0, LONG=max(1, tiling.long // wider), ROWS=rows, ENTRIES=entries, BLOCK=block,
        num_warps=tiling.warps, **constants,
    )  # fmt: skip


@triton.jit
def _product_rows(
    rows, start, stop, first, count, col, values, x, bias, out, width,
    BIAS: tl.constexpr, ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, begin, end, mine = block_of_rows(rows, start, stop, first, count, ROWS)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    total = gather(col, values, x, begin, end, columns, inside, width, ROWS, ENTRIES, BLOCK)
    if BIAS:
        total += tl.load(bias + columns, mask=inside, other=0.0)[None, :]
    tl.store(out + row[:, None] * width + columns[None, :], total, mask=mine[:, None] & inside[None, :])


@triton.jit
def _product_kernel(
    rows, start, stop, long, count, col, values, x, bias, out, width, BIAS: tl.constexpr,
    HAS_LONG: tl.constexpr, LONG: tl.constexpr, ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out = M x + bias."""
    program = tl.program_id(0)
    if HAS_LONG:
        if program < long:
            _product_rows(
                rows, start, stop, program, count, col, values, x, bias, out, width, BIAS, 1, LONG, BLOCK
            )  # fmt: skip
            return
    first = long + (program - long) * ROWS
    _product_rows(rows, start, stop, first, count, col, values, x, bias, out, width, BIAS, ROWS, ENTRIES, BLOCK)


@triton.jit
def _step_rows(
    rows, start, stop, first, count, col, values, current, previous, following, total, steps, coefficients, n, terms,
    width, each, FIRST: tl.constexpr, KEEP: tl.constexpr, ROWS: tl.constexpr, ENTRIES: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row, begin, end, mine = block_of_rows(rows, start, stop, first, count, ROWS)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    product = gather(col, values, current, begin, end, columns, inside, width, ROWS, ENTRIES, BLOCK)
    here = row[:, None] * width + columns[None, :]
    mask = mine[:, None] & inside[None, :]
    a = tl.load(steps + columns, mask=inside, other=0.0)
    b = tl.load(steps + width + columns, mask=inside, other=0.0)
    own = tl.load(current + here, mask=mask, other=0.0)
    term = a[None, :] * product + b[None, :] * own
    coefficient = coefficients + columns // each * terms
    if FIRST:
        so_far = tl.load(coefficient, mask=inside, other=0.0)[None, :] * own
    else:
        c = tl.load(steps + 2 * width + columns, mask=inside, other=0.0)
        term -= c[None, :] * tl.load(previous + here, mask=mask, other=0.0)
        so_far = tl.load(total + here, mask=mask, other=0.0)
    if KEEP:
        tl.store(following + here, term, mask=mask)
    tl.store(total + here, so_far + tl.load(coefficient + n, mask=inside, other=0.0)[None, :] * term, mask=mask)


@triton.jit
def _step_kernel(
    rows, start, stop, long, count, col, values, current, previous, following, total, steps, coefficients, n, terms,
    width, each, FIRST: tl.constexpr, KEEP: tl.constexpr,
    HAS_LONG: tl.constexpr, LONG: tl.constexpr, ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """following = (a S + b) current − c previous and total += c_n following; first of all, total = c_0 current."""
    program = tl.program_id(0)
    if HAS_LONG:
        if program < long:
            _step_rows(
                rows, start, stop, program, count, col, values, current, previous, following, total, steps,
                coefficients, n, terms, width, each, FIRST, KEEP, 1, LONG, BLOCK,
            )  # fmt: skip
            return
    first = long + (program - long) * ROWS
    _step_rows(
        rows, start, stop, first, count, col, values, current, previous, following, total, steps,
        coefficients, n, terms, width, each, FIRST, KEEP, ROWS, ENTRIES, BLOCK,
    )  # fmt: skip


@triton.jit
def _column_dot_kernel(
    x, one, other, partial, rows, width, PAIR: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Σ_i x[i, columns] · y[i, columns] over a chunk of rows, for one y or a pair; chunks are added later, in order."""
    chunk = tl.program_id(0).to(tl.int64)
    chunks = tl.num_programs(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    first = tl.zeros((BLOCK,), dtype=x.dtype.element_ty)
    second = tl.zeros((BLOCK,), dtype=x.dtype.element_ty)
    for begin in range(0, CHUNK, 16):
        row = chunk * CHUNK + begin + tl.arange(0, 16)
        mask = (row < rows)[:, None] & (columns < width)[None, :]
        here = row[:, None] * width + columns[None, :]
        left = tl.load(x + here, mask=mask, other=0.0)
        first += tl.sum(left * tl.load(one + here, mask=mask, other=0.0), axis=0)
        if PAIR:
            second += tl.sum(left * tl.load(other + here, mask=mask, other=0.0), axis=0)
    tl.store(partial + chunk * width + columns, first, mask=columns < width)
    if PAIR:
        tl.store(partial + (chunks + chunk) * width + columns, second, mask=columns < width)


@triton.jit
def _group_sum_kernel(partial, out, chunks, width, each, CHUNKS: tl.constexpr, EACH: tl.constexpr):
    """out[group, n] = Σ_chunks Σ_columns partial[n, chunk, columns of the group]."""
    group = tl.program_id(0)
    n = tl.program_id(1)
    column = tl.arange(0, EACH)
    total = tl.zeros((CHUNKS, EACH), dtype=partial.dtype.element_ty)
    for begin in range(0, chunks, CHUNKS):
        chunk = begin + tl.arange(0, CHUNKS)
        mask = (chunk < chunks)[:, None] & (column < each)[None, :]
        where = (n * chunks + chunk).to(tl.int64)[:, None] * width + group * each + column[None, :]
        total += tl.load(partial + where, mask=mask, other=0.0)
    tl.store(out + group * tl.num_programs(1) + n, tl.sum(tl.sum(total, axis=0), axis=0))


def _over_columns(kernel: Any, matrix: CSR, values: Tensor, width: int, *arguments: Any, **constants: bool) -> None:
    """Launch `kernel` over the rows of a matrix and blocks of columns, in as few programs as can hold all of them."""
    tiling = BULK if matrix.nnz * width >= BULKY else NODES
    # As little beyond the edge as there can be.
    block = triton.next_power_of_2(triton.cdiv(width, triton.cdiv(width, tiling.block)))
    over_rows(kernel, tiling, matrix, values, triton.cdiv(width, block), *arguments, block=block, **constants)


def product(matrix: CSR, x: Tensor, values: Tensor, bias: Tensor | None = None) -> Tensor:
    """M·x, plus a number for each column."""
    x = x.contiguous()
    width = x.shape[1]
    out = torch.empty(matrix.shape[0], width, dtype=x.dtype, device=x.device)
    _over_columns(_product_kernel, matrix, values, width, x, bias, out, width, BIAS=bias is not None)
    return out


def sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, steps: Tensor, against: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Σ_n c_n P_n(M) x, and ⟨against, P_n(M) x⟩ summed over the columns of each group, (groups, N+1).

    `coefficients` is (groups, N+1), each for as many neighbouring columns; `steps` is (N, 3, columns): a, b, c.
    """
    width = x.shape[1]
    order, groups = len(steps), len(coefficients)
    each = width // groups
    total = torch.empty_like(x) if order else x * coefficients.t().repeat_interleave(each, dim=1)
    products = None if against is None else Products(against, order + 1)
    previous, current = x, x
    if products is not None and order % 2 == 0:
        products.note(0, x)
    for n in range(order):
        # P_{n−1} is not needed any more once P_{n+1} is there: its memory is used for it.
        following = torch.empty_like(x) if n < 2 else previous
        _over_columns(
            _step_kernel, matrix, matrix.values, width, current, previous, following, total,
            steps[n], coefficients, n + 1, order + 1, width, each,
            FIRST=n == 0, KEEP=n < order - 1 or products is not None,
        )  # fmt: skip
        if products is not None and (order - n) % 2 == 1:
            products.note(n, current, following)
        previous, current = current, following
    return total, None if products is None else products.by_group(groups)


class Products:
    """⟨x, y_n⟩ of each column for y_0 … y_N, noted one or two at a time, as parts over chunks of rows."""

    def __init__(self, x: Tensor, count: int) -> None:
        rows, self.width = x.shape
        self.x, self.count = x, count
        # A few hundred chunks: enough to fill the chip, few enough to add up cheaply.
        self.chunk = max(16, triton.next_power_of_2(triton.cdiv(rows, 512)))
        self.chunks = triton.cdiv(rows, self.chunk)
        self.partial = x.new_empty(count, self.chunks, self.width)

    def note(self, n: int, one: Tensor, other: Tensor | None = None) -> None:
        """y_n, or y_n and y_{n+1}."""
        block = min(128, triton.next_power_of_2(self.width))
        _column_dot_kernel[(self.chunks, triton.cdiv(self.width, block))](
            self.x, one, other, self.partial[n], len(self.x), self.width,
            PAIR=other is not None, CHUNK=self.chunk, BLOCK=block,
        )  # fmt: skip

    def by_group(self, groups: int) -> Tensor:
        """Everything added up, (groups, N+1)."""
        each = self.width // groups
        out = self.x.new_empty(groups, self.count)
        tile = triton.next_power_of_2(each)
        _group_sum_kernel[(groups, self.count)](
            self.partial, out, self.chunks, self.width, each, CHUNKS=max(1, min(128, 2048 // tile)), EACH=tile
        )
        return out
