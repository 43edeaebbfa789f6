"""A progress bar on standard error for large files, where someone is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: Smaller files are read before a bar could be seen.
_LARGE = 16 * 2**20


@contextmanager
def shown(path: Path, wanted: bool = True) -> Iterator[Callable[[float], None]]:
    """A function to tell which share of the file was read."""
    if not wanted or not sys.stderr.isatty() or path.stat().st_size < _LARGE:
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"reading {path.name}", total=1.0)
        yield lambda share: progress.update(task, completed=share)
