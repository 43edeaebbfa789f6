"""Features from a table: each column is described once, so that any other table can be encoded the same way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from pcnet.data.own._options import KINDS
from pcnet.data.own._table import MOST_CATEGORIES, Table, listed, shortened
from pcnet.data.own._words import Bag
from pcnet.errors import PcnetError, close_match
from pcnet.graph import CSR, Column, Kind, Schema

#: A bag keeps the words that most rows have.
MOST_WORDS = 5_000
#: An array or a sparse matrix, a row for each node.
Block = Any
#: Compressed rows pay below this share of entries that are not zero.
MOSTLY_ZERO = 0.25
#: How columns are called that name something: id, user_id, userId.
_ID = re.compile(r"(?i:(^|[_\-. ])(id|key|uuid|guid)$)|[a-z]I[dD]$")


def describe(table: Table, names: Sequence[str], kinds: Mapping[str, Kind], notes: list[str]) -> Schema:
    """The features that the named columns become; what was guessed or left out is added to `notes`.

    Numbers that all lie in [−1, 1] stay as they are; others, and those with gaps, are standardised.
    """
    check_kinds(table, kinds)
    identifiers = _identifiers(table, [name for name in names if name not in kinds])
    columns, left_out = [], []
    for name in names:
        if name in identifiers:
            continue
        kind = kinds.get(name) or table.kind(name)
        column = None if kind is None else _describe(table, name, kind, notes)
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
        notes.append(f"Left out, because they are ids, another value in every row: {listed(identifiers)}.")
    if left_out:
        notes.append(
            f"Left out, because they are empty, of a type that is no feature, or have more than {MOST_CATEGORIES} "
            f"different values: {listed(left_out)}."
        )
    return Schema(tuple(columns))


def check_kinds(table: Table, kinds: Mapping[str, Kind]) -> None:
    """Refuse kinds that are none, or are given for no column."""
    for name, kind in kinds.items():
        if name not in table.names:
            raise PcnetError(
                f"{table.title} has no column '{name}' to be read as {kind}.{close_match(name, table.names)}"
            )
        if kind not in KINDS:
            raise PcnetError(f"A column cannot be read as '{kind}'; choose from {', '.join(KINDS)}.")


def _describe(table: Table, name: str, kind: Kind, notes: list[str]) -> Column:
    if kind == "number":
        values = table.numbers(name)
        filled = values[~np.isnan(values)]
        if len(filled) == len(values) and np.abs(values).max(initial=0) <= 1:
            return Column(name, kind)
        deviation = float(filled.std()) if len(filled) else 0.0
        return Column(name, kind, shift=float(filled.mean()) if len(filled) else 0.0, scale=deviation or 1.0)
    if kind == "boolean":
        return Column(name, kind)
    if kind == "vector":
        return Column(name, kind, width=table.lists(name).shape[1])
    if kind == "bag":
        known = _vocabulary(name, table.bag(name), notes)
    else:
        known = tuple(map(str, np.sort(table.coded(name).names())))
    return Column(name, kind, width=len(known), values=known)


def _vocabulary(name: str, bag: Bag, notes: list[str]) -> tuple[str, ...]:
    """The words that most rows have, in alphabetical order."""
    if len(bag.words) <= MOST_WORDS:
        return tuple(sorted(bag.words))
    notes.append(f"Of {len(bag.words):,} words in '{name}' the {MOST_WORDS:,} that most rows have are kept.")
    # Equally frequent words in alphabetical order: the choice must not depend on the order of the rows.
    ordered = sorted(zip(bag.frequency, bag.words, strict=True), key=lambda each: (-each[0], each[1]))
    return tuple(sorted(word for _, word in ordered[:MOST_WORDS]))


def _identifiers(table: Table, names: Sequence[str]) -> list[str]:
    """Columns that are called as ids are and have another whole number or word in every row."""
    called = {name: table.kind(name) for name in names if _ID.search(name)}
    words = {name: table.coded(name) for name, kind in called.items() if kind in ("number", "category", None)}
    return [name for name, coded in words.items() if coded.different and (coded.whole or called[name] != "number")]


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
        rows = table.lists(column.name)
        if rows.shape[1] != column.width:
            raise PcnetError(
                f"The lists in the column '{column.name}' of {table.title} have {rows.shape[1]} numbers; "
                f"the classifier was trained with {column.width}."
            )
        return rows
    if column.kind == "bag":
        return table.bag(column.name).features(column.values)
    return _one_hot(table, column, notes)


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
