"""M x and Σ_n c_n P_n(M) x: in one piece, or cut into pieces that stay in the caches and that threads can share."""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate._threads import SHARED, Plan, Plans, one_core, team

#: a_n, b_n, c_n of one step: numbers, or one number for each column.
Step = tuple[Any, Any, Any]
#: Σ_n c_n P_n(M) x and, where something is given to hold against the terms, its ⟨·, P_n(M) x⟩, (N+1, columns).
Swept = tuple[Tensor, Tensor | None]
#: Rows that are added up first, in a sum over all.
BAG = 128
#: Bytes of x up to which a sweep is one piece, unless its products are worth sharing.
SMALL = 2**22
#: Bytes of a part of the rows, and how many of them each thread takes at least: the last keeps nobody waiting for long.
PART, SHARES = 2**19, 4
#: Bytes from which on the C library asks the system for a block and hands it back after use.
LARGE = 2**25
#: Rounds in which plans are timed. Whole columns take several steps, so that what is done once counts for little; of
#: parts of the rows, those that gather `SAMPLE` bytes take one step.
ROUNDS, STEPS, SAMPLE = 2, 2, 2**26

PLANS = Plans()

# The C library hands freed memory back to the system until it has seen a block of this size, its largest, come and go;
# pages that a sweep must ask for again each time can cost as much as its products.
torch.empty(2**25 - 2**16, dtype=torch.uint8)


def product(matrix: CSR, x: Tensor, values: Tensor | None = None) -> Tensor:
    """M·x, or with `values` the product of a matrix that has them in the places of M's entries; without a gradient.

    >>> product(CSR.from_torch(torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse_csr()), torch.tensor([[1.0], [3.0]]))
    tensor([[6.],
            [1.]])

    On the CPU a sum-mode embedding bag is this product and two to three times faster than the compressed-row kernel
    that `@` calls. Each column of its result depends on that column alone, to the bit: a run sees the same numbers
    whichever other runs are trained with it.
    """
    values = matrix.values if values is None else values
    if x.device.type == "cpu" and x.dtype == torch.float32:
        x = x.detach().contiguous()
        return torch.embedding_bag(x, matrix.col, matrix.crow, False, 0, False, values, include_last_offset=True)[0]
    if x.is_cuda:
        from pcnet.propagate import kernels

        return kernels.product(matrix, x, values)
    # The fields are known to be consistent: checking them at every product would cost as much as the product.
    return (
        torch.sparse_csr_tensor(matrix.crow, matrix.col, values, matrix.shape, check_invariants=False) @ x.contiguous()
    )


def planned_sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Any, against: Tensor | None = None
) -> Swept:
    """`sweep`, on a GPU by kernels, on the CPU cut into pieces where it is large; they change no bit.

    A small sweep is one piece, and so is every one in double precision, where rounding would depend on the pieces; that
    one is left to torch's own threads.
    """
    if x.is_cuda:
        from pcnet.propagate import kernels

        return kernels.sweep(matrix, x, coefficients, recurrence, against)
    x, coefficients = x.detach().contiguous(), coefficients.detach()
    if x.dtype != torch.float32:
        return sweep(matrix, x, coefficients, recurrence, against)
    with one_core() as threads:
        if x.nbytes <= SMALL and 4 * x.shape[1] * matrix.nnz <= SHARED:
            return sweep(matrix, x, coefficients, recurrence, against)
        plan = PLANS.find(matrix.shape[0], matrix.nnz, x.shape[1], threads, partial(_seconds_of_a_column, matrix, x))
        return sweep_by(plan, matrix, x, coefficients, recurrence, against)


def sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Sequence[Step], against: Tensor | None = None
) -> Swept:
    """Σ_n c_n P_n(M) x and, column by column, ⟨against, P_n(M) x⟩ for every n. Three terms are alive at a time."""
    first, *scales = coefficients.unbind()
    previous, current, total = x, x, x * first
    dots = [] if against is None else [column_sums(against * x)]
    for step, scale in zip(recurrence, scales, strict=True):
        following = _following(step, matrix, current, current, previous)
        total.addcmul_(following, scale)
        if against is not None:
            dots.append(column_sums(against * following))
        previous, current = current, following
    return total, torch.stack(dots) if dots else None


def sweep_by(
    plan: Plan, matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Sequence[Step], against: Tensor | None = None
) -> Swept:
    """`sweep` by a plan: its tiles of columns, laid together."""
    tiles, by_columns = plan.tiles(x.shape[1]), plan.share == "columns" or not recurrence
    parts = [] if by_columns else cut(matrix, tiles[0].stop, plan.threads)
    some = partial(sweep, matrix) if by_columns else partial(sweep_in_parts, plan.threads, parts)
    if len(tiles) == 1:
        return some(x, coefficients, recurrence, against)
    total, dots = empty_like(x), torch.empty(len(recurrence) + 1, x.shape[1])

    def sweep_tile(columns: slice) -> None:
        def own(value: Any) -> Any:
            # What is one for all columns stays as it is.
            shared = not isinstance(value, Tensor) or value.shape[-1] == 1
            return value if shared else value[..., columns].contiguous()

        steps = [(own(a), own(b), own(c)) for a, b, c in recurrence]
        total[:, columns], products = some(own(x), own(coefficients), steps, own(against))
        if products is not None:
            dots[:, columns] = products

    with team(plan.threads if by_columns else 1) as each:
        each(sweep_tile, tiles)
    return total, None if against is None else dots


class Part(NamedTuple):
    """Some rows of a matrix."""

    matrix: CSR
    rows: slice


def cut(matrix: CSR, width: int, threads: int = 1) -> list[Part]:
    """The rows in parts: whole bags of them that stay in the cache, `width` columns wide."""
    rows = matrix.shape[0]
    count = min(PART // (width * matrix.values.element_size()), -(-rows // (SHARES * threads)))
    bounds = [*range(0, rows, max(1, count // BAG) * BAG), rows]
    entries = matrix.crow[bounds].tolist()
    parts = []
    for start, stop, first, last in zip(bounds, bounds[1:], entries, entries[1:], strict=False):
        crow, col, values = matrix.crow[start : stop + 1] - first, matrix.col[first:last], matrix.values[first:last]
        parts.append(Part(CSR(crow, col, values, (stop - start, matrix.shape[1])), slice(start, stop)))
    return parts


def sweep_in_parts(
    threads: int,
    parts: Sequence[Part],
    x: Tensor,
    coefficients: Tensor,
    recurrence: Sequence[Step],
    against: Tensor | None = None,
) -> Swept:
    """`sweep`, to the bit, by threads that take parts in turns: what a product wrote is scaled and added in the cache.

    Two blocks are alive besides x and the sum.
    """
    total, previous, current = empty_like(x), x, x
    free = [empty_like(x) for _ in range(2)]
    bags = x.new_empty(len(coefficients), 0 if against is None else -(-len(x) // BAG), x.shape[1])

    def note(n: int, rows: slice, term: Tensor) -> None:
        # Parts begin with a bag: their sums are those of the whole.
        if against is not None:
            bags[n, rows.start // BAG : -(-rows.stop // BAG)] = bag_sums(against[rows] * term)

    def compute(n: int, following: Tensor, part: Part) -> None:
        """P_n of the rows of a part, and what it adds to the sums; the term of x itself comes along with the first."""
        matrix, rows = part
        so_far, here = total[rows], current[rows]
        if n == 1:
            torch.mul(here, coefficients[0], out=so_far)
            note(0, rows, here)
        term = _following(recurrence[n - 1], matrix, current, here, previous[rows])
        so_far.addcmul_(term, coefficients[n])
        note(n, rows, term)
        if following is not current:
            following[rows] = term

    with team(threads) as each:
        for n in range(1, len(coefficients)):
            # P_{n−2} is not needed any more once P_n is there: its memory is used for it, row by row.
            following = current if n == len(recurrence) else free.pop() if free else previous
            each(partial(compute, n, following), parts)
            previous, current = current, following
    return total, None if against is None else torch.stack([column_sums(sums) for sums in bags])


def _following(step: Step, rows: CSR, current: Tensor, current_rows: Tensor, previous_rows: Tensor) -> Tensor:
    """P_{n+1} = (a M + b) P_n − c P_{n−1}, for some rows of M or for all."""
    a, b, c = step
    following = product(rows, current)
    if isinstance(a, Tensor) or a != 1.0:
        following.mul_(a)
    for x, scale in ((current_rows, b), (previous_rows, -c)):
        if isinstance(scale, Tensor):
            following.addcmul_(x, scale)
        elif scale != 0.0:
            following.add_(x, alpha=scale)
    return following


def column_sums(x: Tensor) -> Tensor:
    """1ᵀx, as sums of sums: they lose fewer digits than one long sum."""
    x = bag_sums(x)
    while x.size(0) > 1:
        x = bag_sums(x)
    return x[0]


def bag_sums(x: Tensor) -> Tensor:
    """1ᵀ of every bag of rows. `torch.sum` rounds a column differently depending on how many others there are."""
    if x.dtype != torch.float32:
        return x.sum(dim=0, keepdim=True)
    rows, starts = _bags(x.size(0))
    return torch.embedding_bag(x, rows, starts, False, 0)[0]


@lru_cache(maxsize=64)
def _bags(count: int) -> tuple[Tensor, Tensor]:
    """Rows, and where their bags begin."""
    rows = torch.arange(count, dtype=torch.int32)
    return rows, rows[::BAG].contiguous()


def empty_like(x: Tensor) -> Tensor:
    """`torch.empty_like`. A large block is new to the process: touching it page by page costs a tenth of a sweep.

    Pages of megabytes instead of kilobytes are a request that the system need not follow, and one that changes
    nothing but time.
    """
    block = torch.empty_like(x)
    # The name exists on Linux alone.
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is not None and block.device.type == "cpu" and block.nbytes >= LARGE:
        start = -(-block.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
        size = (block.data_ptr() + block.nbytes - start) // mmap.PAGESIZE * mmap.PAGESIZE
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), ctypes.c_int(advice))
    return block


def _seconds_of_a_column(matrix: CSR, x: Tensor, plan: Plan) -> float:
    """Time of a step by a plan, the best of a few rounds."""
    width = plan.tiles(x.shape[1])[0].stop
    if plan.share == "columns":
        width = min(x.shape[1], width * plan.threads)
        steps, run = float(STEPS), partial(sweep_by, plan, matrix)
    else:
        parts = cut(matrix, width, plan.threads)
        enough = max(SHARES * plan.threads, SAMPLE * len(parts) // (4 * width * matrix.nnz))
        sample = parts[:: max(1, len(parts) // enough)]
        steps = max(1, sum(part.matrix.nnz for part in sample)) / matrix.nnz
        run = partial(sweep_in_parts, plan.threads, sample)
    # The numbers make no difference, only where they lie: the same memory, as if there were fewer columns.
    window = x.view(-1)[: len(x) * width].view(len(x), width)
    recurrence = [(1.0, -1.0, 0.0)] * max(1, int(steps))
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(window, x.new_ones(len(recurrence) + 1, 1), recurrence)
        taken.append(time.perf_counter() - start)
    return min(taken) / steps / width
