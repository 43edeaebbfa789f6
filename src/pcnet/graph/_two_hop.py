"""Pairs of nodes at distance two."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

from pcnet._machine import free_bytes
from pcnet.errors import PcnetError
from pcnet.graph._csr import CSR, made_once
from pcnet.graph._operator import Operator, _inverse_power

#: Walks of two steps that are followed at a time.
WALKS = 2**24
#: Nodes whose pairs are counted for an estimate.
SAMPLE = 256
#: Bytes of a pair where it is kept, and on the host while all of them are gathered.
KEPT, GATHERED = 8, 12


@made_once
def two_hop(operator: Operator) -> Operator:
    """D₂^-η A₂ D₂^-η, A₂ the 0/1 matrix of pairs at distance exactly 2, D₂ = diag(A₂·1); made once for an operator.

    On graphs with hubs there are many such pairs, up to the square of the largest degree. They are estimated first, and
    refused where they would not fit into memory.
    """
    near, device = _near(operator), operator.matrix.device
    pairs = estimated_pairs(near)
    for place, each in {"cpu": GATHERED, str(device): GATHERED if device.type == "cpu" else KEPT}.items():
        if pairs * each > (free := free_bytes(place)):
            raise PcnetError(
                f"About {pairs:,} pairs of nodes are at distance two, which takes {pairs * each / 1e9:,.1f} GB of "
                f"memory, and {free / 1e9:,.1f} GB are free; take a machine with more, a graph without its largest "
                "hubs, or a method that looks at neighbours only."
            )
    return replace(operator, matrix=_normalised(near, operator))


def estimated_pairs(near: scipy.sparse.csr_matrix) -> int:
    """About how many pairs are at distance 2, `near` being A + I; exact where the graph has few nodes.

    Nodes are counted that stand at even distances in the order of their walks of two steps.
    """
    n = near.shape[0]
    count = min(n, SAMPLE)
    sample = np.argsort(_walks(near), kind="stable")[((np.arange(count) + 0.5) * n / count).astype(int)]
    found = sum((near[node] @ near).nnz - near[node].nnz for node in sample)
    return round(found * n / count)


def _near(operator: Operator) -> scipy.sparse.csr_matrix:
    """A + I as true and false: pairs at distance 0 or 1."""
    return (operator.matrix.to_scipy().astype(bool) + scipy.sparse.eye(operator.num_nodes, dtype=bool)).tocsr()


def _walks(near: scipy.sparse.csr_matrix) -> NDArray[np.float64]:
    """Walks of two steps from each node."""
    return np.asarray(near.astype(np.float64) @ np.diff(near.indptr))


def _rows(near: scipy.sparse.csr_matrix) -> Iterator[scipy.sparse.csr_matrix]:
    """A₂, some rows at a time: what (A+I)² reaches and A+I does not."""
    ends = np.cumsum(_walks(near))
    cuts = np.searchsorted(ends, np.arange(WALKS, ends[-1], WALKS), side="right")
    for start, stop in itertools.pairwise(np.unique([0, *cuts, near.shape[0]])):
        far = near[start:stop] @ near > near[start:stop]
        far.sort_indices()
        yield far


def _normalised(near: scipy.sparse.csr_matrix, operator: Operator) -> CSR:
    lengths, columns = zip(*((np.diff(far.indptr), far.indices.astype(np.int32)) for far in _rows(near)), strict=True)
    length, column = np.concatenate(lengths), np.concatenate(columns)
    del columns
    left = _inverse_power(length, operator.eta)
    right = left if operator.symmetric else _inverse_power(np.bincount(column, minlength=len(length)), operator.eta)
    crow = np.concatenate([[0], np.cumsum(length)])
    matrix = operator.matrix
    values = torch.empty(len(column), dtype=matrix.dtype)
    for start, stop in itertools.pairwise(np.append(np.arange(0, len(length), 4096), len(length))):
        part = slice(crow[start], crow[stop])
        scales = np.repeat(left[start:stop], length[start:stop]) * right[column[part]]
        values[part] = torch.from_numpy(scales).to(matrix.dtype)
    index = np.int32 if len(column) < 2**31 else np.int64
    parts = (torch.from_numpy(crow.astype(index)), torch.from_numpy(column.astype(index, copy=False)), values)
    return CSR(*parts, matrix.shape).to(matrix.device)
