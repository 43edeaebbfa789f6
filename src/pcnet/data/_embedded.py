"""CiteSeer inside the package, so that everything runs without a network. `citeseer.txt` tells its source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse

from pcnet.data._raw import Raw
from pcnet.data._reading import reading

PATH = Path(__file__).with_name("citeseer.npz")


def pack(raw: Raw) -> dict[str, np.ndarray]:
    """Small arrays from which `unpack` rebuilds a graph with 0/1 features.

    Ascending ids are stored as steps within a row, which deflate shrinks well: the columns of each node's
    features, and the neighbours j ≥ i of each node i.
    """
    x = scipy.sparse.csr_matrix(raw.x, copy=True)
    x.sum_duplicates()
    if not np.all(x.data == 1):
        raise ValueError("only 0/1 features can be packed")
    nodes = len(raw.y)
    low, high = np.minimum(raw.source, raw.target), np.maximum(raw.source, raw.target)
    low, high = np.divmod(np.unique(low * nodes + high), nodes)
    return {
        "y": raw.y.astype(np.int8),
        "num_features": np.array(x.shape[1], dtype=np.uint16),
        "row_lengths": np.diff(x.indptr).astype(np.uint8),
        "column_steps": _steps(x.indices, x.indptr),
        "degrees": np.bincount(low, minlength=nodes).astype(np.uint8),
        "neighbour_steps": _steps(high, np.searchsorted(low, np.arange(nodes + 1))),
    }


def unpack(stored: dict[str, np.ndarray]) -> Raw:
    """Undo `pack`: 0/1 features, labels, and every edge once, native loops among them."""
    y = stored["y"].astype(np.int64)
    start, degrees = _starts(stored["row_lengths"]), _starts(stored["degrees"])
    columns = _sums(stored["column_steps"], start)
    x = scipy.sparse.csr_matrix((np.ones(len(columns)), columns, start), shape=(len(y), int(stored["num_features"])))
    return Raw(x, y, np.repeat(np.arange(len(y)), np.diff(degrees)), _sums(stored["neighbour_steps"], degrees))


def read_embedded() -> Raw:
    """The embedded CiteSeer, as `read_planetoid` reads it from raw files."""
    with reading(PATH), PATH.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        return unpack(dict(stored))


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _steps(ids: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Differences of `ids`, each row's first id measured from zero."""
    steps = np.diff(ids, prepend=0).astype(np.int64)
    first = start[:-1][np.diff(start) > 0]
    steps[first] = ids[first]
    return steps.astype(np.uint16)


def _sums(steps: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Undo `_steps`: running sums that begin anew in each row."""
    total = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    return total[1:] - np.repeat(total[start[:-1]], np.diff(start))
