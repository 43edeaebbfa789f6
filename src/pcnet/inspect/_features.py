"""What the features look like: how many are zero, and which say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pcnet.graph import CSR, Graph

#: At most this many constant columns are called by name.
NAMED = 20


@dataclass(frozen=True)
class Features:
    """Of `count` columns, `constant` have one value for all nodes; `empty` nodes have nothing but zeros.

    `density` is the share of values that are not zero. `structural` says that the columns were computed from the
    edges because the nodes have none of their own.
    """

    count: int
    density: float
    constant: int
    constant_names: tuple[str, ...]
    empty: int
    structural: bool

    @staticmethod
    def of(graph: Graph) -> Features:
        constant, filled = _columns_and_rows(graph.x)
        names: list[str] = []
        if graph.schema is not None:
            all_names = [name for column in graph.schema.columns for name in column.features]
            names = [all_names[place] for place in np.flatnonzero(constant)[:NAMED]]
        return Features(
            count=graph.num_features,
            density=float(filled.sum() / max(1, graph.num_nodes * graph.num_features)),
            constant=int(constant.sum()),
            constant_names=tuple(names),
            empty=int((filled == 0).sum()),
            structural=graph.schema is not None and graph.schema.structural,
        )

    @property
    def dense(self) -> bool:
        """Whether most values are not zero: numbers rather than words or categories."""
        return self.density > 0.5

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "constant_names": list(self.constant_names)}


def _columns_and_rows(x: torch.Tensor | CSR) -> tuple[np.ndarray, np.ndarray]:
    """Which columns are constant, and how many values of each row are not zero."""
    if isinstance(x, CSR):
        matrix = x.to_scipy()
        matrix.eliminate_zeros()
        low, high = (end.toarray().ravel() for end in (matrix.min(axis=0), matrix.max(axis=0)))
        return low == high, np.diff(matrix.indptr)
    if x.shape[1] == 0:
        return np.zeros(0, dtype=bool), np.zeros(x.shape[0], dtype=np.int64)
    low, high = (end.cpu().numpy() for end in torch.aminmax(x, dim=0))
    return low == high, x.count_nonzero(dim=1).cpu().numpy()
