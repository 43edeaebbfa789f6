"""Threads of our own, and how many of them there may be."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

from pcnet.errors import PcnetError

#: Calls a function with every item.
Each = Callable[[Callable[[Any], object], Iterable[Any]], None]
#: The environment variable that sets the number of threads; nothing is measured then.
SETTING = "PCNET_THREADS"


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
