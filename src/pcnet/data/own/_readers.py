"""What opens files, one function a format, registered by suffix; and the tables that a graph is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pcnet._progress import Progress, Silent
from pcnet._registry import Registry
from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._frames import Frame, is_frame
from pcnet.data.own._table import Source, Table
from pcnet.errors import PcnetError

Open = Callable[[Path], Any]
#: Smaller files are read before a progress bar could be seen.
_LARGE = 16 * 2**20


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


def open_table(path: Path) -> Source:
    """The columns of a file."""
    opened = open_file(path, table=True)
    if isinstance(opened, Source):
        return opened
    if not is_frame(opened):
        raise PcnetError(f"The reader of {path} made a {type(opened).__name__}; a reader of tables makes a data frame.")
    return Frame.of(opened, path.name)


@dataclass(frozen=True)
class Tables:
    """Edges, and about the nodes a table, one of labels and a file that lists features, each where there is one."""

    edges: Source
    nodes: Source | None = None
    labels: Source | None = None
    features: Path | None = None
    progress: Progress | None = None

    @property
    def sources(self) -> list[Source]:
        """The tables that are there."""
        return [source for source in (self.edges, self.nodes, self.labels) if source is not None]

    @property
    def main(self) -> Source | None:
        """The table that has a row for each node."""
        return self.nodes or self.labels

    def rows(self, source: Source, names: Sequence[str]) -> Table:
        """The named columns of one of the tables."""
        table = source.read(names, (self.progress if source.size >= _LARGE else None) or Silent())
        if not table.rows:
            raise PcnetError(f"{source.title} names its columns but has no rows.")
        return table
