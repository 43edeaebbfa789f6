"""Edges in the forms that every graph of this package starts from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


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
