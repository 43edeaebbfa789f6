"""Graphs that are objects of other libraries, as tables or as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pcnet.data.own._frames import Frame, is_frame
from pcnet.data.own._read import read_graph
from pcnet.data.own._roles import Wishes, collection
from pcnet.data.own._sources import Tables
from pcnet.data.own._tables import graph_of_tables
from pcnet.errors import PcnetError
from pcnet.graph import Graph, Kind, Schema


def graph_from_pandas(
    edges: Any,
    nodes: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    label: str | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    directed: bool = False,
    schema: Schema | None = None,
    classes: Sequence[str | int] | None = None,
    name: str = "graph",
) -> Graph:
    """The graph of two data frames, of pandas, polars, pyarrow or whatever hands out columns through Arrow.

        >>> graph_from_pandas(links, people, label="sport").num_nodes     # doctest: +SKIP
        160

    Columns mean what they mean in files (see `read_graph`); the index of pandas is one of them.
    """
    wishes = Wishes(source, target, weight, id, label, collection(drop), kinds or {}, directed, schema, classes)
    for role, table in (("edges", edges), ("nodes", nodes)):
        if not is_frame(table) and not (table is None and role == "nodes"):
            raise PcnetError(f"{role} is of type {type(table).__name__}; give a data frame (pandas, polars, pyarrow).")
    named = None if nodes is None else Frame.of(nodes, "nodes")
    return graph_of_tables(name, Tables(Frame.of(edges, "edges"), named), wishes)


def as_graph(value: Any, *, schema: Schema | None = None, classes: Sequence[str | int] | None = None) -> Graph:
    """The graph that a value is or holds: a `Graph`, whatever `read_graph` takes, or a pair of edges and nodes.

    With the schema and the classes of a trained classifier it is read as the graph of the training was.
    """
    if isinstance(value, Graph):
        return value
    if isinstance(value, tuple):
        if len(value) != 2:
            raise PcnetError(f"A tuple of {len(value)} is no graph; give a pair of data frames, edges and nodes.")
        return read_graph(value[0], nodes=value[1], schema=schema, classes=classes)
    return read_graph(value, schema=schema, classes=classes)
