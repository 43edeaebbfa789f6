"""A sweep on the CPU that takes the rows in parts: what a product has written is scaled and added in the cache."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate._product import BAG, Step, bag_sums, column_sums, following_term
from pcnet.propagate._threads import team

#: Bytes of a part, and how many of them each thread takes at least, so that the last one keeps nobody waiting for long.
PART, SHARES = 2**19, 4

#: Bytes from which on the C library asks the system for a block and hands it back after use.
LARGE = 2**25


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
) -> tuple[Tensor, Tensor | None]:
    """`sweep`, to the bit, by threads that take parts in turns. Two blocks are alive besides x and the sum."""
    state = _State(x, against)
    terms = list(enumerate(zip([None, *recurrence], coefficients.unbind(), strict=True)))
    dots: list[Tensor] = []
    with team(threads) as each:
        # The term of x itself comes along with the first that is computed.
        for together in [terms[:2], *([term] for term in terms[2:])]:
            state.make_room(last=together[-1][0] == len(recurrence))
            each(partial(state.compute, together), parts)
            state.previous, state.current = state.current, state.following
            if against is not None:
                dots += [column_sums(state.sums[n % 2]) for n, _ in together]
    return state.total, torch.stack(dots) if dots else None


class _State:
    """The terms and sums of a sweep, of which several parts can be in hand at a time."""

    def __init__(self, x: Tensor, against: Tensor | None) -> None:
        self.total, self.against = empty_like(x), against
        self.previous = self.current = self.following = x
        self.free = [empty_like(x) for _ in range(2)]
        #: Sums over bags of rows for ⟨against, P_n(M) x⟩, n even and odd.
        self.sums = x.new_empty(2, 0 if against is None else -(-len(x) // BAG), x.shape[1])

    def make_room(self, last: bool) -> None:
        """P_{n−1} is not needed any more once P_{n+1} is there: its memory is used for it, row by row."""
        self.following = self.current if last else self.free.pop() if self.free else self.previous

    def compute(self, terms: Sequence[tuple[int, tuple[Step | None, Tensor]]], part: Part) -> None:
        """One or two terms of the rows of one part, and what they add to the sums."""
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
