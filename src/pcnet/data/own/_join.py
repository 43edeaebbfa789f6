"""Tables about the same nodes side by side, joined by what names the nodes in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet.data.own._bag import Bag, spread_rows
from pcnet.data.own._coded import Coded
from pcnet.data.own._labels import read_ids
from pcnet.data.own._table import Table, shortened
from pcnet.errors import PcnetError
from pcnet.graph import Kind


class Part(NamedTuple):
    """Columns of a table and its row for each node, −1 where it has none."""

    table: Table
    columns: Sequence[str]
    rows: NDArray[np.int64]


class Joined(Table):
    """The columns of all parts; a complaint about a cell names the table where it stands."""

    def __init__(self, title: str, parts: Sequence[Part]) -> None:
        super().__init__(title, {}, len(parts[0].rows))
        self._parts: dict[str, Part] = {}
        for part in parts:
            for column in part.columns:
                if column in self._parts:
                    both = f"{self._parts[column].table.title} and {part.table.title}"
                    raise PcnetError(f"{both} both have a column '{column}'; rename one, or leave it out (drop).")
                self._parts[column] = part
        self.names = tuple(self._parts)

    def coded(self, column: str) -> Coded:
        """The column as words."""
        table, _, rows = self._parts[column]
        return table.coded(column).of_rows(rows)

    def kind(self, column: str) -> Kind | None:
        """What the column looks like in its own table."""
        return self._parts[column].table.kind(column)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """The column as finite numbers, NaN where a cell is empty."""
        table, _, rows = self._parts[column]
        return np.append(table.numbers(column), np.nan)[rows]

    def _read_lists(self, column: str) -> scipy.sparse.csr_matrix:
        table, _, rows = self._parts[column]
        return spread_rows(rows, table.lists(column))

    def bag(self, column: str) -> Bag:
        """The column as words and how often each occurs."""
        table, _, rows = self._parts[column]
        return table.bag(column).of_rows(rows)

    def where(self, row: int, column: str) -> str:
        """The place of a cell in its own table."""
        table, _, rows = self._parts[column]
        return table.where(int(rows[row]), column)


def part_of(table: Table, columns: Sequence[str], nodes: Mapping[str, int], title: str, notes: list[str]) -> Part:
    """The rows of a table for the nodes of the table `title`, by whichever of the columns names most of them.

    Of equals the first wins. Rows of no node are ignored and said, and so is how many nodes have no row.
    """
    known = {name: np.array([nodes.get(word, -1) for word in words_of(table, name)], dtype=int) for name in columns}
    identity = max(columns, key=lambda name: np.count_nonzero(known[name] >= 0))
    there = known[identity] >= 0
    if not there.any():
        raise PcnetError(
            f"No id in the column '{identity}' of {table.title} is one of {title}; correct one of them, or call the "
            "file something else."
        )
    read_ids(table, identity)
    rows = np.full(len(nodes), -1)
    rows[known[identity][there]] = np.flatnonzero(there)
    if not there.all():
        first = shortened(table.coded(identity).words[int(np.argmin(there))])
        notes.append(f"{table.title}: {(~there).sum():,} of {len(there):,} ids are no nodes, first {first}; ignored.")
    if (rows < 0).any():
        notes.append(f"{table.title}: {(rows < 0).sum():,} of {len(rows):,} nodes are not in it.")
    return Part(table, [name for name in table.names if name != identity], rows)


def words_of(table: Table, column: str) -> list[str]:
    """The different words of a column that may name nodes; lists and types without words name nothing."""
    try:
        return [] if table.kind(column) == "vector" else table.coded(column).words
    except PcnetError:
        return []
