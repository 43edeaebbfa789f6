"""How a command is stopped, and worker processes that end with the one that started them, whatever ends it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

#: Signals that ask a command to end.
ASKING = (signal.SIGINT, signal.SIGTERM)
#: Seconds in which a further signal is the same request: a terminal or `timeout` may send one to the group, too.
GRACE = 1.0


class Stop:
    """What Ctrl-C and SIGTERM do: a `KeyboardInterrupt` where a command is at work, which saves and says how to go on.

    Before that it leaves at once: nothing has been done, and libraries must not be interrupted half loaded. So does a
    second request, for those who do not want to wait.
    """

    def __init__(self) -> None:
        self.working = False
        self._asked = signal.SIGINT
        self._since: float | None = None

    @property
    def code(self) -> int:
        """The exit code that a shell expects: 130 or 143."""
        return 128 + self._asked

    def install(self) -> dict[signal.Signals, Any]:
        """From now on; what was there before. A signal that whoever started us has turned off stays so."""
        if threading.current_thread() is not threading.main_thread():
            return {}
        before = {each: signal.getsignal(each) for each in ASKING}
        for each, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(each, self._handle)
        return before

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._since is not None and now - self._since < GRACE:
            return
        if self._since is not None or not self.working:
            with suppress(OSError):
                os.write(2, b"pcnet: Interrupted.\n")
            os._exit(128 + number)
        self._asked, self._since = signal.Signals(number), now
        raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[Stop]:
    """A block that Ctrl-C and SIGTERM stop; `working` is set once there is something to save."""
    stop = Stop()
    before = stop.install()
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def worker_processes(count: int) -> Iterator[Executor]:
    """A pool of processes that leave Ctrl-C to this one and end with it, also where it is killed.

    Where the block is left by an exception, what they are at is not waited for.
    """
    # Imported here: they take a tenth of a second, and most commands have no workers.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    class Pool(ProcessPoolExecutor):
        def submit(self, *work: Any, **named: Any) -> Future[Any]:
            # It may start a process, which complains when nobody tells it what it is for.
            with _undisturbed():
                return super().submit(*work, **named)

    others = {*multiprocessing.active_children()}
    pool = Pool(count, mp_context=multiprocessing.get_context("spawn"), initializer=_follow)
    try:
        yield pool
    except BaseException:
        for process in {*multiprocessing.active_children()} - others:
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A short block that no signal interrupts: one that comes is heard at its end."""
    heard: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {each: signal.getsignal(each) for each in ASKING}
    mine = threading.current_thread() is threading.main_thread()
    handlers = {each: handler for each, handler in before.items() if mine and callable(handler)}
    for each in handlers:
        signal.signal(each, lambda *signalled: heard.append(signalled))
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number, frame in heard[:1]:
            handlers[number](number, frame)


def _follow() -> None:
    """In a worker: who started it decides what a signal means, and is not outlived."""
    from multiprocessing import connection, parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def end() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=end, daemon=True).start()
