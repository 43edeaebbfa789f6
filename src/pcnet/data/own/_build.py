"""A graph from its edges and what is known about its nodes: the one place where the parts come together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._cells import MOST_CATEGORIES, Bag, Cells, Table, shortened
from pcnet.data.own._columns import KINDS, NodeColumns, ReadOptions, check_drop, edge_columns, listed
from pcnet.data.own._nodes import Classes, Ends, Nodes, label_candidates, read_labels, read_nodes
from pcnet.data.own._readers import FEATURES, Tables
from pcnet.errors import PcnetError, close_match
from pcnet.graph import CSR, Column, Graph, Kind, Operator, Schema, label_advice, undirected

#: A bag keeps the words that most rows have.
MOST_WORDS = 5_000
#: An array or a sparse matrix, a row for each node.
Block = Any
#: What an edge or a node may lack.
Weights = NDArray[np.float64] | None
Features = Tensor | CSR | None
#: Compressed rows pay below this share of entries that are not zero.
MOSTLY_ZERO = 0.25
#: How columns are called that name something: id, user_id, userId.
_ID = re.compile(r"(?i:(^|[_\-. ])(id|key|uuid|guid)$)|[a-z]I[dD]$")
#: Of the spectral embedding.
_DIMENSIONS = 8
#: Up to this many nodes all eigenvectors are computed.
_SMALL = 1_000
#: Vectors of the subspace iteration on larger graphs, its rounds, and the products in each.
_VECTORS, _ROUNDS, _PRODUCTS = 2 * _DIMENSIONS, 12, 5


def graph_of_tables(name: str, tables: Tables, options: ReadOptions) -> Graph:
    """Read the edges, the nodes that they join, and everything about these."""
    names = [column for table in tables.sources for column in table.names]
    check_drop(options.drop, names if tables.features is None else [*names, FEATURES])
    source, target, weight, said = edge_columns(tables.edges.title, tables.edges.names, options)
    notes = [*tables.notes, *(note for table in tables.sources for note in table.notes), *said]
    edges = tables.rows(tables.edges, [column for column in (source, target, weight) if column]).columns
    nodes, columns, options = read_nodes(tables, (edges[source], edges[target]), options, notes)
    return graph_of_nodes(name, nodes, columns, read_weight(edges[weight]) if weight else None, options, notes)


def graph_of_nodes(
    name: str, nodes: Nodes, columns: NodeColumns, weight: Weights, options: ReadOptions, notes: Sequence[str] = ()
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
    candidates = label_candidates(others) if classes is None and options.schema is None else ()
    if candidates:
        said.append(f"No column holds labels. {label_advice(candidates)} Until then they are features.")
    schema = not_structural(options.schema) or describe(table, columns.features, options.kinds, said)
    x = encode(table, schema, said) if schema.columns else None
    more = {"name": name, "ids": nodes.ids, "classes": classes, "label_candidates": candidates}
    return assemble(nodes.ends, weight, x, schema, y, options.directed, said, **more)


def assemble(
    ends: Ends, weight: Weights, x: Features, schema: Schema, y: Tensor, directed: bool, notes: list[str], **more: Any
) -> Graph:
    """The graph with `more` of its fields; nodes without features get structural ones."""
    edges = _merge_edges(ends, weight, len(y), directed, notes)
    if x is None:
        both = _merge_edges(ends, weight, len(y), False, []) if directed else edges
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
    ends: Ends, weight: Weights, num_nodes: int, directed: bool, notes: list[str]
) -> tuple[Tensor, Tensor | None]:
    """`edge_index` and `edge_weight`: the list as it is, or both directions of every edge, merged and sorted.

    Merged as `Operator` merges: unweighted duplicates count once; weighted ones add up, and both directions carry the
    larger of the two sums. So an operator does not depend on `directed`, unless it keeps the direction.
    """
    source, target = ends
    keys = np.sort(source * num_nodes + target)
    twice, loops = int((np.diff(keys) == 0).sum()), int((source == target).sum())
    if twice:
        fate = "are kept" if directed else "count once" if weight is None else "add up"
        notes.append(f"{twice:,} of {len(keys):,} edges are listed before and {fate}.")
    if loops:
        notes.append(f"{loops:,} of {len(keys):,} edges are loops and kept.")
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


def not_structural(schema: Schema | None) -> Schema | None:
    """The schema; a classifier that knows features computed of other edges is refused."""
    if schema is not None and schema.structural:
        raise PcnetError(
            "The classifier was trained on features computed from its own graph's edges, which mean nothing on another "
            "graph; train it again on nodes with columns of their own."
        )
    return schema


def describe(table: Table, names: Sequence[str], kinds: Mapping[str, Kind], notes: list[str]) -> Schema:
    """The features that the named columns become; what was guessed or left out is added to `notes`.

    Numbers that all lie in [−1, 1] stay as they are; others, and those with gaps, are standardised.
    """
    for name, given in kinds.items():
        if name not in table.columns:
            hint = close_match(name, table.columns)
            raise PcnetError(f"{table.title} has no column '{name}' to be read as {given}.{hint}")
        if given not in KINDS:
            raise PcnetError(f"A column cannot be read as '{given}'; choose from {', '.join(KINDS)}.")
    identifiers = {name: None for name in names if name not in kinds and _is_identifier(table.columns[name])}
    columns, left_out = [], []
    for name in names:
        if name in identifiers:
            continue
        kind = kinds.get(name) or table.columns[name].kind
        column = None if kind is None else _describe(table.columns[name], kind, notes)
        if column is None or column.width == 0:
            left_out.append(name)
        else:
            columns.append(column)
    if columns:
        notes.append(f"Features: {listed([f'{column.name} ({column.kind})' for column in columns])}.")
    scaled = [column.name for column in columns if (column.shift, column.scale) != (0.0, 1.0)]
    if scaled:
        notes.append(f"Standardised, because they leave [−1, 1] or have empty cells: {listed(scaled)}.")
    if identifiers:
        notes.append(f"Left out, because they are ids, another value in every row: {listed([*identifiers])}.")
    if left_out:
        notes.append(
            f"Left out, because they are empty, of a type that is no feature, or have more than {MOST_CATEGORIES} "
            f"different values: {listed(left_out)}."
        )
    return Schema(tuple(columns))


def _describe(cells: Cells, kind: Kind, notes: list[str]) -> Column:
    name = cells.name
    if kind == "number":
        values = cells.numbers()
        filled = values[~np.isnan(values)]
        if len(filled) and (len(filled) < len(values) or np.abs(values).max() > 1):
            return Column(name, kind, shift=float(filled.mean()), scale=float(filled.std()) or 1.0)
    if kind in ("number", "boolean"):
        return Column(name, kind)
    if kind == "vector":
        return Column(name, kind, width=cells.lists.shape[1])
    known = _vocabulary(name, cells.bag, notes) if kind == "bag" else tuple(map(str, cells.coded.sorted.tolist()))
    return Column(name, kind, width=len(known), values=known)


def _vocabulary(name: str, bag: Bag, notes: list[str]) -> tuple[str, ...]:
    """The words that most rows have, in alphabetical order."""
    if len(bag.words) <= MOST_WORDS:
        return tuple(sorted(bag.words))
    notes.append(f"Of {len(bag.words):,} words in '{name}' the {MOST_WORDS:,} that most rows have are kept.")
    # Equally frequent words in alphabetical order: the choice must not depend on the order of the rows.
    ordered = sorted(zip(bag.frequency, bag.words, strict=True), key=lambda each: (-each[0], each[1]))
    return tuple(sorted(word for _, word in ordered[:MOST_WORDS]))


def _is_identifier(cells: Cells) -> bool:
    """Whether it is called as ids are and has another whole number or word in every row."""
    if not _ID.search(cells.name) or cells.kind not in ("number", "category", None):
        return False
    coded = cells.coded
    return len(coded.words) == len(coded.codes) and (coded.whole or cells.kind != "number")


def encode(table: Table, schema: Schema, notes: list[str]) -> Tensor | CSR:
    """x with the columns of `schema` in its order. An empty cell is 0: the mean, false, no category, no word.

    A column that the table lacks is refused; a category that the schema lacks is a row of zeros, and said.
    """
    for column in schema.columns:
        if column.name not in table.columns:
            raise PcnetError(
                f"The column '{column.name}' is missing in {table.title}; the classifier was trained with it."
            )
    return join([_block(table, column, notes) for column in schema.columns])


def join(blocks: Sequence[Block]) -> Tensor | CSR:
    """Blocks of features side by side in float32, in compressed rows where they are mostly zero."""
    filled = sum(block.count_nonzero() if scipy.sparse.issparse(block) else np.count_nonzero(block) for block in blocks)
    if filled < MOSTLY_ZERO * sum(block.shape[0] * block.shape[1] for block in blocks):
        matrix = scipy.sparse.hstack([scipy.sparse.csc_matrix(block, dtype=np.float32) for block in blocks])
        matrix = matrix.tocsr()
        matrix.eliminate_zeros()
        return CSR.from_scipy(matrix, torch.float32)
    dense = [block.toarray() if scipy.sparse.issparse(block) else block for block in blocks]
    return torch.from_numpy(np.hstack([block.astype(np.float32, copy=False) for block in dense]))


def _block(table: Table, column: Column, notes: list[str]) -> Block:
    cells = table.columns[column.name]
    if column.kind == "number":
        values = (cells.numbers() - column.shift) / column.scale
        return np.nan_to_num(values, nan=0.0).astype(np.float32)[:, None]
    if column.kind == "boolean":
        return cells.flags()[:, None]
    if column.kind == "vector":
        if cells.lists.shape[1] != column.width:
            raise PcnetError(
                f"The lists in the column '{column.name}' of {table.title} have {cells.lists.shape[1]} numbers; "
                f"the classifier was trained with {column.width}."
            )
        return cells.lists
    if column.kind == "bag":
        return cells.bag.features(column.values)
    coded, known = cells.coded, frozenset(column.values)
    one_hot = Bag.of(([word] for word in coded.words), coded.codes).features(column.values)
    unseen = [word for word in coded.words if word not in known]
    if unseen:
        new = len(coded.codes) - coded.empty - one_hot.nnz
        example = shortened(unseen[0])
        notes.append(f"{new:,} values in '{column.name}' of {table.title} are new ({example}, …) and count as none.")
    return one_hot


def structural_features(edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None) -> tuple[Tensor, Schema]:
    """log(1 + degree), standardised, and √n times the leading eigenvectors of S = D^-½ A D^-½.

    `edge_index` holds both directions of every edge. An eigenvector's sign is free: its largest entry is positive.
    """
    # Linear algebra adds up in an order that depends on the number of threads.
    from threadpoolctl import threadpool_limits

    degree = np.log1p(np.bincount(edge_index[0].numpy(), minlength=num_nodes))
    degree = (degree - degree.mean()) / (degree.std() or 1.0)
    operator = Operator.from_edges(edge_index, num_nodes, edge_weight, self_loops="keep", dtype=torch.float64)
    with threadpool_limits(1):
        vectors = _leading(operator)
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    embedding = np.sqrt(num_nodes) * vectors * np.where(largest < 0, -1.0, 1.0)
    x = torch.from_numpy(np.column_stack([degree, embedding]).astype(np.float32))
    columns = (Column("log degree", "structure"), Column("spectral embedding", "structure", width=vectors.shape[1]))
    return x, Schema(columns)


def _leading(operator: Operator) -> NDArray[np.float64]:
    """Eigenvectors of the largest eigenvalues: all of them where the graph is small, else a subspace iteration.

    The iteration multiplies with (S + I)/2, whose eigenvalues lie in [0, 1] in the order of those of S. Its cost is
    known beforehand, whatever the spectrum; close eigenvalues may share their vectors' plane.
    """
    matrix, n = operator.matrix.to_scipy(), operator.num_nodes
    if n <= _SMALL:
        return np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :_DIMENSIONS]
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, _VECTORS)))[0]
    for _ in range(_ROUNDS):
        for _ in range(_PRODUCTS):
            basis = (matrix @ basis + basis) / 2
        basis = np.linalg.qr(basis)[0]
    turn = np.linalg.eigh(basis.T @ (matrix @ basis))[1]
    return basis @ turn[:, ::-1][:, :_DIMENSIONS]
