"""Which column names the nodes: the one that is called so, or the one that the edges speak of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pcnet.data.own._coded import Coded
from pcnet.data.own._join import words_of
from pcnet.data.own._roles import Wishes, id_column, is_unnamed, node_columns
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError


class Identity(NamedTuple):
    """The rows of the nodes, the column that names them, and why it is this one where its name does not say so."""

    table: Table
    column: str
    reason: str = ""


def identify(
    title: str, names: Sequence[str], read: Callable[[Sequence[str]], Table], ends: Sequence[Coded], wishes: Wishes
) -> Identity:
    """Read the table and find its ids: asked for, usually called so, or else different and with every end of an edge.

    The usual column gives way to one that fits where it does not fit itself; where none does, it stays, to be
    complained about by whoever looks up the ends.
    """
    usual, certain = id_column(title, names, wishes)
    if certain:
        table = read(node_columns(title, names, wishes, usual).names)
        if wishes.id is not None or _fits(table, usual, ends):
            return Identity(table, usual)
    table = read([name for name in names if name not in wishes.drop and names.count(name) == 1])
    fitting = [name for name in table.names if name != wishes.label and _fits(table, name, ends)]
    # The index of a data frame is there unasked.
    fitting = [name for name in fitting if not is_unnamed(name)] or fitting
    different = [name for name in fitting if words_of(table, name) != words_of(table, fitting[0])]
    if different:
        raise PcnetError(
            f"{title} has two columns with every end of the edges, '{fitting[0]}' and '{different[0]}'; "
            "say which names the nodes (id)."
        )
    if not fitting or usual in fitting:
        return Identity(table, usual)
    contrast = f", '{usual}' has not" if certain else ""
    return Identity(table, fitting[0], f" (it has every end of the edges{contrast})")


def _fits(table: Table, column: str, ends: Sequence[Coded]) -> bool:
    """Whether every row has a name of its own and every end of an edge is one of them."""
    words = words_of(table, column)
    return len(words) == table.rows and all(map(set(words).issuperset, (end.words for end in ends)))
