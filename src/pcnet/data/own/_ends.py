"""Edges: from the names of their ends to node numbers, and from one direction to both."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data._canonical import undirected
from pcnet.data.own._table import Table, shortened
from pcnet.data.own._words import Coded


class Ends(NamedTuple):
    """Edge e goes from node `source[e]` to `target[e]` with the weight `weight[e]`, 1 where there are none."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64] | None = None


class EdgeTable(NamedTuple):
    """A table of edges and the columns of their ends."""

    table: Table
    source: str
    target: str

    @property
    def ends(self) -> list[Coded]:
        """Both columns as words."""
        return [self.table.coded(column) for column in (self.source, self.target)]

    def among(self, nodes: Mapping[str, int], title: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ends as nodes of the table `title`, which has a number for each name; other names are refused."""
        ends = []
        for column, coded in zip((self.source, self.target), self.ends, strict=True):
            if coded.empty:
                self.table.refuse(coded.row_of(-1), column, "the id is missing; an edge has two ends")
            found = np.fromiter(map(nodes.get, coded.words, repeat(-1)), dtype=np.int64, count=len(coded.words))
            if (found < 0).any():
                code = int(np.argmax(found < 0))
                word = shortened(coded.words[code])
                self.table.refuse(coded.row_of(code), column, f"there is no node {word} in {title}")
            ends.append(found[coded.codes])
        return ends[0], ends[1]


def names_in(*columns: Coded) -> Coded:
    """Every name that occurs in the columns as a row of its own: whole numbers in their order, else words in theirs."""
    words = {word for column in columns for word in column.words}
    ordered = np.sort(Coded.of(words, text=any(column.text for column in columns)).names())
    return Coded.of(map(str, ordered.tolist()), text=ordered.dtype.kind == "U")


def read_weight(table: Table, column: str) -> NDArray[np.float64]:
    """Weights of edges, each a number that is not negative."""
    weight = table.numbers(column)
    bad = np.flatnonzero(~(weight >= 0))
    if len(bad):
        missing = np.isnan(weight[bad[0]])
        complaint = "the weight is missing" if missing else f"the weight {weight[bad[0]]:g} is negative"
        table.refuse(int(bad[0]), column, f"{complaint}; correct it or leave the column out (drop)")
    return weight


def edges(ends: Ends, num_nodes: int, directed: bool, notes: list[str]) -> tuple[Tensor, Tensor | None]:
    """`edge_index` and `edge_weight`: the list as it is, or both directions of every edge, merged and sorted.

    Merged as `Operator` merges: unweighted duplicates count once; weighted ones add up, and both directions carry the
    larger of the two sums. So an operator does not depend on `directed`, unless it keeps the direction.
    """
    notes += _oddities(ends, num_nodes, directed)
    if directed:
        weight = None if ends.weight is None else torch.from_numpy(ends.weight.astype(np.float32))
        return torch.from_numpy(np.stack([ends.source, ends.target])), weight
    if ends.weight is None:
        return undirected(ends.source, ends.target, num_nodes, keep_loops=True), None
    adjacency = scipy.sparse.csr_matrix((ends.weight, (ends.source, ends.target)), shape=(num_nodes, num_nodes))
    adjacency.sum_duplicates()
    merged = adjacency.maximum(adjacency.T).tocoo()
    order = np.argsort(merged.row.astype(np.int64) * num_nodes + merged.col)
    index = np.stack([merged.row[order], merged.col[order]]).astype(np.int64)
    return torch.from_numpy(index), torch.from_numpy(merged.data[order].astype(np.float32))


def _oddities(ends: Ends, num_nodes: int, directed: bool) -> list[str]:
    """A sentence on duplicates and one on loops."""
    keys = np.sort(ends.source * num_nodes + ends.target)
    listed, twice = len(keys), int((np.diff(keys) == 0).sum())
    loops = int((ends.source == ends.target).sum())
    notes = []
    if twice:
        fate = "are kept" if directed else "count once" if ends.weight is None else "add up"
        notes.append(f"{twice:,} of {listed:,} edges are listed before and {fate}.")
    if loops:
        notes.append(f"{loops:,} of {listed:,} edges are loops and kept.")
    return notes
