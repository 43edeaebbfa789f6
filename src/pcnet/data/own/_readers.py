"""What opens files: one function a format, registered by suffix (here CSV); what goes wrong becomes a sentence."""

from __future__ import annotations

import csv
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pcnet._checks import Registry
from pcnet._progress import Progress, Silent
from pcnet.data.own._cells import Bag, Cells, Coded, Table, numbering, shortened
from pcnet.data.own._columns import is_unnamed
from pcnet.errors import PcnetError
from pcnet.graph import Kind

Open = Callable[[Path], Any]
#: Smaller files are read before a progress bar could be seen.
_LARGE = 16 * 2**20
#: What to do about a damaged file: one that was downloaded, and one of the user's own.
FETCH, ADVICE = "delete it and fetch it again", "write it again"
_LONGEST_CELL = 2**31 - 1
#: Rows in a batch: many enough to be quick, few enough to stay in the processor's cache.
_ROWS_AT_ONCE = 256
_MEBIBYTE = 2**20
#: The columns: a node and its features, whatever the file is called.
ID, FEATURES = "id", "features"
#: In memory JSON is some ten times as large.
_LARGEST = 2**29
#: Compressed files may unpack to this many bytes, and to this many times their size.
_UNPACKED, _RATIO = 2**30, 100


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
        what, others = ("table", ()) if table else ("graph", READERS)
        suffixes = dict.fromkeys((*table_suffixes(), *others))
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

    def __post_init__(self) -> None:
        for name, count in Counter(self.names).items():
            if count > 1 and not is_unnamed(name):
                raise PcnetError(f"{self.title} has two columns '{name}'; give each its own name.")
            if len(name.splitlines()) > 1:
                raise PcnetError(f"{self.title} has a column {shortened(name)}, a name of several lines; rename it.")


@dataclass(frozen=True)
class Tables:
    """Edges, and about the nodes a table, one of labels and a file that lists features, each where there is one."""

    edges: Source
    nodes: Source | None = None
    labels: Source | None = None
    features: Path | None = None
    progress: Progress | None = None
    notes: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Source]:
        return [source for source in (self.edges, self.nodes, self.labels) if source is not None]

    def rows(self, source: Source, names: Sequence[str]) -> Table:
        """The named columns of one of the tables."""
        table = source.read(names, (self.progress if source.size >= _LARGE else None) or Silent())
        if not table.rows:
            raise PcnetError(f"{source.title} names its columns but has no rows.")
        return table


@contextmanager
def reading(path: Path, advice: str = FETCH) -> Iterator[None]:
    """Turn whatever a reader raises on a missing or damaged `path` into a `PcnetError` that ends with `advice`.

    Every `Exception` is caught, because a truncated pickle, archive or MATLAB file fails in whatever routine
    happens to meet the damage first.
    """
    try:
        yield
    except PcnetError:
        raise
    except OSError as error:
        # zipfile and gzip report damage as an OSError without an errno; a real I/O failure has one.
        if error.errno is None:
            raise damaged(path, str(error), advice) from error
        raise PcnetError(f"Cannot read {path}: {error.strerror}.") from error
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}", advice) from error


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a small file that would take a huge memory, before it does."""
    if size > max(_UNPACKED, _RATIO * path.stat().st_size):
        raise PcnetError(
            f"{path} would unpack to {size / 2**30:,.1f} GiB, more than {_RATIO} times its size; write it without "
            "compression."
        )


def damaged(path: Path, reason: str, advice: str = FETCH) -> PcnetError:
    """The error for a file that is there but cannot be what it should be."""
    # What a library says may have several lines.
    return PcnetError(f"{path} is damaged or not the expected file ({' '.join(reason.split())}); {advice}.")


class CsvFile(NamedTuple):
    """A text table, what stands between its columns, and what its header calls them."""

    path: Path
    delimiter: str
    names: tuple[str, ...] = ()

    def read(self, names: Sequence[str], progress: Progress) -> Table:
        """The named columns."""
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [place_of[name] for name in names]
        seen = [numbering("") for _ in names]
        codes = [array("i") for _ in names]
        rows = done = 0
        with reading(self.path, ADVICE), _long_cells(), self.path.open("rb") as stream:
            progress.stage(f"reading {self.path.name}", self.path.stat().st_size // _MEBIBYTE)
            records = self.rows(stream)
            next(records)
            while batch := list(islice(records, _ROWS_AT_ONCE)):
                if set(map(len, batch)) != {len(self.names)}:
                    wrong = next(place for place, cells in enumerate(batch) if len(cells) != len(self.names))
                    raise PcnetError(
                        f"{self.path.name}, line {self.line(rows + wrong)}: there are {len(batch[wrong])} cells, "
                        f"but the header names {len(self.names)} columns."
                    )
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


class _ListCells(Cells):
    """Lists of features, which are a bag and nothing else; a feature counts once."""

    def __init__(self, title: str, where: Callable[[int], str], lists: list[Any]) -> None:
        super().__init__(title, FEATURES, where, self._no_words)
        for row, items in enumerate(lists):
            if type(items) is not list:
                self.refuse(row, f"{shortened(str(items))} is no list of features")
            if not set(map(type, items)) <= {int, str}:
                wrong = next(item for item in items if type(item) not in (int, str))
                self.refuse(row, f"{shortened(str(wrong))} is no feature, which is a whole number or a word")
        if len(set(map(len, lists))) == 1 and len(lists[0]) > 2 and set(chain.from_iterable(lists)) <= {0, 1}:
            raise PcnetError(
                f"{self.title} has as many zeros and ones for every node, not the features that it has; "
                "put such lists into a column of the table of nodes."
            )
        self._lists = lists

    @cached_property
    def kind(self) -> Kind | None:
        return "bag"

    @cached_property
    def bag(self) -> Bag:
        features = (list(dict.fromkeys(str(item).lower() for item in items)) for items in self._lists)
        return Bag.of(features, np.arange(len(self._lists)))

    def _no_words(self) -> Coded:
        raise PcnetError(f"{self.title} can only be read as a bag; leave out the kind of '{self.name}'.")


def read_listed_features(path: Path) -> Table:
    """An object of ids and lists, or a list of lists whose places are the ids."""
    with reading(path, ADVICE):
        if path.stat().st_size > _LARGEST:
            raise PcnetError(f"{path} is larger than {_LARGEST / 2**20:,.0f} MiB; make it a column of nodes.parquet.")
        # With keys that are there twice; a tuple is an object, for a list stays one.
        content = json.loads(path.read_bytes(), object_pairs_hook=tuple)
    if isinstance(content, list):
        content = [(str(place), items) for place, items in enumerate(content)]
    if not isinstance(content, (list, tuple)):
        raise PcnetError(
            f'{path} must hold an object, as in {{"17": [3, 8]}}, that lists the features of each id; write it again.'
        )
    if not content:
        raise PcnetError(f"{path} lists no features; fill or remove it.")
    keys, lists = zip(*content, strict=True)

    def where(row: int) -> str:
        return f"{path.name}, key {shortened(keys[row])}"

    ids = Cells(path.name, ID, where, lambda: Coded.of(map(str.strip, keys)))
    return Table(path.name, {ID: ids, FEATURES: _ListCells(path.name, where, list(lists))}, len(keys))
