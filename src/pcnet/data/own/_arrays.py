"""Graphs that are arrays already: PyG's `Data`, SciPy's matrices, `.npz` files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._build import assemble, check_structural, unlabelled
from pcnet.data.own._cells import LARGEST, Cells, Coded, Table, listed, word_of
from pcnet.data.own._features import join
from pcnet.data.own._labels import Classes, read_ids, read_labels
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._readers import reader
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


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays by the names of `_NAMES`, and `train_masks`, `val_masks`, `test_masks` with a row for each split.

    `title` is what sentences call them, `nodes` how many there are where that is known.
    """

    title: str
    named: Mapping[str, Any]
    nodes: int | None = None

    @staticmethod
    def of_matrix(adjacency: Any, x: Any = None, y: Any = None) -> Arrays:
        """A sparse matrix, whose entries are weights."""
        matrix = scipy.sparse.coo_matrix(adjacency)
        if matrix.shape[0] != matrix.shape[1]:
            raise PcnetError(f"The adjacency matrix has shape {matrix.shape}; it must be square.")
        weight = None if np.all(matrix.data == 1) else matrix.data
        index = np.stack([matrix.row, matrix.col])
        return Arrays("A matrix", {"edges": index, "weight": weight, "x": x, "y": y}, matrix.shape[0])

    @staticmethod
    def of_pyg(data: Any) -> Arrays:
        """PyG's `Data`."""
        if not isinstance(getattr(data, "edge_index", None), Tensor):
            raise PcnetError("The data has no edge_index; give a torch_geometric.data.Data of one graph.")
        sought = {"edges": "edge_index", "x": "x", "y": "y", "weight": "edge_weight"}
        found = {key: getattr(data, name, None) for key, name in sought.items()}
        named = {key: value.detach().cpu().numpy() for key, value in found.items() if isinstance(value, Tensor)}
        masks = {f"{part}_masks": getattr(data, f"{part}_mask", None) for part in _PARTS}
        named |= {key: mask.cpu().numpy().T for key, mask in masks.items() if isinstance(mask, Tensor)}
        return Arrays("PyG's Data", named, data.num_nodes)


@reader(".npz")
def open_npz(path: Path) -> Arrays:
    """An `.npz` of plain arrays; Python objects in it are refused, never run.

    `edge_index` (2 × m) or `edges` (m × 2); optional `x`, `y`, `edge_weight`, `ids`, `classes` (names that y numbers),
    and `train_masks`, `val_masks`, `test_masks` (one row a split).
    """
    masks = {f"{part}_masks": (f"{part}_masks",) for part in _PARTS}
    named: dict[str, NDArray | None] = {}
    # Opened here, because NumPy leaves a damaged archive open.
    with path.open("rb") as stream:
        stored = np.load(stream, allow_pickle=False)
        if not isinstance(stored, np.lib.npyio.NpzFile):
            raise PcnetError(f"{path} holds one array; a graph needs at least edge_index and x or y.")
        with stored:
            for key, names in (_NAMES | masks).items():
                known = next((name for name in names if name in stored.files), None)
                named[key] = None if known is None else stored[known]
                if known == "edges" and stored[known].ndim == 2:
                    named[key] = stored[known].T
    if named["edges"] is None:
        raise PcnetError(f"{path} has no array edge_index (2 × m) or edges (m × 2).")
    return Arrays(str(path), named)


def graph_of_arrays(name: str, arrays: Arrays, options: ReadOptions) -> Graph:
    """The graph of arrays, which have no columns to choose from."""
    if options.columns:
        raise PcnetError(f"{arrays.title} holds arrays, which have no columns: leave out {', '.join(options.columns)}.")
    named, nodes = arrays.named, arrays.nodes
    index = _whole(np.asarray(named["edges"]), "edge_index")
    if nodes is None:
        sized = [named[key] for key in ("x", "y", "ids") if named.get(key) is not None]
        nodes = int(sized[0].shape[0]) if sized and np.ndim(sized[0]) else int(index.max(initial=-1)) + 1
    weight = None if named.get("weight") is None else _numbers(named["weight"], "edge_weight")
    check_edges(torch.from_numpy(index), nodes, None if weight is None else torch.from_numpy(weight))
    notes: list[str] = []
    y, classes = _labels(named, nodes, options, notes)
    x, schema = _features(named.get("x"), nodes, options.schema)
    ids = None if named.get("ids") is None else read_ids(_cells(named["ids"], "ids", nodes))[0]
    more = {"name": name, "ids": ids, "classes": classes, "fixed_splits": _splits(named, nodes)}
    return assemble(index, weight, x, schema, y, options, notes, **more)


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


def _labels(
    arrays: Mapping[str, Any], nodes: int, options: ReadOptions, notes: list[str]
) -> tuple[Tensor, Classes | None]:
    y, names = arrays.get("y"), arrays.get("classes")
    if y is None:
        return unlabelled(nodes, options)
    y = np.asarray(y)
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


def _splits(arrays: Mapping[str, Any], nodes: int) -> tuple[tuple[Tensor, ...], ...]:
    masks = [arrays.get(f"{part}_masks") for part in _PARTS]
    if any(mask is None for mask in masks):
        return ()
    stacked = [np.atleast_2d(np.asarray(mask)).astype(bool) for mask in masks]
    if any(mask.shape != (len(stacked[0]), nodes) for mask in stacked):
        raise PcnetError(f"The masks of the splits have shape {stacked[0].shape}; give a row of {nodes} a split.")
    parts = zip(*stacked, strict=True)
    return tuple(tuple(torch.from_numpy(np.flatnonzero(mask)) for mask in split) for split in parts)
