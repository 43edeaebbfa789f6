"""Which nodes a classifier trains and validates on."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import Graph


def node_ids(what: str, nodes: ArrayLike | Tensor, graph: Graph) -> Tensor:
    """A mask or a list of node numbers as sorted numbers of labelled nodes, each once."""
    given = torch.as_tensor(np.asarray(nodes))
    if given.dtype == torch.bool:
        if given.shape != (graph.num_nodes,):
            raise PcnetError(f"{what} has {given.numel()} entries for {graph.num_nodes} nodes; give one per node.")
        given = given.nonzero().flatten()
    if given.ndim != 1 or given.is_floating_point():
        raise PcnetError(f"{what} must be a mask or a list of node numbers, not {given.dtype}.")
    ids = given.long().unique()
    if len(ids) == 0:
        raise PcnetError(f"{what} names no node; it needs at least one.")
    if int(ids[0]) < 0 or int(ids[-1]) >= graph.num_nodes:
        wrong = int(ids[0]) if int(ids[0]) < 0 else int(ids[-1])
        raise PcnetError(f"{what} names node {wrong}; nodes are numbered from 0 to {graph.num_nodes - 1}.")
    without = ids[graph.y[ids] < 0]
    if len(without):
        name = graph.node_names[int(without[0])]
        raise PcnetError(f"{what} names node {name}, which has no label; leave it out.")
    return ids
