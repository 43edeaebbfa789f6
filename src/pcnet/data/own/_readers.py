"""What opens files: one function a format, registered by suffix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pcnet._progress import Progress
from pcnet._registry import Registry
from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._cells import Table
from pcnet.errors import PcnetError

Open = Callable[[Path], Any]


class Reader(NamedTuple):
    """What opens a file, and whether it holds a table."""

    open: Open
    table: bool


#: Every reader by the suffix of its files.
READERS: Registry[Reader] = Registry("reader of files that end in")


def reader(*suffixes: str, table: bool = False) -> Callable[[Open], Open]:
    """Register what opens files of these suffixes: a function of a path whose result is what `read_graph` takes.

    That is a NetworkX graph, PyG's `Data`, a SciPy matrix or a `Graph`; or a data frame, where `table` says that a file
    holds edges, nodes or labels, so that it is also found in a folder. A suffix that is taken raises a `PcnetError`.

    >>> @reader(".edgelist")
    ... def edge_list(path):
    ...     return networkx.read_edgelist(path)
    """

    def register(function: Open) -> Open:
        for suffix in suffixes:
            READERS.add(suffix.lower(), Reader(function, table))
        return function

    return register


def table_suffixes() -> tuple[str, ...]:
    """How the files end that hold a table."""
    return tuple(suffix for suffix, known in READERS.items() if known.table)


def open_file(path: Path, *, table: bool = False) -> Any:
    """What the reader of a file makes of it; with `table`, only readers of tables will do."""
    if not path.is_file():
        raise PcnetError(f"There is no file {path}.")
    known = READERS.get(path.suffix.lower())
    if known is None or (table and not known.table):
        what, suffixes = ("table", table_suffixes()) if table else ("graph", tuple(READERS))
        raise PcnetError(f"{path} is no {what} that can be read; it must end in {', '.join(suffixes)}.")
    with reading(path, ADVICE):
        return known.open(path)


@dataclass(frozen=True)
class Source:
    """A table that knows its columns before it is read; `size` is how many bytes of a file that takes."""

    title: str
    names: tuple[str, ...]
    #: The named columns.
    read: Callable[[Sequence[str], Progress], Table]
    size: int = 0
    notes: tuple[str, ...] = ()
