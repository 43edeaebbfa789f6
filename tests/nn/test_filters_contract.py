"""The filters of the compared methods keep the contract of filters."""

from __future__ import annotations

import numpy as np
import torch

from contracts.filter_contract import FilterContract
from pcnet.graph import Operator
from pcnet.nn import GPRConv
from strategies import Edges, dense_operator


class TestGPR(FilterContract):
    def make(self) -> GPRConv:
        return GPRConv(5, 0.2)

    def make_others(self) -> list[GPRConv]:
        return [GPRConv(5, 0.9), GPRConv(5, 0.5, "nppr")]

    def dense(self, graph: Edges) -> np.ndarray:
        return dense_operator(graph, 0.5, self_loops="fill")

    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="fill", dtype=dtype)

    def response(self, layer: GPRConv, s: np.ndarray) -> np.ndarray:
        return sum(weight * s**k for k, weight in enumerate(layer.theta.tolist()))

    def said(self, layer: GPRConv, s: np.ndarray) -> np.ndarray:
        return layer.response(1 - s)
