"""Operators of raw edge lists, built once and found again by content."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import torch
from torch import Tensor

from pcnet.graph._operator import Direction, Operator, SelfLoops

#: A handful of graphs at a time is what one process works on.
_CAPACITY = 4
_cache: deque[tuple[tuple[Any, ...], Tensor, Tensor | None, Operator]] = deque(maxlen=_CAPACITY)
_lock = threading.Lock()


def cached_operator(
    edge_index: Tensor,
    num_nodes: int,
    edge_weight: Tensor | None = None,
    *,
    eta: float,
    dtype: torch.dtype,
    self_loops: SelfLoops = "add",
    direction: Direction = "symmetrise",
) -> Operator:
    """The operator of an edge list; the same edges, weights and settings give the same object.

    An entry is found by comparing edges and weights themselves with a private copy. No identity, address or hash is
    trusted, so another graph, or the same tensor changed in place, can never meet a stale operator. The comparison
    reads each edge once: little beside the products that follow.
    """
    key = (num_nodes, eta, dtype, self_loops, direction, edge_index.device)
    with _lock:
        for place, entry in enumerate(_cache):
            kept_key, kept_edges, kept_weight, operator = entry
            if kept_key == key and _same(kept_edges, edge_index) and _same(kept_weight, edge_weight):
                # What was used last is forgotten last.
                del _cache[place]
                _cache.appendleft(entry)
                return operator
    operator = Operator.from_edges(
        edge_index, num_nodes, edge_weight, eta=eta, self_loops=self_loops, direction=direction, dtype=dtype
    )
    weight = None if edge_weight is None else edge_weight.detach().clone()
    with _lock:
        _cache.appendleft((key, edge_index.clone(), weight, operator))
    return operator


def clear_operator_cache() -> None:
    """Forget every kept operator (and free its memory)."""
    with _lock:
        _cache.clear()


def _same(kept: Tensor | None, given: Tensor | None) -> bool:
    if kept is None or given is None:
        return kept is given
    return kept.shape == given.shape and kept.dtype == given.dtype and torch.equal(kept, given)
