"""Everything that tables say about nodes, in one table: their own, that of their labels, and their features' list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pcnet.data.own._ends import EdgeTable, names_in
from pcnet.data.own._identity import Identity, identify, look_up
from pcnet.data.own._join import Joined, Part, part_of
from pcnet.data.own._listed_features import FEATURES, ID, ListedFeatures
from pcnet.data.own._roles import NodeColumns, Wishes, free_columns, id_column, node_columns, usual_label
from pcnet.data.own._sources import Tables
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError


class Nodes(NamedTuple):
    """Everything about the nodes in one table, what its columns are, and what names them."""

    table: Table
    columns: NodeColumns
    identity: Identity
    wishes: Wishes


def read_nodes(tables: Tables, edges: EdgeTable, wishes: Wishes, notes: list[str]) -> Nodes:
    """The nodes that edges join; `wishes` with the label, if a table of labels has only one."""
    features = _listed_features(tables.features, wishes)
    main = tables.main
    if main is None:
        return _named_by(edges, features, wishes, notes)
    # Which column of a table of labels holds them shows when its ids are known: all are read.
    wanted = wishes if tables.nodes else replace(wishes, schema=None)
    found = identify(main.title, main.names, partial(tables.rows, main), edges, wanted)
    parts, title, others = [], main.title, [name for name in free_columns(main.names, wishes) if name != found.column]
    if tables.nodes and tables.labels:
        title = f"{main.title} + {tables.labels.title}"
        labels = tables.rows(tables.labels, free_columns(tables.labels.names, wishes))
        parts.append(part_of(labels, _ids_of_labels(labels, found.column, wishes), found.places, main.title, notes))
        usual, others = usual_label(others), [*parts[0].columns]
        if usual and wishes.label is None:
            raise PcnetError(
                f"{main.title} has labels ('{usual}'), and so has {labels.title}; name the column (label)."
            )
    if tables.labels and wishes.label is None and len(others) == 1:
        wishes = replace(wishes, label=others[0])
    if features:
        parts.append(part_of(features, [ID], found.places, main.title, notes))
    names = [*main.names, *(column for part in parts for column in part.columns)]
    columns = node_columns(title, names, wishes, found.column, found.reason)
    return Nodes(_joined(title, found.table, parts), columns, found, wishes)


def _named_by(edges: EdgeTable, features: ListedFeatures | None, wishes: Wishes, notes: list[str]) -> Nodes:
    """The nodes that edges and listed features name."""
    also = f" and {features.title}" if features else ""
    said = f"There is no table of nodes: they are those that the edges{also} name."
    names, title = names_in(*edges.ends, *([features.coded(ID)] if features else [])), edges.table.title
    found = look_up(Table(title, {ID: names}, len(names.codes)), ID, edges)
    parts = [part_of(features, [ID], found.places, title, notes)] if features else []
    columns = NodeColumns(ID, None, [FEATURES] if features else [], [said])
    return Nodes(_joined(title, found.table, parts), columns, found, wishes)


def _joined(title: str, table: Table, parts: Sequence[Part]) -> Table:
    return Joined(title, [Part(table, table.names, np.arange(table.rows)), *parts]) if parts else table


def _ids_of_labels(labels: Table, identity: str, wishes: Wishes) -> list[str]:
    """Columns that may name the nodes of a table of labels: as in the table of nodes, as usual, or any other."""
    others = [name for name in labels.names if name not in (wishes.label, usual_label(labels.names))]
    usual, _ = id_column(labels.title, others, replace(wishes, id=None))
    return [name for name in dict.fromkeys((wishes.id, identity, usual, *others)) if name in others]


def _listed_features(path: Path | None, wishes: Wishes) -> ListedFeatures | None:
    """The file that lists features, unless nobody wants them."""
    unknown = wishes.schema is not None and FEATURES not in (column.name for column in wishes.schema.columns)
    return None if path is None or FEATURES in wishes.drop or unknown else ListedFeatures(path)
