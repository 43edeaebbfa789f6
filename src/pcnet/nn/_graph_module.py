"""Modules that are applied to a graph."""

from __future__ import annotations

import torch
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import Operator, SelfLoops, cached_operator
from pcnet.nn._runs import RunModule


class GraphModule(RunModule):
    """A module that computes with S = D^-η W D^-η, W the adjacency with the self loops that it wants."""

    eta: float = 0.5
    self_loops: SelfLoops = "add"

    def operator(
        self, edges: Tensor | Operator, num_nodes: int, edge_weight: Tensor | None, dtype: torch.dtype
    ) -> Operator:
        """The graph's S, whatever form the edges come in: a list 2 × E, a sparse adjacency tensor or an `Operator`.

        The operator of a list is kept and found again by its content.
        """
        if isinstance(edges, Operator):
            if edge_weight is not None:
                raise PcnetError("An operator has its edge weights in it; leave edge_weight out.")
            for name in ("eta", "self_loops"):
                theirs, mine = getattr(edges, name), getattr(self, name)
                if theirs != mine:
                    raise PcnetError(
                        f"The operator has {name} = {theirs}, the layer {mine}; build it with the layer's."
                    )
            return edges.to(dtype)
        edge_index = edges
        if edges.layout != torch.strided:
            if edges.shape != (num_nodes, num_nodes):
                raise PcnetError(
                    f"The adjacency matrix is {tuple(edges.shape)}, but x has {num_nodes} nodes; they must be the same."
                )
            coo = edges.to_sparse_coo().coalesce()
            # Row i of an adjacency matrix gathers from its columns: those are the sources.
            edge_index, edge_weight = coo.indices().flip(0), coo.values()
        return cached_operator(
            edge_index, num_nodes, edge_weight, eta=self.eta, self_loops=self.self_loops, dtype=dtype
        )
