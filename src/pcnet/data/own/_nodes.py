"""Everything that tables say about nodes, in one: their own, that of their labels, and their features' list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet.data.own._cells import Bag, Cells, Coded, Table, shortened, spread_rows
from pcnet.data.own._folder import Tables
from pcnet.data.own._labels import read_ids
from pcnet.data.own._listed_features import FEATURES, ID, read_listed_features
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._readers import Source
from pcnet.data.own._roles import NodeColumns, free_columns, id_column, is_unnamed, node_columns, usual_label
from pcnet.errors import PcnetError
from pcnet.graph import Kind


class Nodes(NamedTuple):
    """A row for each node; `ids` are their names, `places` the row of each, and edge e joins the rows `ends[:, e]`."""

    table: Table
    ids: NDArray
    places: dict[str, int]
    ends: NDArray[np.int64]


class _TakenCells(Cells):
    """Cells of another column in another order: its row `rows[r]` for every r, nothing at −1."""

    def __init__(self, whole: Cells, rows: NDArray[np.int64]) -> None:
        super().__init__(
            whole.title, whole.name, lambda row: whole.where(int(rows[row])), lambda: whole.coded.of_rows(rows)
        )
        self._whole, self._rows = whole, rows

    @cached_property
    def kind(self) -> Kind | None:
        return self._whole.kind

    def numbers(self) -> NDArray[np.float64]:
        return np.append(self._whole.numbers(), np.nan)[self._rows]

    @cached_property
    def lists(self) -> scipy.sparse.csr_matrix:
        return spread_rows(self._rows, self._whole.lists)

    @cached_property
    def bag(self) -> Bag:
        return replace(self._whole.bag, codes=np.append(self._whole.bag.codes, -1)[self._rows])


def read_nodes(
    tables: Tables, ends: Sequence[Cells], options: ReadOptions, notes: list[str]
) -> tuple[Nodes, NodeColumns, ReadOptions]:
    """The nodes that edges join; the options with the label, if a table of labels has only one."""
    features = None
    # A classifier that was trained without the listed features does not need their file.
    known = options.schema is None or FEATURES in (column.name for column in options.schema.columns)
    if tables.features and known and FEATURES not in options.drop:
        features = read_listed_features(tables.features)
    main = tables.nodes or tables.labels
    if main is None:
        nodes = _named_by(ends, features)
        also = f" and {features.title}" if features else ""
        said = f"There is no table of nodes: they are those that the edges{also} name."
        columns = NodeColumns(ID, None, [FEATURES] if features else [], [said])
        parts = [_part(features, [ID], nodes, notes)] if features else []
        return _joined(nodes, nodes.table.title, parts), columns, options
    # Which column of a table of labels holds them shows when its ids are known: all are read.
    wanted = options if tables.nodes else replace(options, schema=None)
    nodes, identity, reason = _identified(main, tables, ends, wanted)
    parts, title, others = [], main.title, [name for name in free_columns(main.names, options) if name != identity]
    if tables.nodes and tables.labels:
        title = f"{main.title} + {tables.labels.title}"
        labels = tables.rows(tables.labels, free_columns(tables.labels.names, options))
        parts.append(_part(labels, _ids_of_labels(labels, identity, options), nodes, notes))
        usual, others = usual_label(others), [*parts[0]]
        if usual and options.label is None:
            raise PcnetError(
                f"{main.title} has labels ('{usual}'), and so has {labels.title}; name the column (label)."
            )
    if tables.labels and options.label is None and len(others) == 1:
        options = replace(options, label=others[0])
    if features:
        parts.append(_part(features, [ID], nodes, notes))
    names = [*main.names, *(name for part in parts for name in part)]
    return _joined(nodes, title, parts), node_columns(title, names, options, identity, reason), options


def _named_by(ends: Sequence[Cells], features: Table | None) -> Nodes:
    """The nodes that edges and listed features name: whole numbers in their order, else words in theirs."""
    coded = [cells.coded for cells in (*ends, *([features.columns[ID]] if features else []))]
    words = {word for column in coded for word in column.words}
    ordered = Coded.of(words, text=any(column.text for column in coded)).sorted
    names = Coded.of(map(str, ordered.tolist()), text=ordered.dtype.kind == "U")
    return _look_up(Table.of_words(ends[0].title, {ID: names}, len(names.codes), "row {}".format), ID, ends)


def _ids_of_labels(labels: Table, identity: str, options: ReadOptions) -> list[str]:
    """Columns that may name the nodes of a table of labels: as in the table of nodes, as usual, or any other."""
    names = [*labels.columns]
    others = [name for name in names if name not in (options.label, usual_label(names))]
    usual, _ = id_column(labels.title, others, replace(options, id=None))
    return [name for name in dict.fromkeys((options.id, identity, usual, *others)) if name in others]


def _identified(source: Source, tables: Tables, ends: Sequence[Cells], options: ReadOptions) -> tuple[Nodes, str, str]:
    """Read the table and find its ids: asked for, usually called so, or else different and with every end of an edge.

    The usual column gives way to one that fits where it does not fit itself; where none does, the complaint is its.
    Besides the nodes their column, and why it is that one where its name does not say so.
    """
    title, names = source.title, source.names
    usual, certain = id_column(title, names, options)
    if certain:
        table = tables.rows(source, node_columns(title, names, options, usual).names)
        try:
            return _look_up(table, usual, ends), usual, ""
        except PcnetError:
            if options.id is not None:
                raise
    table = tables.rows(source, [name for name in names if name not in options.drop and names.count(name) == 1])
    fitting = _fitting(table, ends, options)
    if not fitting or usual in fitting:
        return _look_up(table, usual, ends), usual, ""
    contrast = f", '{usual}' has not" if certain else ""
    return _look_up(table, fitting[0], ends), fitting[0], f" (it has every end of the edges{contrast})"


def _look_up(table: Table, column: str, ends: Sequence[Cells]) -> Nodes:
    """The nodes as a column names them; what is missing or there twice is refused."""
    ids, places = read_ids(table.columns[column])
    return Nodes(table, ids, places, _ends_among(ends, places, table.title))


def _ends_among(ends: Sequence[Cells], nodes: Mapping[str, int], title: str) -> NDArray[np.int64]:
    """Both ends of every edge as nodes of the table `title`, which has a number for each name; others are refused."""
    index = []
    for cells in ends:
        words, codes = cells.coded.words, cells.coded.codes
        if cells.coded.empty:
            cells.refuse_word(-1, "the id is missing; an edge has two ends")
        found = np.fromiter(map(nodes.get, words, repeat(-1)), dtype=np.int64, count=len(words))
        if (found < 0).any():
            code = int(np.argmax(found < 0))
            cells.refuse_word(code, f"there is no node {shortened(words[code])} in {title}")
        index.append(found[codes])
    return np.stack(index)


def _fitting(table: Table, ends: Sequence[Cells], options: ReadOptions) -> list[str]:
    """The columns, all alike, with a name of its own in every row and every end of an edge among them."""
    words = {name: _words(cells) for name, cells in table.columns.items() if name != options.label}
    sought = [end.coded.words for end in ends]
    fitting = [
        name for name in words if len(words[name]) == table.rows and all(map(set(words[name]).issuperset, sought))
    ]
    # The index of a data frame is there unasked.
    fitting = [name for name in fitting if not is_unnamed(name)] or fitting
    different = [name for name in fitting if words[name] != words[fitting[0]]]
    if different:
        raise PcnetError(
            f"{table.title} has two columns with every end of the edges, '{fitting[0]}' and '{different[0]}'; "
            "say which names the nodes (id)."
        )
    return fitting


def _part(table: Table, columns: Sequence[str], nodes: Nodes, notes: list[str]) -> Mapping[str, Cells]:
    """What a table says about the nodes, by whichever of the columns names most of them, the first of equals.

    Rows of no node are ignored and said, and so is how many nodes have no row.
    """
    known = {
        name: np.array([nodes.places.get(word, -1) for word in _words(table.columns[name])], dtype=int)
        for name in columns
    }
    identity = max(columns, key=lambda name: np.count_nonzero(known[name] >= 0))
    there = known[identity] >= 0
    if not there.any():
        raise PcnetError(
            f"No id in the column '{identity}' of {table.title} is one of {nodes.table.title}; correct one of them, or "
            "call the file something else."
        )
    read_ids(table.columns[identity])
    rows = np.full(len(nodes.places), -1)
    rows[known[identity][there]] = np.flatnonzero(there)
    if not there.all():
        first = shortened(table.columns[identity].coded.words[int(np.argmin(there))])
        notes.append(f"{table.title}: {(~there).sum():,} of {len(there):,} ids are no nodes, first {first}; ignored.")
    if (rows < 0).any():
        notes.append(f"{table.title}: {(rows < 0).sum():,} of {len(rows):,} nodes are not in it.")
    return {name: _TakenCells(cells, rows) for name, cells in table.columns.items() if name != identity}


def _joined(nodes: Nodes, title: str, parts: Sequence[Mapping[str, Cells]]) -> Nodes:
    columns = dict(nodes.table.columns)
    for part in parts:
        for name, cells in part.items():
            if name in columns:
                both = f"{columns[name].title} and {cells.title}"
                raise PcnetError(f"{both} both have a column '{name}'; rename one, or leave it out (drop).")
            columns[name] = cells
    return nodes._replace(table=Table(title, columns, nodes.table.rows))


def _words(cells: Cells) -> list[str]:
    """The different words of a column that may name nodes; lists and types without words name nothing."""
    try:
        return [] if cells.kind == "vector" else cells.coded.words
    except PcnetError:
        return []
