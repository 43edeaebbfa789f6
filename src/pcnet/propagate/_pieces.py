"""Large sweeps on the CPU, cut into pieces that stay in the processor's caches and that threads can share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate._parts import SHARES, cut, empty_like, sweep_in_parts
from pcnet.propagate._plan import SHARED, Plan, Plans
from pcnet.propagate._product import Step, sweep
from pcnet.propagate._threads import Each, one_by_one, one_core, team

#: Bytes of x up to which a sweep is one piece, unless its products are worth sharing.
SMALL = 2**22
#: Rounds in which plans are timed. Whole columns take several steps, so that what is done once counts for little; of
#: parts of the rows, those that gather `SAMPLE` bytes take one step.
ROUNDS, STEPS, SAMPLE = 2, 2, 2**26

PLANS = Plans()


def planned_sweep(
    matrix: CSR, x: Tensor, coefficients: Tensor, recurrence: Sequence[Step], against: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """`sweep`, cut into pieces where it is large; they change no bit.

    A small sweep is one piece, and so is every one in double precision, where rounding would depend on the pieces; that
    one is left to torch's own threads.
    """
    x, coefficients = x.detach().contiguous(), coefficients.detach()
    if x.dtype != torch.float32:
        return sweep(matrix, x, coefficients, recurrence, against)
    with one_core() as threads:
        if x.nbytes <= SMALL and 4 * x.shape[1] * matrix.nnz <= SHARED:
            return sweep(matrix, x, coefficients, recurrence, against)
        plan = PLANS.find(matrix.shape[0], matrix.nnz, x.shape[1], threads, partial(_seconds_of_a_column, matrix, x))
        return sweep_by(plan, matrix, x, coefficients, recurrence, against)


def sweep_by(
    plan: Plan,
    matrix: CSR,
    x: Tensor,
    coefficients: Tensor,
    recurrence: Sequence[Step],
    against: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`sweep` by a plan."""
    tiles = plan.tiles(x.shape[1])
    if plan.share == "columns":
        with team(plan.threads) as each:
            return _by_columns(each, partial(sweep, matrix), tiles, x, coefficients, recurrence, against)
    in_parts = partial(sweep_in_parts, plan.threads, cut(matrix, tiles[0].stop, plan.threads))
    return _by_columns(one_by_one, in_parts, tiles, x, coefficients, recurrence, against)


def _by_columns(
    each: Each,
    some: Callable[..., tuple[Tensor, Tensor | None]],
    tiles: Sequence[slice],
    x: Tensor,
    coefficients: Tensor,
    recurrence: Sequence[Step],
    against: Tensor | None,
) -> tuple[Tensor, Tensor | None]:
    """The sweep `some` over each tile's columns, laid together."""
    if len(tiles) == 1:
        return some(x, coefficients, recurrence, against)
    total, dots = empty_like(x), torch.empty(len(recurrence) + 1, x.shape[1])

    def sweep_tile(columns: slice) -> None:
        own = partial(_of, columns)
        steps = [(own(a), own(b), own(c)) for a, b, c in recurrence]
        z, products = some(own(x), own(coefficients), steps, own(against))
        total[:, columns] = z
        if products is not None:
            dots[:, columns] = products

    each(sweep_tile, tiles)
    return total, None if against is None else dots


def _of(columns: slice, value: Any) -> Any:
    """What belongs to some columns; what is one for all of them stays as it is."""
    return value[..., columns].contiguous() if isinstance(value, Tensor) and value.shape[-1] > 1 else value


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
