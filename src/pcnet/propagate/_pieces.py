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

    Several parts can be in hand at a time. Two blocks are alive beside x and the sum, for any N.
    """

    def __init__(self, x: Tensor, total: Tensor, against: Tensor | None, room: Sequence[Tensor]) -> None:
        self.x, self.total, self.against = x, total, against
        self.free = [block[: x.numel()].view(x.shape) for block in room]
        # Rows are gathered from columns that lie together.
        self.current = x if x.is_contiguous() else self.free.pop()
        self.previous = self.following = self.current
        #: Sums over bags of rows for ⟨against, P_n(M) x⟩, n even and odd.
        self.sums = x.new_empty(2, 0 if against is None else -(-len(x) // BAG), x.shape[1])

    def sweep(
        self, each: Each, parts: Sequence[Part], coefficients: Tensor, recurrence: Sequence[Step]
    ) -> Tensor | None:
        """Write Σ_n c_n P_n(M) x; returns ⟨against, P_n(M) x⟩ for every n."""
        if self.current is not self.x:
            each(self._copy, parts)
        terms = list(enumerate(zip([None, *recurrence], coefficients.unbind(), strict=True)))
        dots = []
        # The term of x itself comes along with the first that is computed.
        for together in [terms[:2], *([term] for term in terms[2:])]:
            last = together[-1][0] == len(recurrence)
            # P_{n−1} is not needed any more once P_{n+1} is there: its memory is used for it, row by row.
            self.following = self.current if last else self.free.pop() if self.free else self.previous
            each(partial(self._compute, together), parts)
            self.previous, self.current = self.current, self.following
            if self.against is not None:
                dots += [column_sums(self.sums[n % 2]) for n, _ in together]
        return torch.stack(dots) if dots else None

    def _copy(self, part: Part) -> None:
        self.current[part.rows] = self.x[part.rows]

    def _compute(self, terms: Sequence[tuple[int, tuple[Step | None, Tensor]]], part: Part) -> None:
        """The rows of one part of one term or two, and what they add to the sums."""
        matrix, rows = part
        total, current = self.total[rows], self.current[rows]
        for n, (step, scale) in terms:
            if step is None:
                term = current
                torch.mul(term, scale, out=total)
            else:
                term = following_term(step, matrix, self.current, current, self.previous[rows])
                total.addcmul_(term, scale)
            if self.against is not None:
                # Parts begin with a bag: their sums are those of the whole.
                sums = bag_sums(self.against[rows] * term)
                self.sums[n % 2, rows.start // BAG :][: len(sums)] = sums
        if self.following is not self.current:
            self.following[rows] = term


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
    """Time of two steps by a plan, the best of a few rounds, over as many parts as gather enough to be timed."""
    columns, plan = plan.tiles(x.shape[1])[0].stop, Plan(plan.threads)
    # The numbers make no difference, only where they lie: the same memory, as if there were fewer columns.
    window = x.view(-1)[: len(x) * columns].view(len(x), columns)
    parts = cut(matrix, plan, columns)
    enough = max(SHARES * plan.threads, -(-len(parts) * SAMPLE // (4 * columns * matrix.nnz + 1)))
    sample = parts[:: max(1, len(parts) // enough)]
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        sweep_by(plan, sample, window, x.new_ones(3, 1), [(1.0, -1.0, 0.0)] * 2)
        taken.append(time.perf_counter() - start)
    return min(taken) / len(sample) * len(parts) / columns
