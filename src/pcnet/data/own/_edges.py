"""Edges: from the names of their ends to node numbers, and from one direction to both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data._canonical import undirected
from pcnet.data.own._cells import Cells, shortened


def ends_among(ends: Sequence[Cells], nodes: Mapping[str, int], title: str) -> NDArray[np.int64]:
    """Both ends of every edge as nodes of the table `title`, which has a number for each name; others are refused."""
    index = []
    for cells in ends:
        words, codes = cells.coded.words, cells.coded.codes
        if cells.coded.empty:
            cells.refuse_word(-1, "the id is missing; an edge has two ends")
        found = np.fromiter(map(nodes.get, words, repeat(-1)), dtype=np.int64, count=len(words))
        if (found < 0).any():
            code = int(np.argmax(found < 0))
            cells.refuse_word(code, f"there is no node {shortened(words[code])} in {title}")
        index.append(found[codes])
    return np.stack(index)


def read_weight(cells: Cells) -> NDArray[np.float64]:
    """Weights of edges, each a number that is not negative."""
    weight = cells.numbers()
    bad = np.flatnonzero(~(weight >= 0))
    if len(bad):
        missing = np.isnan(weight[bad[0]])
        complaint = "the weight is missing" if missing else f"the weight {weight[bad[0]]:g} is negative"
        cells.refuse(int(bad[0]), f"{complaint}; correct it or leave the column out (drop)")
    return weight


def merge_edges(
    ends: NDArray[np.int64], weight: NDArray[np.float64] | None, num_nodes: int, directed: bool, notes: list[str]
) -> tuple[Tensor, Tensor | None]:
    """`edge_index` and `edge_weight`: the list as it is, or both directions of every edge, merged and sorted.

    Merged as `Operator` merges: unweighted duplicates count once; weighted ones add up, and both directions carry the
    larger of the two sums. So an operator does not depend on `directed`, unless it keeps the direction.
    """
    source, target = ends
    keys = np.sort(source * num_nodes + target)
    listed, twice, loops = len(keys), int((np.diff(keys) == 0).sum()), int((source == target).sum())
    if twice:
        fate = "are kept" if directed else "count once" if weight is None else "add up"
        notes.append(f"{twice:,} of {listed:,} edges are listed before and {fate}.")
    if loops:
        notes.append(f"{loops:,} of {listed:,} edges are loops and kept.")
    if directed:
        return torch.from_numpy(ends), None if weight is None else torch.from_numpy(weight.astype(np.float32))
    if weight is None:
        return undirected(source, target, num_nodes, keep_loops=True), None
    adjacency = scipy.sparse.csr_matrix((weight, (source, target)), shape=(num_nodes, num_nodes))
    adjacency.sum_duplicates()
    merged = adjacency.maximum(adjacency.T).tocsr().sorted_indices().tocoo()
    both = np.stack([merged.row, merged.col]).astype(np.int64)
    return torch.from_numpy(both), torch.from_numpy(merged.data.astype(np.float32))
