"""Which column names the nodes: the one that is called so, or the one that the edges speak of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcnet.data.own._coded import Coded
from pcnet.data.own._ends import EdgeTable
from pcnet.data.own._join import words_of
from pcnet.data.own._labels import read_ids
from pcnet.data.own._roles import Wishes, id_column, is_unnamed, node_columns
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError


class Identity(NamedTuple):
    """The rows of the nodes and the column that names them, `reason` says why where it is not its own name.

    `ids` are the names, `places` the row of each, `source` and `target` the rows that the edges join.
    """

    table: Table
    column: str
    ids: NDArray
    places: dict[str, int]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    reason: str = ""


def identify(
    title: str, names: Sequence[str], read: Callable[[Sequence[str]], Table], edges: EdgeTable, wishes: Wishes
) -> Identity:
    """Read the table and find its ids: asked for, usually called so, or else different and with every end of an edge.

    The usual column gives way to one that fits where it does not fit itself; where none does, the complaint is its.
    """
    usual, certain = id_column(title, names, wishes)
    if certain:
        table = read(node_columns(title, names, wishes, usual).names)
        try:
            return look_up(table, usual, edges)
        except PcnetError:
            if wishes.id is not None:
                raise
    table = read([name for name in names if name not in wishes.drop and names.count(name) == 1])
    fitting = _fitting(table, edges.ends, wishes)
    if not fitting or usual in fitting:
        return look_up(table, usual, edges)
    contrast = f", '{usual}' has not" if certain else ""
    return look_up(table, fitting[0], edges, f" (it has every end of the edges{contrast})")


def look_up(table: Table, column: str, edges: EdgeTable, reason: str = "") -> Identity:
    """The nodes as a column names them; what is missing or there twice is refused."""
    ids, places = read_ids(table, column)
    return Identity(table, column, ids, places, *edges.among(places, table.title), reason)


def _fitting(table: Table, ends: Sequence[Coded], wishes: Wishes) -> list[str]:
    """The columns, all alike, with a name of its own in every row and every end of an edge among them."""
    fitting = []
    for name in table.names:
        words = words_of(table, name)
        if name != wishes.label and len(words) == table.rows:
            fitting += [name] if all(map(set(words).issuperset, (end.words for end in ends))) else []
    # The index of a data frame is there unasked.
    fitting = [name for name in fitting if not is_unnamed(name)] or fitting
    different = [name for name in fitting if words_of(table, name) != words_of(table, fitting[0])]
    if different:
        raise PcnetError(
            f"{table.title} has two columns with every end of the edges, '{fitting[0]}' and '{different[0]}'; "
            "say which names the nodes (id)."
        )
    return fitting
