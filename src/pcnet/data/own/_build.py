"""A graph from its edges and what is known about its nodes: the one place where the parts come together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._ends import EdgeTable, Ends, edges, read_weight
from pcnet.data.own._features import describe, encode
from pcnet.data.own._labels import Classes, label_candidates, read_labels
from pcnet.data.own._listed_features import FEATURES
from pcnet.data.own._nodes import read_nodes
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._readers import Tables
from pcnet.data.own._roles import NodeColumns, check_drop, check_names, edge_columns
from pcnet.data.own._structure import NOTE, structural_features
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError, close_match
from pcnet.graph import CSR, Graph, LabelCandidate, Schema, label_advice


def graph_of_tables(name: str, tables: Tables, options: ReadOptions, notes: Sequence[str] = ()) -> Graph:
    """Read the edges, the nodes that they join, and everything about these."""
    for source in tables.sources:
        check_names(source.title, source.names)
    listed = () if tables.features is None else (FEATURES,)
    check_drop(options.drop, [*(column for source in tables.sources for column in source.names), *listed])
    roles = edge_columns(tables.edges.title, tables.edges.names, options)
    said = [*notes, *(note for source in tables.sources for note in source.notes), *roles.notes]
    edges = EdgeTable(tables.rows(tables.edges, roles.names), roles.source, roles.target)
    table, columns, found, options = read_nodes(tables, edges, options, said)
    weight = None if roles.weight is None else read_weight(edges.table, roles.weight)
    return graph_of_table(name, table, columns, found.ids, Ends(found.source, found.target, weight), options, said)


def graph_of_table(
    name: str, table: Table, columns: NodeColumns, ids: NDArray, ends: Ends, options: ReadOptions, notes: Sequence[str]
) -> Graph:
    """The graph of a table of nodes."""
    said = [*notes, *columns.notes]
    others = [name for name in columns.features if name not in options.kinds]
    if options.label is not None and columns.label is None:
        hint = close_match(options.label, columns.names) or f" {label_advice(label_candidates(table, others))}".rstrip()
        raise PcnetError(f"{table.title} has no column '{options.label}' for the label.{hint}")
    y, classes = unlabelled(table.rows, options)
    if columns.label is not None:
        y, classes = read_labels(table, columns.label, options.classes, said)
        if classes is None:
            empty = f"The column '{columns.label}' of {table.title} holds no label in any of its {table.rows:,} rows"
            if options.label is not None:
                raise PcnetError(f"{empty}; fill it, or name another one.")
            said.append(f"{empty}.")
    candidates: tuple[LabelCandidate, ...] = ()
    if classes is None and options.schema is None:
        candidates = label_candidates(table, others)
        if candidates:
            said.append(f"No column holds labels. {label_advice(candidates)} Until then they are features.")
    x, schema = None, options.schema
    if schema is None:
        schema = describe(table, columns.features, options.kinds, said)
    else:
        check_structural(schema)
    if schema.columns:
        x = encode(table, schema, said)
    more = {"name": name, "ids": ids, "classes": classes, "label_candidates": candidates}
    return assemble(ends, x, schema, y, options, said, **more)


def assemble(
    ends: Ends, x: Tensor | CSR | None, schema: Schema, y: Tensor, options: ReadOptions, notes: list[str], **more: Any
) -> Graph:
    """The graph with `more` of its fields; nodes without features get structural ones."""
    edge_index, weight = edges(ends, len(y), options.directed, notes)
    if x is None:
        both = edges(ends, len(y), False, []) if options.directed else (edge_index, weight)
        x, schema = structural_features(both[0], len(y), both[1])
        notes.append(NOTE)
    return Graph(edge_index, x, y, edge_weight=weight, schema=schema, notes=tuple(notes), **more)


def unlabelled(num_nodes: int, options: ReadOptions) -> tuple[Tensor, Classes | None]:
    """Labels of nodes that have none."""
    return torch.full((num_nodes,), -1), None if options.classes is None else tuple(options.classes)


def check_structural(schema: Schema) -> None:
    """Refuse to compute features of edges for a classifier that knows those of other edges."""
    if schema.structural:
        raise PcnetError(
            "The classifier was trained on features computed from its own graph's edges, which mean nothing on another "
            "graph; train it again on nodes with columns of their own."
        )
