"""NetworkX graphs, and GraphML through them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from pcnet.data.own._build import graph_of_nodes, read_weight
from pcnet.data.own._cells import Coded, Table, shortened, word_of
from pcnet.data.own._columns import ReadOptions, check_drop, node_columns
from pcnet.data.own._nodes import Nodes, read_ids
from pcnet.data.own._readers import reader
from pcnet.errors import PcnetError
from pcnet.graph import Graph

#: The column that holds the nodes themselves; no attribute is called so.
_NODE = "(node)"


def graph_of_networkx(name: str, graph: Any, options: ReadOptions) -> Graph:
    """The graph of a NetworkX graph, whose nodes are named by themselves."""
    table = _node_table(graph)
    for role in ("source", "target", "id"):
        if getattr(options, role):
            raise PcnetError(f"The graph has nodes and edges of its own, no columns; leave out {role}.")
    columns = node_columns(table.title, [*table.columns], options, _NODE)
    check_drop(options.drop, [*table.columns, "weight"])
    ids, places = read_ids(table.columns[_NODE])
    weight = options.weight or ("weight" if "weight" not in options.drop else None)
    links = list(graph.edges(data=weight, default=None)) if weight else [(*ends, None) for ends in graph.edges()]
    ends = np.array([[places[word_of(link[end])] for link in links] for end in (0, 1)], dtype=np.int64)
    weights = None
    if weight and any(link[2] is not None for link in links):
        # An edge without a weight among weighted ones is a mistake that the table reports.
        words = {weight: Coded.of(word_of(link[2]) for link in links)}
        edges = Table.of_words("the graph's edges", words, len(links), lambda row: "{}–{}".format(*links[row]))
        weights = read_weight(edges.columns[weight])
    elif options.weight:
        raise PcnetError(f"No edge of the graph has the attribute '{options.weight}' for its weight.")
    return graph_of_nodes(name, Nodes(table, ids, places, ends), columns, weights, options)


@reader(".graphml")
def open_graphml(path: Path) -> Any:
    """A GraphML file. Document types are refused: they can make a small file a huge one."""
    import networkx  # slow to import, needed only here

    def refuse(*_: object) -> None:
        raise PcnetError(f"{path} declares a document type, which GraphML does not need; remove the DOCTYPE.")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    with path.open("rb") as stream:
        parser.ParseFile(stream)
    return networkx.read_graphml(path)


def _node_table(graph: Any) -> Table:
    """A column for each attribute that any node has."""
    if not graph.number_of_nodes():
        raise PcnetError("The graph has no nodes.")
    attributes = dict(graph.nodes(data=True))
    order = list(attributes)
    words = {_NODE: Coded.of(map(word_of, order), text=any(isinstance(node, str) for node in order))}
    for name in dict.fromkeys(str(name) for content in attributes.values() for name in content):
        words[name] = Coded.of(word_of(content.get(name)) for content in attributes.values())
    return Table.of_words("the graph", words, len(order), lambda row: f"node {shortened(str(order[row]))}")
