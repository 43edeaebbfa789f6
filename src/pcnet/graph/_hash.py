"""Whether two graphs are the same one."""

from __future__ import annotations

import hashlib

from torch import Tensor

from pcnet.graph._csr import CSR
from pcnet.graph._graph import Graph


def graph_hash(graph: Graph) -> str:
    """16 hexadecimal digits of SHA-256 over edges, weights and features."""
    x = (graph.x.crow, graph.x.col, graph.x.values) if isinstance(graph.x, CSR) else (graph.x,)
    weight = () if graph.edge_weight is None else (graph.edge_weight,)
    return tensor_hash(graph.edge_index, *weight, *x)


def tensor_hash(*tensors: Tensor) -> str:
    """The same over tensors, their types and shapes."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
