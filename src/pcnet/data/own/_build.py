"""A graph from a table of nodes and the ends of its edges: the one place where the parts come together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._candidates import label_candidates
from pcnet.data.own._columns import describe
from pcnet.data.own._encode import encode
from pcnet.data.own._ends import Ends, edges
from pcnet.data.own._labels import Classes, read_labels
from pcnet.data.own._roles import NodeColumns, Wishes
from pcnet.data.own._structure import NOTE, structural_features
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError, close_match
from pcnet.graph import CSR, Graph, LabelCandidate, Schema, label_advice

Splits = tuple[tuple[Tensor, Tensor, Tensor], ...]


def graph_of_table(
    name: str, table: Table, columns: NodeColumns, ids: NDArray, ends: Ends, wishes: Wishes, notes: Sequence[str]
) -> Graph:
    """The graph of a table of nodes."""
    said = [*notes, *columns.notes]
    others = [name for name in columns.features if name not in wishes.kinds]
    if wishes.label is not None and columns.label is None:
        hint = close_match(wishes.label, columns.names) or f" {label_advice(label_candidates(table, others))}".rstrip()
        raise PcnetError(f"{table.title} has no column '{wishes.label}' for the label.{hint}")
    y, classes = unlabelled(table.rows, wishes)
    if columns.label is not None:
        y, classes = read_labels(table, columns.label, wishes.classes, said)
        if classes is None:
            empty = f"The column '{columns.label}' of {table.title} holds no label in any of its {table.rows:,} rows"
            if wishes.label is not None:
                raise PcnetError(f"{empty}; fill it, or name another one.")
            said.append(f"{empty}.")
    candidates: tuple[LabelCandidate, ...] = ()
    if classes is None and wishes.schema is None:
        candidates = label_candidates(table, others)
        if candidates:
            said.append(f"No column holds labels. {label_advice(candidates)} Until then they are features.")
    x, schema = None, wishes.schema
    if schema is None:
        schema = describe(table, columns.features, wishes.kinds, said)
    else:
        check_structural(schema)
    if schema.columns:
        x = encode(table, schema, said)
    return assemble(name, ends, x, schema, y, classes, wishes, said, ids=ids, candidates=candidates)


def assemble(
    name: str,
    ends: Ends,
    x: Tensor | CSR | None,
    schema: Schema,
    y: Tensor,
    classes: Classes | None,
    wishes: Wishes,
    notes: list[str],
    *,
    ids: NDArray | None = None,
    splits: Splits = (),
    candidates: tuple[LabelCandidate, ...] = (),
) -> Graph:
    """The graph; nodes without features get structural ones."""
    edge_index, edge_weight = edges(ends, len(y), wishes.directed, notes)
    if x is None:
        both = edges(ends, len(y), False, []) if wishes.directed else (edge_index, edge_weight)
        x, schema = structural_features(both[0], len(y), both[1])
        notes.append(NOTE)
    return Graph(
        edge_index=edge_index,
        x=x,
        y=y,
        edge_weight=edge_weight,
        name=name,
        notes=tuple(notes),
        fixed_splits=splits,
        ids=ids,
        classes=classes,
        schema=schema,
        label_candidates=candidates,
    )


def unlabelled(num_nodes: int, wishes: Wishes) -> tuple[Tensor, Classes | None]:
    """Labels of nodes that have none."""
    return torch.full((num_nodes,), -1), None if wishes.classes is None else tuple(wishes.classes)


def check_structural(schema: Schema) -> None:
    """Refuse to compute features of edges for a classifier that knows those of other edges."""
    if schema.structural:
        raise PcnetError(
            "The classifier was trained on features computed from its own graph's edges, which mean nothing on another "
            "graph; train it again on nodes with columns of their own."
        )


def whole_array(values: NDArray, what: str) -> NDArray[np.int64]:
    """`values` as 64-bit integers, if they are whole numbers."""
    if values.dtype.kind == "f" and np.isfinite(values).all() and (np.abs(values) < 2**53).all():
        whole = values.astype(np.int64)
        if (whole == values).all():
            return whole
    if values.dtype.kind not in "iu" or (values.dtype == np.uint64 and (values > 2**63 - 1).any()):
        raise PcnetError(f"{what} must hold whole numbers, not {values.dtype}.")
    return values.astype(np.int64)
