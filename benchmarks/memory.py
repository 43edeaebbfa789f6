"""Bytes that a forward keeps for its backward."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from pcnet import Graph, PCNetSettings
from pcnet.bench import Sample, filters, saved_bytes

ORDERS = (2, 3, 5, 10, 15, 20)
#: Bytes kept over bytes of x that the library allows itself, at this order.
TARGET, TARGET_ORDER = 1.2, 10


def compare_memory(graph: Graph, settings: PCNetSettings) -> dict[str, Any]:
    """Bytes kept for the backward of one propagation, in sizes of x, by order N."""
    x = torch.rand(graph.num_nodes, graph.num_classes).requires_grad_()
    sample = Sample.of(graph, settings.eta)
    kept: dict[str, list[float]] = {}
    for order in ORDERS:
        for way in filters(sample, replace(settings, N=order)):
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
