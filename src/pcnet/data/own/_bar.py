"""A progress bar on standard error for large files, where someone is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Smaller files are read before a bar could be seen.
_LARGE = 16 * 2**20


@contextmanager
def shown(title: str, size: int, wanted: bool) -> Iterator[Callable[[float], None]]:
    """A function to tell which share of a file of so many bytes was read."""
    if not wanted or not sys.stderr.isatty() or size < _LARGE:
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"reading {title}", total=1.0)
        yield lambda share: progress.update(task, completed=share)
