"""A graph from tables, whatever holds them: files or data frames."""

from __future__ import annotations

from collections.abc import Sequence

from pcnet.data.own._build import graph_of_table
from pcnet.data.own._ends import Ends, nodes_of, read_weight
from pcnet.data.own._nodes import read_nodes
from pcnet.data.own._roles import Wishes, edge_columns
from pcnet.data.own._sources import Tables
from pcnet.graph import Graph


def graph_of_tables(name: str, tables: Tables, wishes: Wishes, notes: Sequence[str] = ()) -> Graph:
    """Read edges and nodes, and look up the ends of the edges among the nodes."""
    tables.check(wishes)
    roles = edge_columns(tables.edges.title, tables.edges.names, wishes)
    said = [*notes, *(note for source in tables.sources for note in source.notes), *roles.notes]
    edges = tables.rows(tables.edges, roles.names)
    nodes = read_nodes(tables, [edges.coded(column) for column in (roles.source, roles.target)], wishes, said)
    title = (tables.main or tables.edges).title
    source, target = (nodes_of(edges, column, nodes.places, title) for column in (roles.source, roles.target))
    weight = None if roles.weight is None else read_weight(edges, roles.weight)
    return graph_of_table(name, nodes.table, nodes.columns, nodes.ids, Ends(source, target, weight), nodes.wishes, said)
