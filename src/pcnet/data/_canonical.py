"""Edges and features in the one form that every graph of this package starts from."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import CSR

Matrix = TypeVar("Matrix", CSR, Tensor)


def undirected(source: np.ndarray, target: np.ndarray, num_nodes: int, *, keep_loops: bool) -> Tensor:
    """Both directions of every edge, each once, loops once, sorted by (source, target), int64."""
    source, target = (np.asarray(ends, dtype=np.int64) for ends in (source, target))
    if not keep_loops:
        proper = source != target
        source, target = source[proper], target[proper]
    return _merged(np.concatenate([source * num_nodes + target, target * num_nodes + source]), num_nodes)


def one_way(source: np.ndarray, target: np.ndarray, num_nodes: int) -> Tensor:
    """Every edge once in the direction that it has, loops too, sorted by (source, target), int64."""
    return _merged(np.asarray(source, dtype=np.int64) * num_nodes + target, num_nodes)


def _merged(keys: np.ndarray, num_nodes: int) -> Tensor:
    """Edges from source · n + target: one integer per entry sorts and merges faster than a pair."""
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return torch.from_numpy(np.stack(np.divmod(keys, num_nodes)))


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
        row = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), x.crow.diff().long())
        sums = torch.zeros(x.shape[0], dtype=torch.float64, device=x.device).index_add_(0, row, x.values.double())
        return CSR(x.crow, x.col, (x.values.double() / _divisor(sums)[row]).to(x.dtype), x.shape)
    return (x.double() / _divisor(x.sum(1, keepdim=True, dtype=torch.float64))).to(x.dtype)


def _divisor(sums: Tensor) -> Tensor:
    return torch.where(sums == 0, torch.ones_like(sums), sums)
