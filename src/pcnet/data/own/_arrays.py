"""Graphs that are arrays already: PyG's `Data`, SciPy's matrices, `.npz` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data._reading import reading
from pcnet.data.own._build import Splits, assemble, check_structural, unlabelled, whole_array
from pcnet.data.own._coded import Coded, word_of
from pcnet.data.own._columns import listed
from pcnet.data.own._csv import ADVICE
from pcnet.data.own._encode import join
from pcnet.data.own._ends import Ends
from pcnet.data.own._labels import Classes, read_ids, read_labels
from pcnet.data.own._roles import Wishes
from pcnet.data.own._table import LARGEST, Table
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Column, Graph, Schema, check_edges

#: Arrays of an `.npz`, first the names of this package, then others that are read as well.
_NAMES = {
    "edges": ("edge_index", "edges"),
    "x": ("x", "features", "node_features"),
    "y": ("y", "labels", "node_labels"),
    "weight": ("edge_weight",),
    "ids": ("ids",),
    "classes": ("classes",),
}
_PARTS = ("train", "val", "test")


def graph_from_scipy(
    adjacency: Any,
    x: Any = None,
    y: Any = None,
    *,
    directed: bool = False,
    schema: Schema | None = None,
    classes: tuple[str | int, ...] | None = None,
    name: str = "graph",
) -> Graph:
    """The graph of a sparse matrix: entry (i, j) is the weight of the edge from i to j.

    x is an n × F array or sparse matrix, y one label a node (whole numbers or strings; −1, NaN or "" is unknown).
    """
    wishes = Wishes(directed=directed, schema=schema, classes=classes)
    return read_scipy(name, adjacency, wishes, x, y)


def read_scipy(name: str, adjacency: Any, wishes: Wishes, x: Any = None, y: Any = None) -> Graph:
    """The same with wishes."""
    _refuse_columns("A matrix", wishes)
    matrix = scipy.sparse.coo_matrix(adjacency)
    if matrix.shape[0] != matrix.shape[1]:
        raise PcnetError(f"The adjacency matrix has shape {matrix.shape}; it must be square.")
    weight = None if np.all(matrix.data == 1) else matrix.data
    index = np.stack([matrix.row, matrix.col])
    return _graph(name, {"edges": index, "weight": weight, "x": x, "y": y}, wishes, nodes=matrix.shape[0])


def graph_from_pyg(
    data: Any,
    *,
    directed: bool = False,
    schema: Schema | None = None,
    classes: tuple[str | int, ...] | None = None,
    name: str = "graph",
) -> Graph:
    """The graph of PyG's `Data`: edge_index, and where there are any x, y, edge_weight and masks of splits."""
    return read_pyg(name, data, Wishes(directed=directed, schema=schema, classes=classes))


def read_pyg(name: str, data: Any, wishes: Wishes) -> Graph:
    """The same with wishes."""
    _refuse_columns("PyG's Data", wishes)
    found = {key: getattr(data, key, None) for key in ("edge_index", "x", "y", "edge_weight")}
    if not isinstance(found["edge_index"], Tensor):
        raise PcnetError("The data has no edge_index; give a torch_geometric.data.Data of one graph.")
    arrays = {key: value.detach().cpu().numpy() for key, value in found.items() if isinstance(value, Tensor)}
    named = {key: arrays.get(names[0]) for key, names in _NAMES.items()}
    masks = {f"{part}_masks": getattr(data, f"{part}_mask", None) for part in _PARTS}
    named |= {key: mask.cpu().numpy().T for key, mask in masks.items() if isinstance(mask, Tensor)}
    return _graph(name, named, wishes, nodes=data.num_nodes)


def read_npz(path: Path, wishes: Wishes) -> Graph:
    """The graph in an `.npz` of plain arrays; Python objects in it are refused, never run.

    `edge_index` (2 × m) or `edges` (m × 2); optional `x`, `y`, `edge_weight`, `ids`, `classes` (names that y numbers),
    and `train_masks`, `val_masks`, `test_masks` (one row a split).
    """
    _refuse_columns(str(path), wishes)
    masks = {f"{part}_masks": (f"{part}_masks",) for part in _PARTS}
    arrays: dict[str, NDArray | None] = {}
    # Opened here, because NumPy leaves a damaged archive open.
    with reading(path, ADVICE), path.open("rb") as stream:
        stored = np.load(stream, allow_pickle=False)
        if not isinstance(stored, np.lib.npyio.NpzFile):
            raise PcnetError(f"{path} holds one array; a graph needs at least edge_index and x or y.")
        with stored:
            for key, names in (_NAMES | masks).items():
                known = next((name for name in names if name in stored.files), None)
                arrays[key] = None if known is None else stored[known]
                if known == "edges" and stored[known].ndim == 2:
                    arrays[key] = stored[known].T
    if arrays["edges"] is None:
        raise PcnetError(f"{path} has no array edge_index (2 × m) or edges (m × 2).")
    with reading(path, ADVICE):
        return _graph(path.stem, arrays, wishes)


def _refuse_columns(what: str, wishes: Wishes) -> None:
    if wishes.columns:
        raise PcnetError(f"{what} holds arrays, which have no columns: leave out {', '.join(wishes.columns)}.")


def _graph(name: str, arrays: dict[str, Any], wishes: Wishes, nodes: int | None = None) -> Graph:
    index = whole_array(np.asarray(arrays["edges"]), "edge_index")
    sized = [arrays[key] for key in ("x", "y", "ids") if arrays.get(key) is not None]
    if nodes is None:
        nodes = int(sized[0].shape[0]) if sized and np.ndim(sized[0]) else int(index.max(initial=-1)) + 1
    weight = None if arrays.get("weight") is None else _numbers(arrays["weight"], "edge_weight")
    checked = None if weight is None else torch.from_numpy(weight)
    check_edges(torch.from_numpy(index), nodes, checked)
    ids = arrays.get("ids")
    notes: list[str] = []
    y, classes = _labels(arrays, nodes, wishes, notes)
    x, schema = _features(arrays.get("x"), nodes, wishes.schema)
    return assemble(
        name,
        Ends(index[0], index[1], weight),
        x,
        schema,
        y,
        classes,
        wishes,
        notes,
        ids=None if ids is None else read_ids(_column(ids, "ids", nodes), "ids")[0],
        splits=_splits(arrays, nodes),
    )


def _features(x: Any, nodes: int, schema: Schema | None) -> tuple[Tensor | CSR | None, Schema]:
    """x as it is; a matrix is one column of lists."""
    if schema is not None:
        check_structural(schema)
    if x is None:
        if schema is not None:
            raise PcnetError("The graph has no features; the classifier was trained with some.")
        return None, Schema(())
    sparse = scipy.sparse.issparse(x)
    block = scipy.sparse.csr_matrix(x) if sparse else np.asarray(x)
    _numbers(block.data if sparse else block, "x")
    if block.ndim != 2 or block.shape[0] != nodes or not block.shape[1]:
        raise PcnetError(f"The features have shape {block.shape}; give a row for each of {nodes} nodes.")
    if schema is not None and [(column.kind, column.width) for column in schema.columns] != [
        ("vector", block.shape[1])
    ]:
        raise PcnetError(
            f"The graph has one array of {block.shape[1]} features; the classifier was trained with "
            f"{listed([f'{column.name} ({column.width})' for column in schema.columns])}."
        )
    return join([block]), schema or Schema((Column("x", "vector", width=block.shape[1]),))


def _labels(arrays: dict[str, Any], nodes: int, wishes: Wishes, notes: list[str]) -> tuple[Tensor, Classes | None]:
    y, names = arrays.get("y"), arrays.get("classes")
    if y is None:
        return unlabelled(nodes, wishes)
    y = np.asarray(y)
    if y.shape == (nodes, 1):
        y = y[:, 0]
    known = wishes.classes
    if names is not None:
        places = np.append(np.asarray(names).ravel().astype(str), "")
        y = whole_array(y, "y")
        if ((y < -1) | (y >= len(places) - 1)).any():
            raise PcnetError(f"y numbers classes from −1 to {int(y.max())}, but {len(places) - 1} have names.")
        y, known = places[y], known or tuple(places[:-1].tolist())
    elif y.dtype.kind in "if":
        y = np.where((y == -1) | np.isnan(y), "", y.astype(str))
    return read_labels(_column(y, "y", nodes), "y", known, notes)


def _column(values: Any, name: str, nodes: int) -> Table:
    values = np.asarray(values)
    if values.dtype == object:
        values = np.array([word_of(value) for value in values.ravel()]).reshape(values.shape)
    if values.shape != (nodes,) or values.dtype.kind not in "iufbU":
        raise PcnetError(f"{name} is {values.dtype} of shape {values.shape}; give one word or number for each node.")
    coded = Coded.of(values.astype(str).tolist(), text=values.dtype.kind == "U" and name == "ids")
    return Table("the graph", {name: coded}, nodes, lambda row: f"node {row}")


def _numbers(values: Any, what: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iufb":
        raise PcnetError(f"{what} must hold numbers, not {array.dtype}.")
    if not (np.abs(array.astype(np.float64)) <= LARGEST).all():
        raise PcnetError(f"{what} holds NaN, infinite or huge values; replace or drop them first.")
    return array.astype(np.float64)


def _splits(arrays: dict[str, Any], nodes: int) -> Splits:
    masks = [arrays.get(f"{part}_masks") for part in _PARTS]
    if any(mask is None for mask in masks):
        return ()
    stacked = [np.atleast_2d(np.asarray(mask)).astype(bool) for mask in masks]
    if any(mask.shape != (len(stacked[0]), nodes) for mask in stacked):
        raise PcnetError(f"The masks of the splits have shape {stacked[0].shape}; give a row of {nodes} a split.")
    parts = zip(*stacked, strict=True)
    return tuple(tuple(torch.from_numpy(np.flatnonzero(mask)) for mask in split) for split in parts)  # type: ignore[misc]
