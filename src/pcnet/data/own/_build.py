"""A graph from its edges and what is known about its nodes: the one place where the parts come together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._cells import Cells
from pcnet.data.own._features import describe, encode, structural_features
from pcnet.data.own._folder import Tables
from pcnet.data.own._labels import Classes, label_candidates, read_labels
from pcnet.data.own._listed_features import FEATURES
from pcnet.data.own._nodes import Nodes, read_nodes
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._roles import NodeColumns, check_drop, check_names, edge_columns
from pcnet.errors import PcnetError, close_match
from pcnet.graph import CSR, Graph, LabelCandidate, Schema, label_advice, undirected


def graph_of_tables(name: str, tables: Tables, options: ReadOptions) -> Graph:
    """Read the edges, the nodes that they join, and everything about these."""
    for table in tables.sources:
        check_names(table.title, table.names)
    listed = () if tables.features is None else (FEATURES,)
    check_drop(options.drop, [*(column for table in tables.sources for column in table.names), *listed])
    source, target, weight, said = edge_columns(tables.edges.title, tables.edges.names, options)
    notes = [*tables.notes, *(note for table in tables.sources for note in table.notes), *said]
    edges = tables.rows(tables.edges, [column for column in (source, target, weight) if column]).columns
    nodes, columns, options = read_nodes(tables, (edges[source], edges[target]), options, notes)
    return graph_of_nodes(name, nodes, columns, read_weight(edges[weight]) if weight else None, options, notes)


def graph_of_nodes(
    name: str,
    nodes: Nodes,
    columns: NodeColumns,
    weight: NDArray[np.float64] | None,
    options: ReadOptions,
    notes: Sequence[str] = (),
) -> Graph:
    """The graph of a table of nodes and the weights of its edges."""
    table = nodes.table
    said = [*notes, *columns.notes]
    others = [table.columns[name] for name in columns.features if name not in options.kinds]
    if options.label is not None and columns.label is None:
        known = [columns.id, *columns.features]
        hint = close_match(options.label, known) or f" {label_advice(label_candidates(others))}".rstrip()
        raise PcnetError(f"{table.title} has no column '{options.label}' for the label.{hint}")
    y, classes = unlabelled(table.rows, options)
    if columns.label is not None:
        y, classes = read_labels(table.columns[columns.label], options.classes, said)
        if classes is None:
            empty = f"The column '{columns.label}' of {table.title} holds no label in any of its {table.rows:,} rows"
            if options.label is not None:
                raise PcnetError(f"{empty}; fill it, or name another one.")
            said.append(f"{empty}.")
    candidates: tuple[LabelCandidate, ...] = ()
    if classes is None and options.schema is None:
        candidates = label_candidates(others)
        if candidates:
            said.append(f"No column holds labels. {label_advice(candidates)} Until then they are features.")
    x, schema = None, options.schema
    if schema is None:
        schema = describe(table, columns.features, options.kinds, said)
    else:
        check_structural(schema)
    if schema.columns:
        x = encode(table, schema, said)
    more = {"name": name, "ids": nodes.ids, "classes": classes, "label_candidates": candidates}
    return assemble(nodes.ends, weight, x, schema, y, options, said, **more)


def assemble(
    ends: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    x: Tensor | CSR | None,
    schema: Schema,
    y: Tensor,
    options: ReadOptions,
    notes: list[str],
    **more: Any,
) -> Graph:
    """The graph with `more` of its fields; nodes without features get structural ones."""
    edges = _merge_edges(ends, weight, len(y), options.directed, notes)
    if x is None:
        both = _merge_edges(ends, weight, len(y), False, []) if options.directed else edges
        x, schema = structural_features(both[0], len(y), both[1])
        notes.append(
            "There are no features: log degrees and a spectral embedding of the edges take their place. "
            "They mean nothing on another graph."
        )
    return Graph(edges[0], x, y, edge_weight=edges[1], schema=schema, notes=tuple(notes), **more)


def read_weight(cells: Cells) -> NDArray[np.float64]:
    """Weights of edges, each a number that is not negative."""
    weight = cells.numbers()
    bad = np.flatnonzero(~(weight >= 0))
    if len(bad):
        missing = np.isnan(weight[bad[0]])
        complaint = "the weight is missing" if missing else f"the weight {weight[bad[0]]:g} is negative"
        cells.refuse(int(bad[0]), f"{complaint}; correct it or leave the column out (drop)")
    return weight


def _merge_edges(
    ends: NDArray[np.int64], weight: NDArray[np.float64] | None, num_nodes: int, directed: bool, notes: list[str]
) -> tuple[Tensor, Tensor | None]:
    """`edge_index` and `edge_weight`: the list as it is, or both directions of every edge, merged and sorted.

    Merged as `Operator` merges: unweighted duplicates count once; weighted ones add up, and both directions carry the
    larger of the two sums. So an operator does not depend on `directed`, unless it keeps the direction.
    """
    source, target = ends
    keys = np.sort(source * num_nodes + target)
    listed, twice, loops = len(keys), int((np.diff(keys) == 0).sum()), int((source == target).sum())
    if twice:
        fate = "are kept" if directed else "count once" if weight is None else "add up"
        notes.append(f"{twice:,} of {listed:,} edges are listed before and {fate}.")
    if loops:
        notes.append(f"{loops:,} of {listed:,} edges are loops and kept.")
    if directed:
        return torch.from_numpy(ends), None if weight is None else torch.from_numpy(weight.astype(np.float32))
    if weight is None:
        return undirected(source, target, num_nodes, keep_loops=True), None
    adjacency = scipy.sparse.csr_matrix((weight, (source, target)), shape=(num_nodes, num_nodes))
    adjacency.sum_duplicates()
    merged = adjacency.maximum(adjacency.T).tocsr().sorted_indices().tocoo()
    both = np.stack([merged.row, merged.col]).astype(np.int64)
    return torch.from_numpy(both), torch.from_numpy(merged.data.astype(np.float32))


def unlabelled(num_nodes: int, options: ReadOptions) -> tuple[Tensor, Classes | None]:
    return torch.full((num_nodes,), -1), None if options.classes is None else tuple(options.classes)


def check_structural(schema: Schema) -> None:
    """Refuse to compute features of edges for a classifier that knows those of other edges."""
    if schema.structural:
        raise PcnetError(
            "The classifier was trained on features computed from its own graph's edges, which mean nothing on another "
            "graph; train it again on nodes with columns of their own."
        )
