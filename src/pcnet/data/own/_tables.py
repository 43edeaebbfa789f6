"""The tables that a graph is made of, before they are read: files or data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pcnet._progress import Progress, Silent
from pcnet.data.own._frames import Frame, is_frame
from pcnet.data.own._readers import Source, open_file
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError

#: Smaller files are read before a progress bar could be seen.
_LARGE = 16 * 2**20


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
        shown = self.progress is not None and source.size >= _LARGE
        table = source.read(names, self.progress if self.progress is not None and shown else Silent())
        if not table.rows:
            raise PcnetError(f"{source.title} names its columns but has no rows.")
        return table


def open_table(path: Path) -> Source:
    """The columns of a file."""
    opened = open_file(path, table=True)
    return Frame.of(opened, path.name) if is_frame(opened) else opened
