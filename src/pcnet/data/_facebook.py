"""The Facebook100 graphs of LINKX: one MATLAB file a university, and five official splits for Penn94."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

from pcnet.data._raw import Ids, Raw
from pcnet.data._reading import damaged, reading
from pcnet.data._unpickle import unpickle_npy

GENDER = 1


def read_facebook(path: Path) -> Raw:
    """Label = gender code − 1 (0, missing, becomes −1); features = one-hot of every other metadata column.

    A column gives one feature for each value that occurs in it, ascending; "missing" (0) is such a value.
    """
    with reading(path):
        content = scipy.io.loadmat(path)
        adjacency = content["A"].tocoo()
        metadata = content["local_info"].astype(np.int64)
        if adjacency.shape != (len(metadata), len(metadata)):
            raise damaged(path, f"{adjacency.shape[0]} nodes in A, {len(metadata)} in local_info")
        blocks = []
        for column in np.delete(metadata, GENDER, axis=1).T:
            values, code = np.unique(column, return_inverse=True)
            entries = (np.ones(len(code)), (np.arange(len(code)), code))
            blocks.append(scipy.sparse.csr_matrix(entries, shape=(len(code), len(values))))
        x = scipy.sparse.hstack(blocks, format="csr")
    return Raw(x, metadata[:, GENDER] - 1, adjacency.row, adjacency.col)


def read_object_splits(path: Path, num_nodes: int) -> list[Ids]:
    """The `{"train", "valid", "test"}` dictionaries of an `.npy` file of Python objects."""
    stored = unpickle_npy(path)
    with reading(path):
        splits = []
        for split in stored:
            train, val, test = (np.sort(np.asarray(split[part], dtype=np.int64)) for part in ("train", "valid", "test"))
            if any(ids.min() < 0 or ids.max() >= num_nodes for ids in (train, val, test)):
                raise damaged(path, f"node ids beyond the graph's {num_nodes} nodes")
            splits.append((train, val, test))
        return splits
