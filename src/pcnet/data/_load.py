"""`load_dataset`: a named graph in the form that the paper's protocol uses, from raw files of its source."""

from __future__ import annotations

import _codecs
import io
import pickle
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.io
import scipy.sparse
import torch
from torch import Tensor

from pcnet.data._catalogue import EDGES, EMBEDDED, NODES, PARTS, Dataset, dataset_named, fetch, find, find_splits
from pcnet.data.own._readers import damaged, reading
from pcnet.errors import PcnetError, warn_once
from pcnet.graph import CSR, Graph, one_way, undirected

Matrix = TypeVar("Matrix", CSR, Tensor)
#: CiteSeer inside the package, so that everything runs without a network; `citeseer.txt` says where it comes from.
EMBEDDED_FILE = Path(__file__).with_name("citeseer.npz")
_GENDER = 1
#: Node ids of train, val and test.
Ids = tuple[Tensor, Tensor, Tensor]


def load_dataset(name: str, root: str | Path | None = None) -> Graph:
    """The dataset `name`: rows of features sum to 1, edges undirected and merged, labels −1 where unknown.

    Raw files are looked for in `root` (else `$PCNET_DATA`), then in the cache; `citeseer` is also inside the
    package; the rest is downloaded into the cache. Native self loops are kept, except in the three Planetoid
    graphs, whose usual loader (PyG's, the paper's too) drops them. WebKB's and Actor's links also come one way, as
    `listed_edges`. An unknown name, a failed download and a damaged file raise a `PcnetError`.

    >>> load_dataset("citeseer").num_nodes
    3327
    """
    dataset = dataset_named(name)
    folder = find(dataset, root)
    inside = folder is None and dataset.name == EMBEDDED
    raw = read_embedded() if inside else _read(dataset, folder or fetch(dataset, root))
    read_splits = read_object_splits if dataset.kind == "facebook" else read_mask_splits
    graph = _build(dataset, raw, [ids for path in find_splits(dataset, root) for ids in read_splits(path, len(raw.y))])
    if dataset.name == "cornell":
        warn_once(dataset.notes[:1])
    return graph


def load_embedded() -> Graph:
    """CiteSeer from inside the package, without looking anywhere else; it has no fixed splits.

    >>> load_embedded().num_classes
    6
    """
    return _build(dataset_named(EMBEDDED), read_embedded())


def _read(dataset: Dataset, root: Path) -> Raw:
    folder = root / dataset.folder / "raw"
    if dataset.kind == "planetoid":
        return read_planetoid(folder, dataset.upstream)
    if dataset.kind == "facebook":
        return read_facebook(dataset.path_in(root, dataset.files[0]) or folder)
    return read_webkb(folder, index_lists=dataset.kind == "actor")


def _build(dataset: Dataset, raw: Raw, splits: Sequence[Ids] = ()) -> Graph:
    y, facts = torch.from_numpy(raw.y), dataset.facts
    if min(raw.source.min(), raw.target.min()) < 0 or max(raw.source.max(), raw.target.max()) >= len(y):
        raise _unlike(dataset, f"an edge to a node beyond its {len(y)} nodes")
    # Whose edges are links from page to page; friendships and, in these files, citations go both ways.
    one_sided = dataset.kind in ("webkb", "actor")
    graph = Graph(
        edge_index=undirected(raw.source, raw.target, len(y), keep_loops=dataset.kind != "planetoid"),
        listed_edges=one_way(raw.source, raw.target, len(y)) if one_sided else None,
        x=normalise_rows(CSR.from_scipy(raw.x, torch.float32)),
        y=y,
        name=dataset.name,
        notes=dataset.notes,
        published_y=y.clamp(min=0) if dataset.name == EMBEDDED else None,
        fixed_splits=tuple(splits),
    )
    # A file cut at the end of a line still parses: compare with the counts the dataset must have.
    for what, count, wanted in (
        ("nodes", graph.num_nodes, facts.nodes),
        ("features", graph.num_features, facts.features),
        ("classes", graph.num_classes, facts.classes),
        ("edges", int((graph.edge_index[0] <= graph.edge_index[1]).sum()), facts.edges + facts.loops),
    ):
        if count != wanted:
            raise _unlike(dataset, f"{count} {what} instead of {wanted}")
    return graph


def _unlike(dataset: Dataset, what: str) -> PcnetError:
    return PcnetError(
        f"{dataset.name} was read with {what}: a raw file is damaged or of another version; "
        "find it with `pcnet data verify` and fetch it again."
    )


def normalise_rows(x: Matrix) -> Matrix:
    """x_ij / Σ_j x_ij: every row sums to 1, rows of zeros stay zero.

    Sums and quotients are taken in float64 and rounded once to the type of `x`. Integers and negative entries are
    refused: a row sum with the latter can be anything, zero included.

    >>> normalise_rows(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))
    tensor([[0.2500, 0.7500],
            [0.0000, 0.0000]])
    """
    values = x.values if isinstance(x, CSR) else x
    if not values.is_floating_point():
        raise PcnetError(f"Features must be floating point to be normalised, not {values.dtype}; call .float() first.")
    if bool((values < 0).any()):
        raise PcnetError("Features hold negative values, so row sums are no scale; standardise the columns instead.")
    if isinstance(x, CSR):
        sums = torch.zeros(x.shape[0], dtype=torch.float64, device=x.device).index_add_(0, x.rows, x.values.double())
        return x.with_values((x.values.double() / sums.masked_fill(sums == 0, 1.0)[x.rows]).to(x.dtype))
    sums = x.sum(1, keepdim=True, dtype=torch.float64)
    return (x.double() / sums.masked_fill(sums == 0, 1.0)).to(x.dtype)


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


def read_mask_splits(path: Path, num_nodes: int) -> list[Ids]:
    """The node ids in the three masks of an `.npz` file. The masks need not cover all nodes."""
    # Opened here, because NumPy leaves a damaged archive open.
    with reading(path), path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        masks = [np.asarray(stored[f"{part}_mask"], dtype=bool) for part in ("train", "val", "test")]
        if any(mask.shape != (num_nodes,) for mask in masks):
            raise damaged(path, f"masks of shape {masks[0].shape} for {num_nodes} nodes")
        train, val, test = (torch.from_numpy(np.flatnonzero(mask)) for mask in masks)
        return [(train, val, test)]


def read_object_splits(path: Path, num_nodes: int) -> list[Ids]:
    """Penn94's official splits: `{"train", "valid", "test"}` dictionaries in an `.npy` file of Python objects."""
    stored, splits = unpickle_npy(path), []
    with reading(path):
        for split in stored:
            parts = [np.sort(np.asarray(split[part], dtype=np.int64)) for part in ("train", "valid", "test")]
            if any(ids.min() < 0 or ids.max() >= num_nodes for ids in parts):
                raise damaged(path, f"node ids beyond the graph's {num_nodes} nodes")
            train, val, test = map(torch.from_numpy, parts)
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
    with reading(path), warnings.catch_warnings():
        # Arrays pickled by old NumPy carry 0 where new NumPy wants False.
        warnings.simplefilter("ignore")
        try:
            return _Unpickler(io.BytesIO(path.read_bytes()[skip:]), encoding="latin1").load()
        except PcnetError as error:
            raise PcnetError(f"Refused to read {path}: {error}. Fetch it again from its source.") from None


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
