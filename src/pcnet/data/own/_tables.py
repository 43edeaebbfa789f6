"""A graph from tables, whatever holds them: files or data frames."""

from __future__ import annotations

from collections.abc import Sequence

from pcnet.data.own._build import graph_of_table
from pcnet.data.own._ends import EdgeTable, Ends, read_weight
from pcnet.data.own._nodes import read_nodes
from pcnet.data.own._roles import Wishes, edge_columns
from pcnet.data.own._sources import Tables
from pcnet.graph import Graph


def graph_of_tables(name: str, tables: Tables, wishes: Wishes, notes: Sequence[str] = ()) -> Graph:
    """Read the edges, the nodes that they join, and everything about these."""
    tables.check(wishes)
    roles = edge_columns(tables.edges.title, tables.edges.names, wishes)
    said = [*notes, *(note for source in tables.sources for note in source.notes), *roles.notes]
    edges = EdgeTable(tables.rows(tables.edges, roles.names), roles.source, roles.target)
    nodes = read_nodes(tables, edges, wishes, said)
    weight = None if roles.weight is None else read_weight(edges.table, roles.weight)
    ends = Ends(nodes.identity.source, nodes.identity.target, weight)
    return graph_of_table(name, nodes.table, nodes.columns, nodes.identity.ids, ends, nodes.wishes, said)
