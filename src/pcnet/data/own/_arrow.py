"""Typed columns: Parquet files, and data frames of pandas, polars, pyarrow and whatever else speaks Arrow."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet._files import arrow
from pcnet._progress import Progress
from pcnet.data.own._cells import LARGEST, Cells, Coded, Table, spread_rows
from pcnet.data.own._readers import ADVICE, Source, check_unpacked, reader, reading
from pcnet.errors import PcnetError
from pcnet.graph import Kind

#: Turns what goes wrong inside it into a sentence about the table.
Door = Callable[[], AbstractContextManager[None]]
#: How columns are read whose type says it.
_KINDS: dict[str, Kind] = {"boolean": "boolean", "number": "number", "list of number": "vector", "list of text": "bag"}


class ArrowCells(Cells):
    """A typed column; what Arrow cannot do with it is said by `door`."""

    def __init__(self, title: str, name: str, where: Callable[[int], str], arrays: Any, door: Door) -> None:
        super().__init__(title, name, where, lambda: _coded(arrays, door))
        self._arrays, self._family, self._door = arrays, _family(arrays.type), door

    @cached_property
    def kind(self) -> Kind | None:
        """What the type says, and for text what its words look like."""
        return super().kind if self._family in ("dictionary", "text") else _KINDS.get(self._family)

    def numbers(self) -> NDArray[np.float64]:
        if self._family != "number":
            return super().numbers()
        with self._door():
            values = self._arrays.cast("float64", safe=False).to_numpy().astype(np.float64)
            rows = np.flatnonzero(self._arrays.is_valid().to_numpy())
        self._check_finite(values[rows], rows)
        return values

    @cached_property
    def lists(self) -> scipy.sparse.csr_matrix:
        if self._family != "list of number":
            return super().lists
        compute = arrow().compute
        with self._door():
            lengths = compute.list_value_length(self._arrays).fill_null(-1).to_numpy()
            values = compute.list_flatten(self._arrays).cast("float64", safe=False).to_numpy()
        rows = np.flatnonzero(lengths >= 0)
        width = int(lengths[rows[0]]) if len(rows) else 0
        wrong = rows[lengths[rows] != width]
        if len(wrong):
            self.refuse(int(wrong[0]), f"there are {lengths[wrong[0]]} numbers instead of {width}")
        self._check_finite(values, np.repeat(rows, width))
        codes = np.full(len(lengths), -1)
        codes[rows] = np.arange(len(rows))
        return spread_rows(codes, scipy.sparse.csr_matrix(values.astype(np.float32).reshape(len(rows), width)))

    def _check_finite(self, values: NDArray, rows: NDArray) -> None:
        bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
        if len(bad):
            complaint = f"{values[bad[0]]:g} is not a finite number; correct it or leave the column out (drop)"
            self.refuse(int(rows[bad[0]]), complaint)


def _coded(cells: Any, door: Door) -> Coded:
    """Numbers as one writes them, lists as JSON."""
    pa, kind = arrow(), cells.type
    with door():
        if _family(kind).startswith("list"):
            return Coded.of("" if items is None else json.dumps(items) for items in cells.to_pylist())
        if _family(kind) == "dictionary":
            # Polars' text is of a type that Arrow takes out of no dictionary yet.
            kind = pa.large_string() if _family(kind.value_type) == "text" else kind.value_type
            chunks = ((chunk.indices, chunk.dictionary.cast(kind)) for chunk in cells.chunks)
            cells = pa.chunked_array([pa.DictionaryArray.from_arrays(*chunk).cast(kind) for chunk in chunks])
        encoded = cells.dictionary_encode().combine_chunks()
        words = ["" if word is None else word for word in encoded.dictionary.cast("string").to_pylist()]
        if _family(kind) == "boolean":
            # As Python and pandas write them into a CSV file.
            words = [word.capitalize() for word in words]
        codes = encoded.indices.fill_null(-1).to_numpy()
        if "" in words:
            nothing = words.index("")
            del words[nothing]
            codes = np.where(codes == nothing, -1, codes - (codes > nothing))
    return Coded(words, codes.astype(np.int32, copy=False), text=_family(kind) == "text")


def _family(kind: Any) -> str:
    """What a type of Arrow is to a column: boolean, number, text, dictionary, a list of one of these, or other."""
    types = arrow().types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"list of {_family(kind.value_type)}"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if str(kind) in ("string", "large_string", "string_view"):
        return "text"
    return "boolean" if types.is_boolean(kind) else "dictionary" if types.is_dictionary(kind) else "other"


def _table(title: str, table: Any, names: Sequence[str], door: Door, locate: Callable[[int], str]) -> Table:
    def cells(name: str) -> Cells:
        return ArrowCells(title, name, lambda row: f"{title}, {locate(row)}, column '{name}'", table[name], door)

    return Table(title, {name: cells(name) for name in names}, table.num_rows)


@reader(".parquet", table=True)
def open_parquet(path: Path) -> Source:
    """Read what the file says about itself; later its row groups, one by one."""
    pa, door = arrow(), partial(reading, path, ADVICE)
    with pa.parquet.ParquetFile(path) as file:
        names, about = tuple(map(str, file.schema_arrow.names)), file.metadata
        # A row of equal values takes next to nothing in the file, and a word of memory each when it is read.
        stated = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
        check_unpacked(path, max(stated, 8 * about.num_rows * about.num_columns))

    def read(names: Sequence[str], progress: Progress) -> Table:
        with door(), pa.parquet.ParquetFile(path) as file:
            progress.stage(f"reading {path.name}", file.num_row_groups)
            parts = []
            for group in range(file.num_row_groups):
                parts.append(file.read_row_group(group, columns=list(names)))
                progress.advance()
            table = pa.concat_tables(parts) if parts else file.read(columns=list(names))
            table.validate(full=True)
            return _table(path.name, table, names, door, lambda row: f"row {row + 1}")

    return Source(path.name, names, read, path.stat().st_size)


def frame_source(value: Any, title: str) -> Source:
    """The columns of a data frame, for pandas with its index; rows are counted from 0, as they are there."""
    pa, door = arrow(), partial(_converting, title)
    with door(), warnings.catch_warnings():
        # Columns that are called by numbers are called by words from here on; old protocols are welcome.
        warnings.simplefilter("ignore")
        if is_a(value, "pandas", "DataFrame"):
            table = pa.Table.from_pandas(value, preserve_index=True)
        elif hasattr(value, "__arrow_c_stream__"):
            table = pa.table(value)
        else:
            from pyarrow.interchange import from_dataframe

            table = from_dataframe(value)
    return Source(
        title, tuple(table.column_names), lambda names, progress: _table(title, table, names, door, "row {}".format)
    )


def is_frame(value: Any) -> bool:
    """Whether the value speaks Arrow's PyCapsule protocol or the interchange protocol of data frames."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")


def is_a(value: Any, module: str, name: str) -> bool:
    """Whether the value is of a class of a library that need not be there."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


@contextmanager
def _converting(title: str) -> Iterator[None]:
    """Whatever Arrow cannot take over becomes a sentence."""
    try:
        yield
    except PcnetError:
        raise
    except Exception as error:
        # A column that mixes types, a series instead of a frame, a type that Arrow does not know.
        reason = " ".join(map(str, error.args)).split()
        raise PcnetError(
            f"{title} cannot be read through Arrow ({type(error).__name__}: {' '.join(reason)}); give a data frame "
            "with one type in each column."
        ) from error
