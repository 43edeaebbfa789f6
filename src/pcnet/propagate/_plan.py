"""How a large sweep is cut into pieces, and how many threads compute them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

from pcnet.propagate._threads import available_threads, threads_setting

#: Bytes of the columns that are swept in one piece: a few such blocks stay in the caches of a core.
TILE = 3 * 2**19
#: Columns that fill a line of the cache. Two lines a row are better than one up to this many bytes.
LINE, TWO_LINES = 16, 2**23
#: Bytes of a piece at most: of what is larger the rows are cut.
PIECE = 2**25
#: Columns at a time where the rows are cut and there are many more.
WIDE = 64
#: Bytes that a product gathers for threads to be tried: with less they wait for Python's lock more than they compute.
SHARED = 2**25
#: Another plan must take this share of the time, or less, to be preferred to one before it.
CLEARLY = 1 / 1.15


@dataclass(frozen=True)
class Plan:
    """`columns` at a time (None: all) by `threads` threads. Every plan gives the same bits.

    Threads share the columns: each sweeps some of them in one piece, and waits for nobody. Or they share the rows: they
    take parts of them in turns, and all go from one product to the next.
    """

    share: Literal["columns", "rows"] = "columns"
    columns: int | None = None
    threads: int = 1

    def tiles(self, width: int) -> list[slice]:
        """The columns in pieces of about the same width, which begin at whole lines of the cache."""
        if self.columns is None or self.columns >= width:
            return [slice(0, width)]
        pieces = -(-width // self.columns)
        step = -(-width // (LINE * pieces)) * LINE
        return [slice(start, min(width, start + step)) for start in range(0, width, step)]


def plans_for(rows: int, width: int, threads: int = 1) -> list[Plan]:
    """What that many threads might do: columns first, where lines of them fit and are enough for everybody."""
    line = 4 * LINE * rows
    # As many columns at a time as fill the caches, and a share for every thread.
    lines = max(1, min(-(-width // (LINE * threads)), max(TILE // line, min(2, TWO_LINES // line))))
    columns = Plan("columns", LINE * lines, threads)
    by_rows = Plan("rows", None if width <= 2 * WIDE else WIDE, threads)
    return [columns, by_rows] if line <= PIECE and len(columns.tiles(width)) >= threads else [by_rows]


def alone(rows: int, width: int) -> Plan:
    """What one thread does."""
    return plans_for(rows, width)[0]


class Plans:
    """Plans that have been found, by what they were found for. They live as long as the process.

    A file would keep them longer, but would also keep what was chosen in a busy moment; measuring anew takes a small
    part of the first sweep that is large enough to be measured at all.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Plan] = {}
        self._lock = threading.Lock()

    def find(self, rows: int, entries: int, width: int, threads: int, seconds: Callable[[Plan], float]) -> Plan:
        """The quickest plan for a matrix and `width` columns; `seconds` says how long a column takes with a plan.

        At most `threads` threads are used, and exactly as many where the user has set their number. A later plan is
        preferred only where it is clearly quicker, and many threads come first. Ours sleep while they wait: next to
        busy neighbours they are not slower than few, and they are quicker again when those are gone. Where they hinder
        each other, which depends on sizes, it is seen clearly.
        """
        limit, fixed = min(threads, available_threads()), threads_setting() is not None
        if limit == 1 or 4 * width * entries <= SHARED:
            return alone(rows, width)
        key = rows, entries, width.bit_length(), limit, fixed
        with self._lock:
            if key not in self._found:
                # All threads, half of them, …, one; or only all, where their number is fixed.
                numbers = [limit] if fixed else [limit >> halved for halved in range(limit.bit_length() - 1)]
                plans = [plan for number in numbers for plan in plans_for(rows, width, number)]
                plans += [] if fixed else [alone(rows, width)]
                best, shortest = plans[0], seconds(plans[0]) if len(plans) > 1 else 0.0
                for plan in plans[1:]:
                    taken = seconds(plan)
                    if taken < CLEARLY * shortest:
                        best, shortest = plan, taken
                self._found[key] = best
            return self._found[key]
