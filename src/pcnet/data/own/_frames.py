"""Typed columns: data frames of pandas, polars, pyarrow and whatever else hands out its columns through Arrow.

Arrow is an extra, imported where a table needs it.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet._progress import Progress
from pcnet.data.own._table import LARGEST, Source, Table, kind_of_words
from pcnet.data.own._words import Coded
from pcnet.errors import PcnetError
from pcnet.graph import Kind

#: Turns what goes wrong inside it into a sentence about the table.
Door = Callable[[], AbstractContextManager[None]]


def arrow() -> ModuleType:
    """PyArrow with its Parquet and its functions on columns."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        advice = "pip install 'pcnet[io]', or use CSV files"
        raise PcnetError(f"Parquet files and data frames need pyarrow: {advice}.") from None
    return pyarrow


class ArrowTable(Table):
    """A table of typed columns; what Arrow cannot do with one is said by `door`."""

    def __init__(self, title: str, table: Any, door: Door, locate: Callable[[int], str]) -> None:
        super().__init__(title, {}, table.num_rows, locate)
        self.names, self._door = tuple(table.column_names), door
        self._arrow = dict(zip(self.names, table.columns, strict=True))
        self._coded: dict[str, Coded] = {}

    def coded(self, column: str) -> Coded:
        """Numbers as one writes them, lists as JSON."""
        if column not in self._coded:
            with self._door():
                self._coded[column] = _coded(self._arrow[column])
        return self._coded[column]

    def kind(self, column: str) -> Kind | None:
        """What the type says, and for text what its words look like."""
        types, kind = arrow().types, self._arrow[column].type
        if types.is_boolean(kind):
            return "boolean"
        if _is_number(kind):
            return "number"
        if _is_list(kind):
            return "vector" if _is_number(kind.value_type) else "bag" if _is_text(kind.value_type) else None
        if types.is_dictionary(kind) or _is_text(kind):
            return kind_of_words(self.coded(column))
        return None

    def numbers(self, column: str) -> NDArray[np.float64]:
        cells = self._arrow[column]
        if not _is_number(cells.type):
            return super().numbers(column)
        with self._door():
            values = cells.cast("float64", safe=False).to_numpy().astype(np.float64)
            empty = cells.is_null().to_numpy()
        self._check_cells(column, values, np.arange(self.rows), ~empty)
        return values

    def _read_lists(self, column: str) -> scipy.sparse.csr_matrix:
        pa, cells = arrow(), self._arrow[column]
        if not (_is_list(cells.type) and _is_number(cells.type.value_type)):
            return super()._read_lists(column)
        with self._door():
            lengths = pa.compute.list_value_length(cells).fill_null(-1).to_numpy()
            values = pa.compute.list_flatten(cells).cast("float64", safe=False).to_numpy()
        rows = np.flatnonzero(lengths >= 0)
        width = int(lengths[rows[0]]) if len(rows) else 0
        wrong = rows[lengths[rows] != width]
        if len(wrong):
            self.refuse(int(wrong[0]), column, f"there are {lengths[wrong[0]]} numbers instead of {width}")
        self._check_cells(column, values, np.repeat(rows, width), np.ones(len(values), dtype=bool))
        filled = scipy.sparse.csr_matrix(values.astype(np.float32).reshape(len(rows), width))
        start = np.zeros(self.rows + 1, dtype=np.int64)
        start[rows + 1] = np.diff(filled.indptr)
        parts = (filled.data, filled.indices, np.cumsum(start))
        return scipy.sparse.csr_matrix(parts, shape=(self.rows, width))

    def _check_cells(self, column: str, values: NDArray, rows: NDArray, there: NDArray[np.bool_]) -> None:
        bad = np.flatnonzero(there & ~(np.abs(values) <= LARGEST))
        if len(bad):
            complaint = f"{values[bad[0]]:g} is not a finite number; correct it or leave the column out (drop)"
            self.refuse(int(rows[bad[0]]), column, complaint)


def _coded(cells: Any) -> Coded:
    pa, kind = arrow(), cells.type
    if _is_list(kind):
        return Coded.of("" if items is None else json.dumps(items) for items in cells.to_pylist())
    if pa.types.is_dictionary(kind):
        # Polars' text is of a type that Arrow takes out of no dictionary yet.
        kind = pa.large_string() if _is_text(kind.value_type) else kind.value_type
        chunks = ((chunk.indices, chunk.dictionary.cast(kind)) for chunk in cells.chunks)
        cells = pa.chunked_array([pa.DictionaryArray.from_arrays(*chunk).cast(kind) for chunk in chunks])
    encoded = cells.dictionary_encode().combine_chunks()
    words = ["" if word is None else word for word in encoded.dictionary.cast("string").to_pylist()]
    if pa.types.is_boolean(kind):
        # As Python and pandas write them into a CSV file.
        words = [word.capitalize() for word in words]
    codes = encoded.indices.fill_null(-1).to_numpy()
    if "" in words:
        nothing = words.index("")
        del words[nothing]
        codes = np.where(codes == nothing, -1, codes - (codes > nothing))
    return Coded(words, codes.astype(np.int32, copy=False), text=_is_text(kind))


def _is_number(kind: Any) -> bool:
    types = arrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_list(kind: Any) -> bool:
    types = arrow().types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


@dataclass(frozen=True, kw_only=True)
class Frame(Source):
    """A table in memory; rows are counted from 0, as they are there."""

    table: Any

    @staticmethod
    def of(value: Any, title: str) -> Frame:
        """The columns of a data frame; for pandas with its index as a column."""
        pa = arrow()
        with _converting(title), warnings.catch_warnings():
            # Columns that are called by numbers are called by words from here on; old protocols are welcome.
            warnings.simplefilter("ignore")
            if is_a(value, "pandas", "DataFrame"):
                table = pa.Table.from_pandas(value, preserve_index=True)
            elif hasattr(value, "__arrow_c_stream__"):
                table = pa.table(value)
            else:
                from pyarrow.interchange import from_dataframe

                table = from_dataframe(value)
        return Frame(title, tuple(table.column_names), table=table)

    def read(self, names: Sequence[str], progress: Progress) -> Table:
        """The named columns."""
        return ArrowTable(self.title, self.table.select(list(names)), partial(_converting, self.title), "row {}".format)


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
