"""Graphs to measure on: generated ones of any size, and the labelled ones at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet import PcnetError, csbm, load_dataset, read_graph
from pcnet.data import data_folder
from pcnet.graph import CSR, Graph, Operator

#: Neighbours of a node, on average: 2 million nodes have 40 million directed edges.
DEGREE = 20
#: Cornell carries Texas's features and labels in the literature's files: the corrected graph stands for it.
NAMED = (
    "texas",
    "cornell-fixed",
    "wisconsin",
    "reed98",
    "cora",
    "citeseer",
    "amherst41",
    "johnshopkins55",
    "actor",
    "pubmed",
    "cornell5",
)
#: Files of other people under `own/`, with how to read them.
OWN: dict[str, dict[str, str]] = {
    "chameleon_filtered.npz": {},
    "amazon_photo.npz": {},
    "musae-engb": {"label": "mature"},
}


@dataclass(frozen=True, eq=False)
class Sample:
    """A graph to filter on: its operator Ã and, for those who weigh the edges themselves, its edges."""

    operator: Operator
    #: The edges as their owner lists them; None where they are Ã's own.
    listed: Tensor | None = None

    @staticmethod
    def of(graph: Graph, eta: float, dtype: torch.dtype = torch.float32) -> Sample:
        """A graph of one's own."""
        return Sample(Operator.from_graph(graph, eta=eta, dtype=dtype), graph.edge_index)

    @property
    def nodes(self) -> int:
        return self.operator.num_nodes

    @property
    def entries(self) -> int:
        """Non-zeros of Ã: every edge in both directions, and every node's loop."""
        return self.operator.matrix.nnz

    @cached_property
    def edge_index(self) -> Tensor:
        """2 × number of directed edges: the listed ones, or the places of Ã's entries off the diagonal."""
        if self.listed is not None:
            return self.listed
        matrix = self.operator.matrix
        rows = torch.arange(self.nodes, device=matrix.device).repeat_interleave(matrix.crow.diff())
        proper = rows != matrix.col
        return torch.stack([rows[proper], matrix.col[proper].long()])

    def to(self, device: torch.device | str) -> Sample:
        listed = None if self.listed is None else self.listed.to(device)
        return Sample(self.operator.to(device), listed)


def in_words(row: Mapping[str, Any]) -> str:
    """The size of a graph that has no loops but those of Ã."""
    return f"{row['nodes']:,} nodes, {row['entries'] - row['nodes']:,} directed edges"


@lru_cache(maxsize=8)
def random_graph(nodes: int, degree: int = DEGREE, seed: int = 0) -> Sample:
    """Ã = (D+I)^-½ (A+I) (D+I)^-½ of nodes·degree/2 links between nodes drawn uniformly, each pair once.

    Neighbours have nothing to do with each other or with the numbers of the nodes, so that a product finds hardly
    any row of a large X in a cache. Loops and repeated pairs fall out: of 2,000 nodes they are one link in a hundred,
    of 2 million one in 100,000. About 26 bytes for each entry are in use while the graph is made.
    """
    random, links = np.random.default_rng(seed), nodes * degree // 2
    # One integer for each entry, row · nodes + column, so that sorting them makes the compressed rows.
    keys = np.empty(2 * links + nodes, dtype=np.int64)
    source, target = random.integers(nodes, size=(2, links))
    for place, (row, column) in enumerate(((source, target), (target, source))):
        part = keys[place * links : (place + 1) * links]
        np.multiply(row, nodes, out=part)
        part += column
    del source, target
    keys[2 * links :] = np.arange(nodes) * (nodes + 1)
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    index = np.int32 if len(keys) < 2**31 else np.int64
    crow = np.searchsorted(keys, np.arange(nodes + 1) * nodes).astype(index)
    keys %= nodes
    col = keys.astype(index)
    del keys
    lengths = np.diff(crow)
    scale = (lengths**-0.5).astype(np.float32)
    values = np.repeat(scale, lengths)
    values *= scale[col]
    matrix = CSR(torch.from_numpy(crow), torch.from_numpy(col), torch.from_numpy(values), (nodes, nodes))
    return Sample(Operator(matrix, eta=0.5, symmetric=True))


def labelled_graphs() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Names of the labelled graphs at hand and what reads each, as a practitioner would bring it: without published
    splits. Those that cannot be found are left out.
    """
    for name in NAMED:
        try:
            load_dataset(name)
        except PcnetError:
            continue
        yield name, partial(_as_own, partial(load_dataset, name))
    folder = data_folder(os.environ.get("PCNET_DATA"))
    for file, how in OWN.items():
        path = Path(folder or ".") / "own" / file
        if path.exists():
            yield path.stem, partial(_as_own, partial(read_graph, path, **how))


def generated_graphs() -> dict[str, Callable[[], Graph]]:
    """Graphs on which it is known what there is to learn."""
    return {
        "mines": grid_of_mines,
        "csbm homophilic": partial(csbm, 2000, 0.7, classes=3, features=50, average_degree=20.0, seed=0),
        "csbm heterophilic": partial(csbm, 2000, -0.7, classes=3, features=50, average_degree=20.0, seed=0),
        # All there is to know is in the links.
        "useless features": partial(csbm, 2000, 1.0, classes=3, features=50, average_degree=20.0, seed=0),
    }


def grid_of_mines(side: int = 100, share: float = 0.2, unknown: float = 0.5, seed: int = 0) -> Graph:
    """A square grid, each node linked to its eight neighbours: which are mines, of which there is one in five?

    A node shows how many of its neighbours are mines (one column for each count), or, half of the nodes, that it
    shows nothing. What is a mine follows from the counts around it, but not from any weighted sum of them.
    """
    random = np.random.default_rng(seed)
    mines = random.random((side, side)) < share
    node = np.arange(side * side).reshape(side, side)
    pairs = [
        np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()]),
        np.stack([node[:-1].ravel(), node[1:].ravel()]),
        np.stack([node[:-1, :-1].ravel(), node[1:, 1:].ravel()]),
        np.stack([node[:-1, 1:].ravel(), node[1:, :-1].ravel()]),
    ]
    edges = np.concatenate([each for pair in pairs for each in (pair, pair[::-1])], axis=1)
    counts = np.bincount(edges[0], weights=mines.ravel()[edges[1]], minlength=side * side).astype(int)
    x = np.eye(10, dtype=np.float32)[np.where(random.random(side * side) < unknown, 9, counts)]
    y = torch.from_numpy(mines.ravel().astype(np.int64))
    return Graph(torch.from_numpy(edges), torch.from_numpy(x), y, name="mines", classes=("free", "mine"))


def _as_own(read: Callable[[], Graph]) -> Graph:
    return replace(read(), published_y=None, fixed_splits=())
