"""Everything that tables say about nodes, in one: their own, that of their labels, and their features' list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet.data.own._ends import EdgeTable, names_in
from pcnet.data.own._labels import read_ids
from pcnet.data.own._listed_features import FEATURES, ID, ListedFeatures
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._readers import Tables
from pcnet.data.own._roles import NodeColumns, free_columns, id_column, is_unnamed, node_columns, usual_label
from pcnet.data.own._table import Table, shortened
from pcnet.data.own._words import Bag, Coded, spread_rows
from pcnet.errors import PcnetError
from pcnet.graph import Kind

#: Everything about the nodes in one table, what its columns are, what names them; the label is known where it can be.
Nodes = tuple[Table, NodeColumns, "Identity", ReadOptions]


def read_nodes(tables: Tables, edges: EdgeTable, options: ReadOptions, notes: list[str]) -> Nodes:
    """The nodes that edges join; the options with the label, if a table of labels has only one."""
    features = None
    # A classifier that was trained without the listed features does not need their file.
    known = options.schema is None or FEATURES in (column.name for column in options.schema.columns)
    if tables.features and known and FEATURES not in options.drop:
        features = ListedFeatures(tables.features)
    main = tables.main
    if main is None:
        return _named_by(edges, features, options, notes)
    # Which column of a table of labels holds them shows when its ids are known: all are read.
    wanted = options if tables.nodes else replace(options, schema=None)
    found = identify(main.title, main.names, partial(tables.rows, main), edges, wanted)
    parts, title, others = [], main.title, [name for name in free_columns(main.names, options) if name != found.column]
    if tables.nodes and tables.labels:
        title = f"{main.title} + {tables.labels.title}"
        labels = tables.rows(tables.labels, free_columns(tables.labels.names, options))
        parts.append(part_of(labels, _ids_of_labels(labels, found.column, options), found.places, main.title, notes))
        usual, others = usual_label(others), [*parts[0].columns]
        if usual and options.label is None:
            raise PcnetError(
                f"{main.title} has labels ('{usual}'), and so has {labels.title}; name the column (label)."
            )
    if tables.labels and options.label is None and len(others) == 1:
        options = replace(options, label=others[0])
    if features:
        parts.append(part_of(features, [ID], found.places, main.title, notes))
    names = [*main.names, *(column for part in parts for column in part.columns)]
    columns = node_columns(title, names, options, found.column, found.reason)
    return Joined.of(title, found.table, parts), columns, found, options


def _named_by(edges: EdgeTable, features: ListedFeatures | None, options: ReadOptions, notes: list[str]) -> Nodes:
    """The nodes that edges and listed features name."""
    also = f" and {features.title}" if features else ""
    said = f"There is no table of nodes: they are those that the edges{also} name."
    names, title = names_in(*edges.ends, *([features.coded(ID)] if features else [])), edges.table.title
    found = look_up(Table(title, {ID: names}, len(names.codes)), ID, edges)
    parts = [part_of(features, [ID], found.places, title, notes)] if features else []
    columns = NodeColumns(ID, None, [FEATURES] if features else [], [said])
    return Joined.of(title, found.table, parts), columns, found, options


def _ids_of_labels(labels: Table, identity: str, options: ReadOptions) -> list[str]:
    """Columns that may name the nodes of a table of labels: as in the table of nodes, as usual, or any other."""
    others = [name for name in labels.names if name not in (options.label, usual_label(labels.names))]
    usual, _ = id_column(labels.title, others, replace(options, id=None))
    return [name for name in dict.fromkeys((options.id, identity, usual, *others)) if name in others]


class Identity(NamedTuple):
    """The rows of the nodes and the column that names them, `reason` says why where it is not its own name.

    `ids` are the names, `places` the row of each, `source` and `target` the rows that the edges join.
    """

    table: Table
    column: str
    ids: NDArray
    places: dict[str, int]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    reason: str = ""


def identify(
    title: str, names: Sequence[str], read: Callable[[Sequence[str]], Table], edges: EdgeTable, options: ReadOptions
) -> Identity:
    """Read the table and find its ids: asked for, usually called so, or else different and with every end of an edge.

    The usual column gives way to one that fits where it does not fit itself; where none does, the complaint is its.
    """
    usual, certain = id_column(title, names, options)
    if certain:
        table = read(node_columns(title, names, options, usual).names)
        try:
            return look_up(table, usual, edges)
        except PcnetError:
            if options.id is not None:
                raise
    table = read([name for name in names if name not in options.drop and names.count(name) == 1])
    fitting = _fitting(table, edges.ends, options)
    if not fitting or usual in fitting:
        return look_up(table, usual, edges)
    contrast = f", '{usual}' has not" if certain else ""
    return look_up(table, fitting[0], edges, f" (it has every end of the edges{contrast})")


def look_up(table: Table, column: str, edges: EdgeTable, reason: str = "") -> Identity:
    """The nodes as a column names them; what is missing or there twice is refused."""
    ids, places = read_ids(table, column)
    return Identity(table, column, ids, places, *edges.among(places, table.title), reason)


def _fitting(table: Table, ends: Sequence[Coded], options: ReadOptions) -> list[str]:
    """The columns, all alike, with a name of its own in every row and every end of an edge among them."""
    fitting = []
    for name in table.names:
        words = words_of(table, name)
        if name != options.label and len(words) == table.rows:
            fitting += [name] if all(map(set(words).issuperset, (end.words for end in ends))) else []
    # The index of a data frame is there unasked.
    fitting = [name for name in fitting if not is_unnamed(name)] or fitting
    different = [name for name in fitting if words_of(table, name) != words_of(table, fitting[0])]
    if different:
        raise PcnetError(
            f"{table.title} has two columns with every end of the edges, '{fitting[0]}' and '{different[0]}'; "
            "say which names the nodes (id)."
        )
    return fitting


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

    @staticmethod
    def of(title: str, table: Table, parts: Sequence[Part]) -> Table:
        """The table with the columns of other parts."""
        return Joined(title, [Part(table, table.names, np.arange(table.rows)), *parts]) if parts else table

    def coded(self, column: str) -> Coded:
        table, _, rows = self._parts[column]
        return table.coded(column).of_rows(rows)

    def kind(self, column: str) -> Kind | None:
        return self._parts[column].table.kind(column)

    def numbers(self, column: str) -> NDArray[np.float64]:
        table, _, rows = self._parts[column]
        return np.append(table.numbers(column), np.nan)[rows]

    def _read_lists(self, column: str) -> scipy.sparse.csr_matrix:
        table, _, rows = self._parts[column]
        return spread_rows(rows, table.lists(column))

    def bag(self, column: str) -> Bag:
        table, _, rows = self._parts[column]
        return table.bag(column).of_rows(rows)

    def where(self, row: int, column: str) -> str:
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
