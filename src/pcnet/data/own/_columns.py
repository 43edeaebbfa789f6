"""Which features a table has: each column is described once, so that any other table can be encoded the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from pcnet.data.own._coded import Coded
from pcnet.data.own._table import MOST_CATEGORIES, Table, items_in
from pcnet.errors import PcnetError, close_match
from pcnet.graph import Column, Kind, Schema

#: A bag keeps the words that most rows have.
MOST_WORDS = 5_000
KINDS: tuple[Kind, ...] = ("number", "boolean", "category", "bag", "vector")
#: A sentence names so many columns before it counts the rest.
_NAMED = 12


def describe(table: Table, names: Sequence[str], kinds: Mapping[str, Kind], notes: list[str]) -> Schema:
    """The features that the named columns become; what was guessed or left out is added to `notes`.

    Numbers that all lie in [−1, 1] stay as they are; others, and those with gaps, are standardised.
    """
    check_kinds(table, kinds)
    columns, left_out = [], []
    for name in names:
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


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; many are counted."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(islice(names, _NAMED)) + more


def words_in(cell: str) -> list[str]:
    """The words of a bag, in lower case: the items of a JSON list of words, or what spaces separate."""
    items = items_in(cell) if cell.startswith("[") else []
    return [str(item).lower() for item in items] if items else cell.lower().split()


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
    coded = table.coded(name)
    known = tuple(map(str, np.sort(coded.names()))) if kind == "category" else _vocabulary(name, coded, notes)
    return Column(name, kind, width=len(known), values=known)


def _vocabulary(name: str, coded: Coded, notes: list[str]) -> tuple[str, ...]:
    """The words that most rows have, in alphabetical order."""
    rows = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.words))
    frequency: Counter[str] = Counter()
    for cell, count in zip(coded.words, rows.tolist(), strict=True):
        for word in set(words_in(cell)):
            frequency[word] += count
    if len(frequency) <= MOST_WORDS:
        return tuple(sorted(frequency))
    notes.append(f"Of {len(frequency):,} words in '{name}' the {MOST_WORDS:,} that most rows have are kept.")
    # Equally frequent words in alphabetical order: the choice must not depend on the order of the rows.
    kept = sorted(frequency, key=lambda word: (-frequency[word], word))[:MOST_WORDS]
    return tuple(sorted(kept))
