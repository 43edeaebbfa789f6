"""The tables that a graph is made of, before they are read: files or data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pcnet.data.own._bar import shown
from pcnet.data.own._csv import CsvFile
from pcnet.data.own._listed_features import FEATURES
from pcnet.data.own._parquet import ParquetFile
from pcnet.data.own._roles import Wishes, check_drop, check_names
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError

#: How files end that hold a table.
TABLES = (".csv", ".tsv", ".parquet")


class Source(Protocol):
    """A table that knows its columns before it is read; `size` is how many bytes of a file that takes."""

    @property
    def title(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def size(self) -> int: ...
    def read(self, names: Sequence[str], tell: Callable[[float], None]) -> Table: ...


@dataclass(frozen=True)
class Tables:
    """Edges, and about the nodes a table, one of labels and a file that lists features, each where there is one."""

    edges: Source
    nodes: Source | None = None
    labels: Source | None = None
    features: Path | None = None
    #: Whether to show how much of a large file is read.
    progress: bool = False

    @property
    def sources(self) -> list[Source]:
        """The tables that are there."""
        return [source for source in (self.edges, self.nodes, self.labels) if source is not None]

    @property
    def main(self) -> Source | None:
        """The table that has a row for each node."""
        return self.nodes or self.labels

    def check(self, wishes: Wishes) -> None:
        """Refuse columns of one name, and to drop what is not there."""
        for source in self.sources:
            check_names(source.title, source.names)
        listed = () if self.features is None else (FEATURES,)
        check_drop(wishes.drop, [*(column for source in self.sources for column in source.names), *listed])

    def rows(self, source: Source, names: Sequence[str]) -> Table:
        """The named columns of one of the tables."""
        with shown(source.title, source.size, self.progress) as tell:
            table = source.read(names, tell)
        if not table.rows:
            raise PcnetError(f"{source.title} names its columns but has no rows.")
        return table


def open_table(path: Path) -> Source:
    """The columns of a file."""
    if not path.is_file():
        raise PcnetError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise PcnetError(f"{path} is no table that can be read; it must end in {', '.join(TABLES)}.")
    return ParquetFile.open(path) if suffix == ".parquet" else CsvFile.open(path)
