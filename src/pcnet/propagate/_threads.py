"""Threads of our own, and how many of them there may be."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import torch

from pcnet.errors import PcnetError

T = TypeVar("T")
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
    if threads == 1:
        yield one_by_one
        return
    # Torch keeps its number of threads for each thread by itself.
    with ThreadPoolExecutor(threads - 1, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield partial(_in_turns, pool, threads - 1)


def one_by_one(function: Callable[[T], object], items: Iterable[T]) -> None:
    """What a team of one does."""
    for item in items:
        function(item)


def _in_turns(pool: ThreadPoolExecutor, helpers: int, function: Callable[[T], object], items: Iterable[T]) -> None:
    waiting = deque(items)
    # Modes of torch, too, hold for one thread.
    inference = torch.is_inference_mode_enabled()

    def work() -> None:
        with torch.inference_mode(inference), torch.no_grad():
            while True:
                try:
                    item = waiting.popleft()
                except IndexError:
                    return
                function(item)

    futures = [pool.submit(work) for _ in range(helpers)]
    try:
        work()
    finally:
        waiting.clear()
    for future in futures:
        future.result()
