"""Cora, CiteSeer and PubMed as Planetoid publishes them: pickled matrices and neighbours, a list of ids."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse

from pcnet.data._raw import Raw
from pcnet.data._reading import damaged, reading
from pcnet.data._unpickle import unpickle, unpickle_csr

#: The files that carry the graph (`x` and `y`, the public training rows, repeat the head of `allx`, `ally`).
PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")


def read_planetoid(folder: Path, name: str) -> Raw:
    """Node i < |allx| is row i of `allx`; node test.index[j] is row j of `tx`.

    Ids that neither covers (15 in CiteSeer) are nodes without features and without a label.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in PARTS}
    allx, tx = unpickle_csr(path["allx"]), unpickle_csr(path["tx"])
    ally, ty = (_labels(path[part]) for part in ("ally", "ty"))
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
    y = np.full(nodes, -1, dtype=np.int64)
    y[node_of_row] = np.concatenate([ally, ty])

    neighbours = unpickle(path["graph"])
    with reading(path["graph"]):
        lengths = [len(listed) for listed in neighbours.values()]
        source = np.repeat(np.array(list(neighbours), dtype=np.int64), lengths)
        target = np.fromiter(chain.from_iterable(neighbours.values()), dtype=np.int64, count=sum(lengths))
    return Raw(
        scipy.sparse.csr_matrix((x.data, (node_of_row[x.row], x.col)), shape=(nodes, x.shape[1])),
        y,
        source,
        target,
    )


def _labels(path: Path) -> np.ndarray:
    """Class of each one-hot row; a row of zeros has none and gets −1."""
    one_hot = unpickle(path)
    with reading(path):
        if one_hot.ndim != 2:
            raise damaged(path, "labels are not one-hot rows")
        return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1).astype(np.int64)
