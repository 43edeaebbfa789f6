"""Features for nodes that have none: where a node stands in the graph."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.graph import Column, Operator, Schema

DIMENSIONS = 8
#: Up to this many nodes all eigenvectors are computed.
_SMALL = 1_000
#: Vectors of the subspace iteration on larger graphs, its rounds, and the products in each.
_VECTORS, _ROUNDS, _PRODUCTS = 2 * DIMENSIONS, 12, 5


def structural_features(edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None) -> tuple[Tensor, Schema]:
    """log(1 + degree), standardised, and √n times the leading eigenvectors of S = D^-½ A D^-½.

    `edge_index` holds both directions of every edge. An eigenvector's sign is free: its largest entry is positive.
    """
    # Linear algebra adds up in an order that depends on the number of threads.
    from threadpoolctl import threadpool_limits

    degree = np.log1p(np.bincount(edge_index[0].numpy(), minlength=num_nodes))
    degree = (degree - degree.mean()) / (degree.std() or 1.0)
    operator = Operator.from_edges(edge_index, num_nodes, edge_weight, self_loops="keep", dtype=torch.float64)
    with threadpool_limits(1):
        vectors = _leading(operator)
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    embedding = np.sqrt(num_nodes) * vectors * np.where(largest < 0, -1.0, 1.0)
    x = torch.from_numpy(np.column_stack([degree, embedding]).astype(np.float32))
    columns = (Column("log degree", "structure"), Column("spectral embedding", "structure", width=vectors.shape[1]))
    return x, Schema(columns)


def _leading(operator: Operator) -> NDArray[np.float64]:
    """Eigenvectors of the largest eigenvalues: all of them where the graph is small, else a subspace iteration.

    The iteration multiplies with (S + I)/2, whose eigenvalues lie in [0, 1] in the order of those of S. Its cost is
    known beforehand, whatever the spectrum; close eigenvalues may share their vectors' plane.
    """
    matrix, n = operator.matrix.to_scipy(), operator.num_nodes
    if n <= _SMALL:
        return np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :DIMENSIONS]
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, _VECTORS)))[0]
    for _ in range(_ROUNDS):
        for _ in range(_PRODUCTS):
            basis = (matrix @ basis + basis) / 2
        basis = np.linalg.qr(basis)[0]
    turn = np.linalg.eigh(basis.T @ (matrix @ basis))[1]
    return basis @ turn[:, ::-1][:, :DIMENSIONS]
