"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pcnet._progress import Progress
from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._frames import ArrowTable, arrow
from pcnet.data.own._readers import reader
from pcnet.data.own._table import Source, Table


@dataclass(frozen=True, kw_only=True)
class ParquetFile(Source):
    """A Parquet file."""

    path: Path

    def read(self, names: Sequence[str], progress: Progress) -> Table:
        """The named columns."""
        pa = arrow()
        with reading(self.path, ADVICE), pa.parquet.ParquetFile(self.path) as file:
            progress.stage(f"reading {self.title}", file.num_row_groups)
            parts = []
            for group in range(file.num_row_groups):
                parts.append(file.read_row_group(group, columns=list(names)))
                progress.advance()
            table = pa.concat_tables(parts) if parts else file.read(columns=list(names))
            table.validate(full=True)
            door = partial(reading, self.path, ADVICE)
            return ArrowTable(self.title, table.select(list(names)), door, lambda row: f"row {row + 1}")


@reader(".parquet", table=True)
def open_parquet(path: Path) -> ParquetFile:
    """Read what the file says about itself."""
    with arrow().parquet.ParquetFile(path) as file:
        return ParquetFile(path.name, tuple(map(str, file.schema_arrow.names)), path.stat().st_size, path=path)
