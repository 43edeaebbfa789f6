"""CSV and TSV in one streaming pass: only different words are kept, and every complaint names its line."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from pcnet._progress import Progress
from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._cells import Coded, Table, numbering
from pcnet.data.own._readers import Source, reader
from pcnet.errors import PcnetError

_LONGEST_CELL = 2**31 - 1
#: Rows in a batch: many enough to be quick, few enough to stay in the processor's cache.
_ROWS_AT_ONCE = 256
_MEBIBYTE = 2**20


class CsvFile(NamedTuple):
    """A text table, what stands between its columns, and what its header calls them."""

    path: Path
    delimiter: str
    names: tuple[str, ...] = ()

    def read(self, names: Sequence[str], progress: Progress) -> Table:
        """The named columns."""
        places = [self.names.index(name) for name in names]
        seen = [numbering("") for _ in names]
        codes = [array("i") for _ in names]
        rows = done = 0
        with reading(self.path, ADVICE), _long_cells(), self.path.open("rb") as stream:
            progress.stage(f"reading {self.path.name}", self.path.stat().st_size // _MEBIBYTE)
            records = self.rows(stream)
            next(records)
            while batch := list(islice(records, _ROWS_AT_ONCE)):
                if set(map(len, batch)) != {len(self.names)}:
                    self._refuse_length(batch, rows)
                for place, words, numbers in zip(places, seen, codes, strict=True):
                    numbers.extend(map(words.__getitem__, map(str.strip, map(itemgetter(place), batch))))
                rows += len(batch)
                before, done = done, stream.tell() // _MEBIBYTE
                if done > before:
                    progress.advance(done - before)
        parts = zip(names, seen, codes, strict=True)
        columns = {name: Coded(list(words)[1:], np.array(numbers, np.int32)) for name, words, numbers in parts}
        return Table.of_words(self.path.name, columns, rows, lambda row: f"line {self.line(row)}")

    def line(self, row: int) -> int:
        """The line on which a row ends; the file is read again, which only a complaint needs."""
        with _long_cells(), self.path.open("rb") as stream:
            reader = self._reader(stream)
            return next(islice((reader.line_num for cells in reader if cells), row + 1, None))

    def rows(self, stream: BinaryIO) -> Iterator[list[str]]:
        """The header and all rows; empty lines are none."""
        reader = self._reader(stream)
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            raise PcnetError(f"{self.path.name}, line {reader.line_num}: {error}.") from None

    def _reader(self, stream: BinaryIO) -> Any:
        return csv.reader(_lines(self.path, stream), delimiter=self.delimiter, strict=True)

    def _refuse_length(self, batch: list[list[str]], before: int) -> NoReturn:
        wrong = next(place for place, cells in enumerate(batch) if len(cells) != len(self.names))
        raise PcnetError(
            f"{self.path.name}, line {self.line(before + wrong)}: there are {len(batch[wrong])} cells, "
            f"but the header names {len(self.names)} columns."
        )


@reader(".csv", ".tsv", table=True)
def open_csv(path: Path) -> Source:
    """Read the header. A `.tsv` has tabs; else whichever of comma and semicolon the header has more of."""
    with _long_cells(), path.open("rb") as stream:
        first = next((line for line in _lines(path, stream) if line.strip()), None)
        if first is None:
            raise PcnetError(f"{path} is empty; its first line must name the columns.")
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;", key=first.count)
        notes = (f"{path.name}: columns are separated by semicolons.",) if delimiter == ";" else ()
        stream.seek(0)
        names = tuple(name.strip() for name in next(CsvFile(path, delimiter).rows(stream)))
        return Source(path.name, names, CsvFile(path, delimiter, names).read, path.stat().st_size, notes)


def _lines(path: Path, stream: BinaryIO) -> Iterator[str]:
    """The lines of a UTF-8 file, with or without a byte order mark."""
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise PcnetError(
                f"{path.name}, line {number}: this is not UTF-8; save the file with that encoding."
            ) from None
        if "\0" in text:
            raise PcnetError(f"{path.name}, line {number}: there is a zero byte; this is no text table.")
        yield text.removeprefix("\ufeff") if number == 1 else text


@contextmanager
def _long_cells() -> Iterator[None]:
    """Cells of any length (a list of numbers is one) while the block runs."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
