"""Features from a table and the description of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from pcnet.data.own._table import Table, shortened
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Column, Schema

#: An array or a sparse matrix, a row for each node.
Block = Any
#: Compressed rows pay below this share of entries that are not zero.
MOSTLY_ZERO = 0.25


def encode(table: Table, schema: Schema, notes: list[str]) -> Tensor | CSR:
    """x with the columns of `schema` in its order. An empty cell is 0: the mean, false, no category, no word.

    A column that the table lacks is refused; a category that the schema lacks is a row of zeros, and said.
    """
    for column in schema.columns:
        if column.name not in table.names:
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
    if column.kind == "number":
        values = (table.numbers(column.name) - column.shift) / column.scale
        return np.nan_to_num(values, nan=0.0).astype(np.float32)[:, None]
    if column.kind == "boolean":
        return table.flags(column.name)[:, None]
    if column.kind == "vector":
        return _lists(table, column)
    if column.kind == "bag":
        return table.bag(column.name).features(column.values)
    return _one_hot(table, column, notes)


def _lists(table: Table, column: Column) -> scipy.sparse.csr_matrix:
    rows = table.lists(column.name)
    if rows.shape[1] == column.width:
        return rows
    raise PcnetError(
        f"The lists in the column '{column.name}' of {table.title} have {rows.shape[1]} numbers; "
        f"the classifier was trained with {column.width}."
    )


def _one_hot(table: Table, column: Column, notes: list[str]) -> scipy.sparse.csr_matrix:
    coded = table.coded(column.name)
    place = {value: index for index, value in enumerate(column.values)}
    places = coded.spread(np.array([place.get(word, -1) for word in coded.words], dtype=np.int64), -1)
    unseen = [word for word in coded.words if word not in place]
    if unseen:
        count = int((places < 0).sum()) - coded.empty
        example = shortened(unseen[0])
        notes.append(f"{count:,} values in '{column.name}' of {table.title} are new ({example}, …) and count as none.")
    rows = np.flatnonzero(places >= 0)
    entries = (np.ones(len(rows), dtype=np.float32), (rows, places[rows]))
    return scipy.sparse.csr_matrix(entries, shape=(len(places), column.width))
