"""Graphs as other libraries hold them: PyG's Data, SciPy's matrices, arrays of an .npz, NetworkX (and GraphML)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._build import Features, assemble, graph_of_nodes, join, not_structural, read_weight, unlabelled
from pcnet.data.own._cells import LARGEST, Cells, Coded, Table, shortened, word_of
from pcnet.data.own._columns import ReadOptions, check_drop, listed, node_columns
from pcnet.data.own._nodes import Classes, Nodes, read_ids, read_labels
from pcnet.data.own._readers import check_unpacked, reader
from pcnet.errors import PcnetError
from pcnet.graph import Column, Graph, Schema, check_edges

#: Arrays of an `.npz`, first the names of this package, then others that are read as well.
_NAMES = {
    "edges": ("edge_index", "edges"),
    "x": ("x", "features", "node_features"),
    "y": ("y", "labels", "node_labels"),
    "weight": ("edge_weight",),
    "ids": ("ids",),
    "classes": ("classes",),
}
#: Nodes that are believed where only the edges say how many there are: for each end of one, and in any case.
_NODES_AN_END, _FEW_NODES = 10, 10_000
#: The column that holds the nodes themselves; no attribute is called so.
_NODE = "(node)"


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of a graph, each where there is one; `masks` are those of train, val and test with a row for each split.

    `title` is what sentences call them, `nodes` how many there are where that is known.
    """

    title: str
    edges: Any
    x: Any = None
    y: Any = None
    weight: Any = None
    ids: Any = None
    classes: Any = None
    masks: Sequence[Any] = (None,)
    nodes: int | None = None

    @staticmethod
    def of_matrix(adjacency: Any, x: Any = None, y: Any = None) -> Arrays:
        """A sparse matrix, whose entries are weights."""
        matrix = scipy.sparse.coo_matrix(adjacency)
        if matrix.shape[0] != matrix.shape[1]:
            raise PcnetError(f"The adjacency matrix has shape {matrix.shape}; it must be square.")
        weight = None if np.all(matrix.data == 1) else matrix.data
        return Arrays("A matrix", np.stack([matrix.row, matrix.col]), x, y, weight, nodes=matrix.shape[0])

    @staticmethod
    def of_pyg(data: Any) -> Arrays:

        def array(name: str) -> NDArray | None:
            value = getattr(data, name, None)
            return value.detach().cpu().numpy() if isinstance(value, Tensor) else None

        edges = array("edge_index")
        if edges is None:
            raise PcnetError("The data has no edge_index; give a torch_geometric.data.Data of one graph.")
        masks = [None if mask is None else mask.T for mask in map(array, ("train_mask", "val_mask", "test_mask"))]
        return Arrays(
            "PyG's Data", edges, array("x"), array("y"), array("edge_weight"), masks=masks, nodes=data.num_nodes
        )


@reader(".npz")
def open_npz(path: Path) -> Arrays:
    """An `.npz` of plain arrays; Python objects in it are refused, never run.

    `edge_index` (2 × m) or `edges` (m × 2); optional `x`, `y`, `edge_weight`, `ids`, `classes` (names that y numbers),
    and `train_masks`, `val_masks`, `test_masks` (one row a split).
    """
    # Opened here, because NumPy leaves a damaged archive open.
    with path.open("rb") as stream:
        stored = np.load(stream, allow_pickle=False)
        if not isinstance(stored, np.lib.npyio.NpzFile):
            raise PcnetError(f"{path} holds one array; a graph needs at least edge_index and x or y.")
        with stored:
            # No more is ever unpacked than the archive says of itself.
            archive: Any = stored.zip
            check_unpacked(path, sum(entry.file_size for entry in archive.infolist()))
            known = {key: next(filter(stored.files.__contains__, names), None) for key, names in _NAMES.items()}
            named: dict[str, Any] = {key: name and stored[name] for key, name in known.items()}
            masks = [stored.get(f"{part}_masks") for part in ("train", "val", "test")]
    if named["edges"] is None:
        raise PcnetError(f"{path} has no array edge_index (2 × m) or edges (m × 2).")
    if known["edges"] == "edges" and named["edges"].ndim == 2:
        named["edges"] = named["edges"].T
    return Arrays(str(path), **named, masks=masks)


def graph_of_arrays(name: str, arrays: Arrays, options: ReadOptions) -> Graph:
    """The graph of arrays, which have no columns to choose from."""
    if options.columns:
        raise PcnetError(f"{arrays.title} holds arrays, which have no columns: leave out {', '.join(options.columns)}.")
    nodes, index = arrays.nodes, _whole(np.asarray(arrays.edges), "edge_index")
    if nodes is None:
        sized = [values for values in (arrays.x, arrays.y, arrays.ids) if np.ndim(values)]
        nodes = len(sized[0]) if sized else int(index.max(initial=-1)) + 1
        if not sized and nodes > _NODES_AN_END * index.size + _FEW_NODES:
            raise PcnetError(
                f"{arrays.title} has an edge to node {nodes - 1:,} and only {index.size // 2:,} edges; number the "
                "nodes without gaps, or say how many there are by x, y or ids."
            )
    weight = None if arrays.weight is None else _numbers(arrays.weight, "edge_weight")
    check_edges(torch.from_numpy(index), nodes, None if weight is None else torch.from_numpy(weight))
    notes: list[str] = []
    y, classes = _labels(arrays, nodes, options, notes)
    x, schema = _features(arrays.x, nodes, not_structural(options.schema))
    ids = None if arrays.ids is None else read_ids(_cells(arrays.ids, "ids", nodes))[0]
    more = {"name": name, "ids": ids, "classes": classes, "fixed_splits": _splits(arrays.masks, nodes)}
    return assemble(index, weight, x, schema, y, options.directed, notes, **more)


def _features(x: Any, nodes: int, schema: Schema | None) -> tuple[Features, Schema]:
    """x as it is; a matrix is one column of lists."""
    if x is None:
        if schema is not None:
            raise PcnetError("The graph has no features; the classifier was trained with some.")
        return None, Schema(())
    sparse = scipy.sparse.issparse(x)
    block = scipy.sparse.csr_matrix(x) if sparse else np.asarray(x)
    _numbers(block.data if sparse else block, "x")
    if block.ndim != 2 or block.shape[0] != nodes or not block.shape[1]:
        raise PcnetError(f"The features have shape {block.shape}; give a row for each of {nodes} nodes.")
    width = block.shape[1]
    if schema is not None and [(column.kind, column.width) for column in schema.columns] != [("vector", width)]:
        raise PcnetError(
            f"The graph has one array of {width} features; the classifier was trained with "
            f"{listed([f'{column.name} ({column.width})' for column in schema.columns])}."
        )
    return join([block]), schema or Schema((Column("x", "vector", width=width),))


def _labels(arrays: Arrays, nodes: int, options: ReadOptions, notes: list[str]) -> tuple[Tensor, Classes | None]:
    if arrays.y is None:
        return unlabelled(nodes, options)
    y, names = np.asarray(arrays.y), arrays.classes
    if y.shape == (nodes, 1):
        y = y[:, 0]
    known = options.classes
    if names is not None:
        places = np.append(np.asarray(names).ravel().astype(str), "")
        y = _whole(y, "y")
        if ((y < -1) | (y >= len(places) - 1)).any():
            raise PcnetError(f"y numbers classes from −1 to {int(y.max())}, but {len(places) - 1} have names.")
        y, known = places[y], known or tuple(places[:-1].tolist())
    elif y.dtype.kind in "if":
        y = np.where((y == -1) | np.isnan(y), "", y.astype(str))
    return read_labels(_cells(y, "y", nodes), known, notes)


def _cells(values: Any, name: str, nodes: int) -> Cells:
    values = np.asarray(values)
    if values.dtype == object:
        values = np.array([word_of(value) for value in values.ravel()]).reshape(values.shape)
    if values.shape != (nodes,) or values.dtype.kind not in "iufbU":
        raise PcnetError(f"{name} is {values.dtype} of shape {values.shape}; give one word or number for each node.")
    coded = Coded.of(values.astype(str).tolist(), text=values.dtype.kind == "U" and name == "ids")
    return Table.of_words("the graph", {name: coded}, nodes, "node {}".format).columns[name]


def _numbers(values: Any, what: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iufb":
        raise PcnetError(f"{what} must hold numbers, not {array.dtype}.")
    if not (np.abs(array.astype(np.float64)) <= LARGEST).all():
        raise PcnetError(f"{what} holds NaN, infinite or huge values; replace or drop them first.")
    return array.astype(np.float64)


def _whole(values: NDArray, what: str) -> NDArray[np.int64]:
    """`values` as 64-bit integers, if they are whole numbers."""
    if values.dtype.kind == "f" and np.isfinite(values).all() and (np.abs(values) < 2**53).all():
        whole = values.astype(np.int64)
        if (whole == values).all():
            return whole
    if values.dtype.kind not in "iu" or (values.dtype == np.uint64 and (values > 2**63 - 1).any()):
        raise PcnetError(f"{what} must hold whole numbers, not {values.dtype}.")
    return values.astype(np.int64)


def _splits(masks: Sequence[Any], nodes: int) -> tuple[tuple[Tensor, ...], ...]:
    if any(mask is None for mask in masks):
        return ()
    stacked = [np.atleast_2d(np.asarray(mask)).astype(bool) for mask in masks]
    if any(mask.shape != (len(stacked[0]), nodes) for mask in stacked):
        raise PcnetError(f"The masks of the splits have shape {stacked[0].shape}; give a row of {nodes} a split.")
    parts = zip(*stacked, strict=True)
    return tuple(tuple(torch.from_numpy(np.flatnonzero(mask)) for mask in split) for split in parts)


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
    links = list(graph.edges(data=weight, default=None))
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
    """A GraphML file. Document types are refused: they can make a small file a huge one.

    So are edges between nodes that are not there, of which NetworkX would make some.
    """
    import networkx  # slow to import, needed only here

    def refuse(*_: object) -> None:
        raise PcnetError(f"{path} declares a document type, which GraphML does not need; remove the DOCTYPE.")

    nodes, ends = set[str | None](), dict[str | None, None]()

    def collect(name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition("}")[2]
        if kind == "node":
            if attributes.get("id") in nodes:
                raise PcnetError(f"{path} has two nodes {attributes.get('id')!r}; every node needs an id of its own.")
            nodes.add(attributes.get("id"))
        elif kind == "edge":
            ends.update({attributes.get("source"): None, attributes.get("target"): None})

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, collect
    with path.open("rb") as stream:
        parser.ParseFile(stream)
    if lost := [end for end in ends if end not in nodes]:
        raise PcnetError(f"{path} has an edge to {lost[0]!r}, and no node of that id; add the node or remove the edge.")
    return networkx.read_graphml(path)


def _node_table(graph: Any) -> Table:
    """A column for each attribute that any node has."""
    if not graph.number_of_nodes():
        raise PcnetError("The graph has no nodes.")
    attributes = dict(graph.nodes(data=True))
    order = list(attributes)
    words = {_NODE: Coded.of(map(word_of, order), text=any(isinstance(node, str) for node in order))}
    # Attributes may have names that are no strings.
    for name, key in {str(key): key for content in attributes.values() for key in content}.items():
        words[name] = Coded.of(word_of(content.get(key)) for content in attributes.values())
    return Table.of_words("the graph", words, len(order), lambda row: f"node {shortened(str(order[row]))}")
