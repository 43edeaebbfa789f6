"""How a sweep is cut into pieces, chosen by a short measurement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pcnet.propagate._threads import available_threads, threads_setting

#: Columns at a time that are tried: whole lines of the cache, and no more than gain from each other.
TILES = (256, 128, 64, 32, 16)
#: Another plan must take this share of the time, or less, to be preferred to a simpler one.
CLEARLY = 1 / 1.15


@dataclass(frozen=True)
class Plan:
    """So many columns at a time (None: all), their rows shared out among so many threads.

    Every plan gives the same bits.
    """

    threads: int = 1
    columns: int | None = None

    def tiles(self, width: int) -> list[slice]:
        """The columns in pieces of about the same width, which begin at whole lines of the cache."""
        if self.columns is None or self.columns >= width:
            return [slice(0, width)]
        pieces = -(-width // self.columns)
        step = -(-width // (16 * pieces)) * 16
        return [slice(start, min(width, start + step)) for start in range(0, width, step)]


class Plans:
    """Plans that have been found, by what they were found for. They live as long as the process.

    A file would keep them longer, but would also keep a choice that was made in a busy moment; measuring anew takes
    a small part of the first sweep that is large enough to be measured at all.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Plan] = {}
        self._lock = threading.Lock()

    def find(self, rows: int, entries: int, width: int, threads: int, seconds: Callable[[Plan], float]) -> Plan:
        """The plan for a matrix and so many columns; `seconds` says how long a column takes with a plan.

        At most `threads` threads are used, and exactly as many where the user has set their number.
        """
        limit, fixed = min(threads, available_threads()), threads_setting() is not None
        key = rows, entries, width.bit_length(), limit, fixed
        with self._lock:
            if key not in self._found:
                tiles = [Plan(1, tile) for tile in TILES if tile < width]
                if width <= TILES[0]:
                    tiles = [Plan(), *tiles]
                columns = quickest(tiles, seconds).columns
                self._found[key] = quickest([Plan(number, columns) for number in _numbers(limit, fixed)], seconds)
            return self._found[key]


def quickest(plans: Sequence[Plan], seconds: Callable[[Plan], float]) -> Plan:
    """The quickest plan, but a later one only where it is clearly so: what is noise changes nothing."""
    best = plans[0]
    if len(plans) > 1:
        shortest = seconds(best)
        for plan in plans[1:]:
            taken = seconds(plan)
            if taken < CLEARLY * shortest:
                best, shortest = plan, taken
    return best


def _numbers(limit: int, fixed: bool) -> list[int]:
    """1, 2, 4, … up to the limit."""
    if fixed:
        return [limit]
    return sorted({min(2**power, limit) for power in range(limit.bit_length() + 1)})
