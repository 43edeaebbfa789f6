"""Which columns may hold the labels of a table that has no column called so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pcnet.data.own._coded import Coded
from pcnet.data.own._labels import label_words
from pcnet.data.own._table import MOST_CATEGORIES, Table
from pcnet.graph import LabelCandidate

#: Columns whose names hold one of these are named first, then those with the fewest values.
_TELLING = ("label", "class", "target", "category", "type")
_LONGEST_VALUE = 20


def label_candidates(table: Table, names: Sequence[str]) -> tuple[LabelCandidate, ...]:
    """The columns among the named ones with few different values, each for two rows on average; no fractions."""
    values = {name: _few(table, name) for name in names}
    found = [LabelCandidate(name, tuple(map(_short, few))) for name, few in values.items() if few]
    return tuple(sorted(found, key=lambda each: (not _telling(each.name), len(each.values))))


def _telling(name: str) -> bool:
    return any(word in name.lower() for word in _TELLING)


def _few(table: Table, column: str) -> list[str]:
    """The different values of a column that may hold labels, else none."""
    kind = table.kind(column)
    if kind not in ("boolean", "category", "number"):
        return []
    coded = table.coded(column)
    repeated = 2 * len(coded.words) <= len(coded.codes) - coded.empty
    # The few ways to write that a label is missing are beside the classes.
    if not repeated or len(coded.words) > 2 * MOST_CATEGORIES:
        return []
    values = Coded.of({word for word in label_words(coded) if word})
    if not 2 <= len(values.words) <= MOST_CATEGORIES or (kind == "number" and not values.whole):
        return []
    return list(map(str, np.sort(values.names())))


def _short(value: str) -> str:
    """A value on one line, and never long."""
    line = " ".join(value.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[: _LONGEST_VALUE - 1]}…"
