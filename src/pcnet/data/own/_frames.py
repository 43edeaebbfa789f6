"""Data frames: pandas, polars, pyarrow and whatever else hands out its columns through Arrow."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pcnet.data.own._arrow import ArrowTable, arrow
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError


@dataclass(frozen=True)
class Frame:
    """A table in memory; rows are counted from 0, as they are there."""

    title: str
    table: Any
    size: int = 0
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @staticmethod
    def of(value: Any, role: str) -> Frame:
        """The columns of a data frame that holds `role` (edges or nodes); for pandas with its index as a column."""
        pa, title = arrow(), f"{role} ({type(value).__name__})"
        with _converting(title), warnings.catch_warnings():
            # Columns that are called by numbers are called by words from here on; old protocols are welcome.
            warnings.simplefilter("ignore")
            if is_a(value, "pandas", "DataFrame"):
                return Frame(title, pa.Table.from_pandas(value, preserve_index=True))
            if hasattr(value, "__arrow_c_stream__"):
                return Frame(title, pa.table(value))
            from pyarrow.interchange import from_dataframe

            return Frame(title, from_dataframe(value))

    def read(self, names: Sequence[str], tell: Callable[[float], None]) -> Table:
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
