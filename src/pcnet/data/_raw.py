"""The raw files of the named datasets as their sources publish them; pickles among them are read as data, never run."""

from __future__ import annotations

import _codecs
import io
import pickle
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse

from pcnet.data._catalogue import EDGES, NODES, PARTS
from pcnet.data.own._readers import damaged, reading
from pcnet.errors import PcnetError

#: CiteSeer inside the package, so that everything runs without a network; `citeseer.txt` says where it comes from.
EMBEDDED_FILE = Path(__file__).with_name("citeseer.npz")
_GENDER = 1

#: (train, val, test) as arrays of node ids.
Ids = tuple[np.ndarray, np.ndarray, np.ndarray]


class Raw(NamedTuple):
    """Unnormalised features (n × F), labels (n, −1: none), and the two ends of every listed edge."""

    x: scipy.sparse.csr_matrix
    y: np.ndarray
    source: np.ndarray
    target: np.ndarray


def read_planetoid(folder: Path, name: str) -> Raw:
    """Cora, CiteSeer, PubMed. Node i < |allx| is row i of `allx`; node test.index[j] is row j of `tx`.

    Ids that neither covers (15 in CiteSeer) are nodes without features and without a label.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in PARTS}
    allx, tx = unpickle_csr(path["allx"]), unpickle_csr(path["tx"])
    ally, ty = (_one_hot_labels(path[part]) for part in ("ally", "ty"))
    with reading(path["test.index"]):
        test = np.array(path["test.index"].read_text().split(), dtype=np.int64)
        if not len(test) == tx.shape[0] == len(ty) == len(np.unique(test)) or test.min() < allx.shape[0]:
            raise damaged(path["test.index"], f"{len(test)} ids for {tx.shape[0]} test rows")
    with reading(path["ally"]):
        if len(ally) != allx.shape[0] or allx.shape[1] != tx.shape[1]:
            raise damaged(path["ally"], f"{len(ally)} labels for {allx.shape[0]} rows of features")

    nodes = int(test.max()) + 1
    x = scipy.sparse.vstack([allx, tx]).tocoo()
    node_of_row = np.concatenate([np.arange(allx.shape[0]), test])
    x = scipy.sparse.csr_matrix((x.data, (node_of_row[x.row], x.col)), shape=(nodes, x.shape[1]))
    y = np.full(nodes, -1, dtype=np.int64)
    y[node_of_row] = np.concatenate([ally, ty])

    neighbours = unpickle(path["graph"])
    with reading(path["graph"]):
        lengths = [len(listed) for listed in neighbours.values()]
        source = np.repeat(np.array(list(neighbours), dtype=np.int64), lengths)
        target = np.fromiter(chain.from_iterable(neighbours.values()), dtype=np.int64, count=sum(lengths))
    return Raw(x, y, source, target)


def _one_hot_labels(path: Path) -> np.ndarray:
    """Class of each one-hot row; a row of zeros has none and gets −1."""
    one_hot = unpickle(path)
    with reading(path):
        if one_hot.ndim != 2:
            raise damaged(path, "labels are not one-hot rows")
        return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1).astype(np.int64)


def read_webkb(folder: Path, *, index_lists: bool = False) -> Raw:
    """WebKB and Actor of Geom-GCN. A node's line is `id <tab> features <tab> label`, in any order of ids.

    WebKB writes all 1703 features of a node as 0 or 1; Actor (`index_lists`) lists the columns that are 1.
    """
    path = folder / NODES
    with reading(path):
        table = [line.split("\t") for line in path.read_text().splitlines()[1:]]
        ids = np.array([int(line[0]) for line in table])
        if not np.array_equal(np.sort(ids), np.arange(len(table))):
            raise damaged(path, f"node ids are not 0 to {len(table) - 1}")
        y = np.empty(len(table), dtype=np.int64)
        y[ids] = [int(line[2]) for line in table]
        rows = [np.array(line[1].split(","), dtype=np.int64) for line in table]
        if index_lists:
            columns, width = np.concatenate(rows), max(int(row.max()) for row in rows) + 1
            entries = (np.ones(len(columns)), (np.repeat(ids, [len(row) for row in rows]), columns))
            x = scipy.sparse.csr_matrix(entries, shape=(len(table), width))
            x.sum_duplicates()
            x.data[:] = 1  # a column listed twice is still present once
        else:
            x = scipy.sparse.csr_matrix(np.stack(rows)[np.argsort(ids)])
    path = folder / EDGES
    with reading(path):
        ends = np.array([line.split("\t") for line in path.read_text().splitlines()[1:]], dtype=np.int64)
        source, target = ends.T
    return Raw(x, y, source, target)


def read_facebook(path: Path) -> Raw:
    """Facebook100 of LINKX: label = gender code − 1 (0, missing, becomes −1), all other metadata columns one-hot.

    A column gives one feature for each value that occurs in it, ascending; "missing" (0) is such a value.
    """
    from sklearn.preprocessing import OneHotEncoder  # slow to import, needed only here

    with reading(path):
        content = scipy.io.loadmat(path)
        adjacency = content["A"].tocoo()
        metadata = content["local_info"].astype(np.int64)
        if adjacency.shape != (len(metadata), len(metadata)):
            raise damaged(path, f"{adjacency.shape[0]} nodes in A, {len(metadata)} in local_info")
        x = OneHotEncoder().fit_transform(np.delete(metadata, _GENDER, axis=1))
    return Raw(x, metadata[:, _GENDER] - 1, adjacency.row, adjacency.col)


def read_embedded() -> Raw:
    """The embedded CiteSeer, exactly as `read_planetoid` reads it from raw files.

    Ascending ids are stored as steps within a row, which deflate shrinks well: the columns of each node's features,
    and the neighbours j ≥ i of each node i (every edge once, native loops among them).
    """
    with reading(EMBEDDED_FILE), EMBEDDED_FILE.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        y = stored["y"].astype(np.int64)
        columns, start = _running_sums(stored["column_steps"], stored["row_lengths"])
        target, begin = _running_sums(stored["neighbour_steps"], stored["degrees"])
        shape = (len(y), int(stored["num_features"]))
    x = scipy.sparse.csr_matrix((np.ones(len(columns)), columns, start), shape=shape)
    return Raw(x, y, np.repeat(np.arange(len(y)), np.diff(begin)), target)


def _running_sums(steps: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the steps that begin anew in each row, and where the rows begin."""
    start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    total = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    return total[1:] - np.repeat(total[start[:-1]], np.diff(start)), start


def read_mask_splits(paths: Sequence[Path], num_nodes: int) -> list[Ids]:
    """The node ids in the three masks of each `.npz` file. The masks need not cover all nodes."""
    splits = []
    for path in paths:
        # Opened here, because NumPy leaves a damaged archive open.
        with reading(path), path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            masks = [np.asarray(stored[f"{part}_mask"], dtype=bool) for part in ("train", "val", "test")]
            if any(mask.shape != (num_nodes,) for mask in masks):
                raise damaged(path, f"masks of shape {masks[0].shape} for {num_nodes} nodes")
            train, val, test = (np.flatnonzero(mask) for mask in masks)
            splits.append((train, val, test))
    return splits


def read_object_splits(path: Path, num_nodes: int) -> list[Ids]:
    """Penn94's official splits: `{"train", "valid", "test"}` dictionaries in an `.npy` file of Python objects."""
    stored = unpickle_npy(path)
    with reading(path):
        splits = []
        for split in stored:
            train, val, test = (np.sort(np.asarray(split[part], dtype=np.int64)) for part in ("train", "valid", "test"))
            if any(ids.min() < 0 or ids.max() >= num_nodes for ids in (train, val, test)):
                raise damaged(path, f"node ids beyond the graph's {num_nodes} nodes")
            splits.append((train, val, test))
        return splits


class _CsrState:
    """Stands in for SciPy's `csr_matrix` while unpickling, so that no SciPy code runs on unchecked state."""


# NumPy moved these two functions between releases; its own pickles know where they are.
_ARRAY = np.empty(0).__reduce__()[0]
_SCALAR = np.float64(0).__reduce__()[0]

#: Modules that are private by now (numpy._core, scipy.sparse._csr) have their former names here.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _ARRAY,
    ("numpy.core.multiarray", "scalar"): _SCALAR,
    ("scipy.sparse.csr", "csr_matrix"): _CsrState,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): _codecs.encode,
}


class _Unpickler(pickle.Unpickler):
    """Builds arrays, lists and dictionaries: it resolves the names in the allow-list and no others."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module.replace("._", "."), name]
        except KeyError:
            raise PcnetError(f"the pickle asks for {module}.{name}, which raw graph data never needs") from None


def unpickle(path: Path, skip: int = 0) -> Any:
    """The object pickled in `path` after its first `skip` bytes; strings of Python 2 are read as Latin-1."""
    with reading(path):
        stream = io.BytesIO(path.read_bytes()[skip:])
        with warnings.catch_warnings():
            # Arrays pickled by old NumPy carry 0 where new NumPy wants False.
            warnings.simplefilter("ignore")
            try:
                value = _Unpickler(stream, encoding="latin1").load()
            except PcnetError as error:
                raise PcnetError(f"Refused to read {path}: {error}. Fetch it again from its source.") from None
        return value


def unpickle_csr(path: Path) -> scipy.sparse.csr_matrix:
    """A pickled SciPy matrix in compressed rows, rebuilt (and so checked) from its three arrays."""
    value = unpickle(path)
    with reading(path):
        if not isinstance(value, _CsrState):
            raise damaged(path, "no sparse matrix inside")
        state = vars(value)
        shape = state.get("_shape") or state["shape"]
        return scipy.sparse.csr_matrix((state["data"], state["indices"], state["indptr"]), shape=shape)


def unpickle_npy(path: Path) -> Any:
    """An `.npy` file of Python objects: NumPy's header is skipped and the pickle behind it read safely."""
    with reading(path), path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise damaged(path, f"npy version {version}")
        np.lib.format.read_array_header_1_0(stream)
        start = stream.tell()
    return unpickle(path, skip=start)
