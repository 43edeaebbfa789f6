"""WebKB and Actor as Geom-GCN publishes them: two tab-separated tables and ten mask files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse

from pcnet.data._raw import Ids, Raw
from pcnet.data._reading import damaged, reading

NODES, EDGES = "out1_node_feature_label.txt", "out1_graph_edges.txt"


def read_webkb(folder: Path, *, index_lists: bool = False) -> Raw:
    """A line of the node table is `id <tab> features <tab> label`, in any order of ids.

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
