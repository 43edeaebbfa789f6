"""Bytes that a forward keeps for its backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.filters import filters
from pcnet import Graph, PCNetSettings

ORDERS = (2, 3, 5, 10, 15, 20)
#: Bytes kept over bytes of x that the library allows itself, at this order.
TARGET, TARGET_ORDER = 1.2, 10


def compare_memory(graph: Graph, settings: PCNetSettings) -> dict[str, Any]:
    """Bytes kept for the backward of one propagation, in sizes of x, by order N."""
    x = torch.rand(graph.num_nodes, graph.num_classes).requires_grad_()
    kept: dict[str, list[float]] = {}
    for order in ORDERS:
        for way in filters(graph, replace(settings, N=order)):
            share = saved_bytes(way.apply, x, way.constants) / x.nbytes
            kept.setdefault(way.name, []).append(round(share, 3))
    share = kept["pcnet"][ORDERS.index(TARGET_ORDER)]
    return {
        "dataset": graph.name,
        "bytes_of_x": x.nbytes,
        "N": list(ORDERS),
        "kept": kept,
        "target": TARGET,
        "met": share <= TARGET,
    }


def saved_bytes(forward: Callable[[Tensor], Tensor], x: Tensor, constants: Iterable[Tensor] = ()) -> int:
    """Σ of the distinct storages that autograd saves; `constants`, which are there anyway, do not count."""
    known = {storage.data_ptr() for tensor in constants for storage in _storages(tensor)}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        for storage in _storages(tensor):
            if storage.data_ptr() not in known:
                kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward(x)
    return sum(kept.values())


def held_bytes(forward: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """What is still allocated when a forward is over, its output included: finds what no hook is told of."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        # The name keeps the output, and with it all that its backward needs, until the record is closed.
        z = forward(x)
    del z
    return sum(event.self_cpu_memory_usage for event in record.events())


def _storages(tensor: Tensor) -> list[torch.UntypedStorage]:
    if tensor.layout == torch.sparse_csr:
        parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    elif tensor.layout == torch.sparse_coo:
        parts = [tensor._indices(), tensor._values()]
    else:
        parts = [tensor]
    return [part.untyped_storage() for part in parts]
