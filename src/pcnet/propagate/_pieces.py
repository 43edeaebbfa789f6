"""Large sweeps on the CPU, in pieces that stay in the processor's caches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate._plan import Plan, Plans
from pcnet.propagate._sweep import BAG, Step, bag_sums, column_sums, following_term, sweep
from pcnet.propagate._threads import Each, one_core, team

#: A plan is made where x has more bytes, or where a product gathers more.
LARGE_BLOCK, LARGE_GATHER = 2**22, 2**27
#: Bytes of a part of the rows; one thread takes a block of a few parts as a whole.
PART, FEW = 2**20, 4
#: Parts for each thread at least, so that the last one keeps the others waiting for a short time only.
SHARES = 4
#: Bytes that are gathered to time a plan, and how many times.
SAMPLE, ROUNDS = 2**26, 3

PLANS = Plans()


class Part(NamedTuple):
    """Some rows of a matrix."""

    matrix: CSR
    rows: slice


def planned_sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Sequence[Step], against: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """`sweep`, cut into pieces where it is large; the pieces change no bit.

    Some columns are swept at a time, and their rows part by part, which threads share out. A small sweep is one piece,
    and so is every one in double precision, where rounding would depend on the pieces; that one is left to torch's own
    threads.
    """
    x, coefficients = x.detach().contiguous(), coefficients.detach()
    if x.dtype != torch.float32:
        return sweep(matrix, x, coefficients, recurrence, against)
    with one_core() as threads:
        if x.nbytes <= LARGE_BLOCK and 4 * x.shape[1] * matrix.nnz <= LARGE_GATHER:
            return sweep(matrix, x, coefficients, recurrence, against)
        plan = PLANS.find(matrix.shape[0], matrix.nnz, x.shape[1], threads, partial(_seconds_of_a_column, matrix, x))
        return sweep_by(plan, cut(matrix, plan, x.shape[1]), x, coefficients, recurrence, against)


def sweep_by(
    plan: Plan,
    parts: Sequence[Part],
    x: Tensor,
    coefficients: Tensor,
    recurrence: Sequence[Step],
    against: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`sweep` with the columns and threads of a plan, over these parts of the rows."""
    tiles, total = plan.tiles(x.shape[1]), torch.empty_like(x)
    dots: list[Tensor] = []
    whole = parts[0].rows.stop == len(x)
    room = [] if whole else [x.new_empty(len(x) * tiles[0].stop) for _ in range(2)]
    with team(plan.threads) as each:
        for columns in tiles:
            own = partial(_of, columns)
            steps = [(own(a), own(b), own(c)) for a, b, c in recurrence]
            if whole:
                z, products = sweep(parts[0].matrix, own(x).contiguous(), own(coefficients), steps, own(against))
                total[:, columns] = z
            else:
                products = _Tile(own(x), own(total), own(against), room).sweep(each, parts, own(coefficients), steps)
            if products is not None:
                dots.append(products)
    return total, torch.cat(dots, dim=1) if dots else None


def _of(columns: slice, value: Any) -> Any:
    """What belongs to some columns; what is one for all of them stays as it is."""
    return value[..., columns] if isinstance(value, Tensor) and value.shape[-1] > 1 else value


class _Tile:
    """Some columns, swept part by part: what a product has written is scaled and added while it is in the cache.

    A step can have several parts in hand at a time. Two blocks are alive beside x and the sum, for any N.
    """

    def __init__(self, x: Tensor, total: Tensor, against: Tensor | None, room: Sequence[Tensor]) -> None:
        self.x, self.total, self.against = x, total, against
        self.free = [block[: x.numel()].view(x.shape) for block in room]
        # Rows are gathered from columns that lie together.
        self.current = x if x.is_contiguous() else self.free.pop()
        self.previous = self.following = self.current
        self.sums = None if against is None else x.new_empty(-(-len(x) // BAG), x.shape[1])

    def sweep(
        self, each: Each, parts: Sequence[Part], coefficients: Tensor, recurrence: Sequence[Step]
    ) -> Tensor | None:
        """Write Σ_n c_n P_n(M) x; returns ⟨against, P_n(M) x⟩ for every n."""
        first, *scales = coefficients.unbind()
        each(partial(self._begin, first), parts)
        dots = [] if self.sums is None else [column_sums(self.sums)]
        for step, scale in zip(recurrence, scales, strict=True):
            # P_{n−1} is not needed any more once P_{n+1} is there: its memory is used for it, row by row.
            self.following = self.free.pop() if self.free else self.previous
            each(partial(self._advance, step, scale), parts)
            if self.sums is not None:
                dots.append(column_sums(self.sums))
            self.previous, self.current = self.current, self.following
        return torch.stack(dots) if dots else None

    def _begin(self, scale: Tensor, part: Part) -> None:
        term = self.x[part.rows]
        if self.current is not self.x:
            term = self.current[part.rows].copy_(term)
        torch.mul(term, scale, out=self.total[part.rows])
        self._note(part.rows, term)

    def _advance(self, step: Step, scale: Tensor, part: Part) -> None:
        matrix, rows = part
        term = following_term(step, matrix, self.current, self.current[rows], self.previous[rows])
        self.total[rows].addcmul_(term, scale)
        self._note(rows, term)
        self.following[rows] = term

    def _note(self, rows: slice, term: Tensor) -> None:
        """Parts begin with a bag: their sums are those of the whole."""
        if self.against is not None and self.sums is not None:
            sums = bag_sums(self.against[rows] * term)
            self.sums[rows.start // BAG :][: len(sums)] = sums


def cut(matrix: CSR, plan: Plan, width: int) -> list[Part]:
    """The rows in parts that stay in the cache together with what is added to them; or all, if they are few."""
    rows, row_bytes = matrix.shape[0], matrix.values.element_size() * plan.tiles(width)[0].stop
    if plan.threads == 1 and rows * row_bytes <= FEW * PART:
        return [Part(matrix, slice(0, rows))]
    count = min(PART // row_bytes, -(-rows // (SHARES * plan.threads)))
    bounds = [*range(0, rows, max(1, count // BAG) * BAG), rows]
    entries = matrix.crow[bounds].tolist()
    parts = []
    for start, stop, first, last in zip(bounds, bounds[1:], entries, entries[1:], strict=False):
        crow, col, values = matrix.crow[start : stop + 1] - first, matrix.col[first:last], matrix.values[first:last]
        parts.append(Part(CSR(crow, col, values, (stop - start, matrix.shape[1])), slice(start, stop)))
    return parts


def _seconds_of_a_column(matrix: CSR, x: Tensor, plan: Plan) -> float:
    """Time of a step by a plan, the best of a few rounds, over as many parts as gather enough to be timed."""
    columns, plan = plan.tiles(x.shape[1])[0].stop, Plan(plan.threads)
    # The numbers make no difference, only where they lie: the same memory, as if there were fewer columns.
    window = x.view(-1)[: len(x) * columns].view(len(x), columns)
    parts = cut(matrix, plan, columns)
    enough = max(SHARES * plan.threads, -(-len(parts) * SAMPLE // (4 * columns * matrix.nnz + 1)))
    sample = parts[:: max(1, len(parts) // enough)]
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        sweep_by(plan, sample, window, x.new_ones(2, 1), [(1.0, -1.0, 0.0)])
        taken.append(time.perf_counter() - start)
    return min(taken) / len(sample) * len(parts) / columns
