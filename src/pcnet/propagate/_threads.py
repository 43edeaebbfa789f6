"""Threads of our own: how many of them there may be, and how they share a large sweep."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch

from pcnet.errors import PcnetError

#: Calls a function with every item.
Each = Callable[[Callable[[Any], object], Iterable[Any]], None]
#: The environment variable that sets the number of threads; nothing is measured then.
SETTING = "PCNET_THREADS"
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


def threads_setting() -> int | None:
    """The number of threads that the user has set with `PCNET_THREADS`, or None."""
    text = os.environ.get(SETTING, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise PcnetError(f"{SETTING} must be a whole number of at least 1, not '{text}'; or leave it unset.")
    return int(text)


def available_threads() -> int:
    """Threads that pcnet may use: `PCNET_THREADS`, or the processors that this process may run on."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return threads_setting() or processors


@contextmanager
def one_core() -> Iterator[int]:
    """Let torch's kernels compute on one core; yields the number of threads that they would have used.

    Those threads (OpenMP) spin while they wait for each other: next to a busy process, a kernel of a millisecond then
    takes a hundred.
    """
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
    try:
        yield before
    finally:
        if before != 1:
            torch.set_num_threads(before)


@contextmanager
def team(threads: int) -> Iterator[Each]:
    """`threads` threads, of which the caller is one, that take items in turns.

    Each computes on one core and sleeps while it waits; who is slowed down by a neighbour takes fewer items.
    """

    def each(function: Callable[[Any], object], items: Iterable[Any]) -> None:
        # Iterators of lists give every item to one thread only.
        waiting = iter(list(items))
        # Modes of torch hold for one thread, and so does its number of threads.
        inference = torch.is_inference_mode_enabled()

        def work() -> None:
            with torch.inference_mode(inference), torch.no_grad():
                for item in waiting:
                    function(item)

        futures = [pool.submit(work) for _ in range(threads - 1)]
        try:
            work()
        finally:
            # Of what is left where something fails, the others take nothing.
            deque(waiting, maxlen=0)
        for future in futures:
            future.result()

    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield each


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
    """What that many threads might do: columns first, where lines of them fit and are enough for everybody.

    One thread does the first of them.
    """
    line = 4 * LINE * rows
    # As many columns at a time as fill the caches, and a share for every thread.
    lines = max(1, min(-(-width // (LINE * threads)), max(TILE // line, min(2, TWO_LINES // line))))
    columns = Plan("columns", LINE * lines, threads)
    by_rows = Plan("rows", None if width <= 2 * WIDE else WIDE, threads)
    return [columns, by_rows] if line <= PIECE and len(columns.tiles(width)) >= threads else [by_rows]


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
            return plans_for(rows, width)[0]
        key = rows, entries, width.bit_length(), limit, fixed
        with self._lock:
            if key not in self._found:
                # All threads, half of them, …, one; or only all, where their number is fixed.
                numbers = [limit] if fixed else [limit >> halved for halved in range(limit.bit_length() - 1)]
                plans = [plan for number in numbers for plan in plans_for(rows, width, number)]
                plans += [] if fixed else plans_for(rows, width)[:1]
                best, shortest = plans[0], seconds(plans[0]) if len(plans) > 1 else 0.0
                for plan in plans[1:]:
                    taken = seconds(plan)
                    if taken < CLEARLY * shortest:
                        best, shortest = plan, taken
                self._found[key] = best
            return self._found[key]
