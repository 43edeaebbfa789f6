"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pcnet.data._reading import reading
from pcnet.data.own._arrow import ArrowTable, arrow
from pcnet.data.own._csv import ADVICE
from pcnet.data.own._table import Table


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file: the names of its columns."""

    path: Path
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return self.path.stat().st_size

    @staticmethod
    def open(path: Path) -> ParquetFile:
        """Read what the file says about itself."""
        parquet = arrow().parquet
        with reading(path, ADVICE), parquet.ParquetFile(path) as file:
            return ParquetFile(path, tuple(map(str, file.schema_arrow.names)))

    def read(self, names: Sequence[str], tell: Callable[[float], None]) -> Table:
        """The named columns; `tell` hears which share of the file was read."""
        pa = arrow()
        with reading(self.path, ADVICE), pa.parquet.ParquetFile(self.path) as file:
            parts = []
            for group in range(file.num_row_groups):
                parts.append(file.read_row_group(group, columns=list(names)))
                tell((group + 1) / file.num_row_groups)
            table = pa.concat_tables(parts) if parts else file.read(columns=list(names))
            table.validate(full=True)
            door = partial(reading, self.path, ADVICE)
            return ArrowTable(self.title, table.select(list(names)), door, lambda row: f"row {row + 1}")
