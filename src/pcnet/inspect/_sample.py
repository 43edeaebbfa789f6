"""A node of a large graph and its neighbourhood as a row of a small table, so that a probe stays affordable."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

from pcnet.graph import CSR, Graph
from pcnet.inspect._measures import Neighbours
from pcnet.inspect._probe import Way

NODES = 10_000
#: Columns that are carried over the links: features beyond are mixed by random signs, rare classes are left out.
COLUMNS = 32

Table = NDArray[np.float32]


def sampled(graph: Graph, neighbours: Neighbours, seed: int) -> tuple[str, dict[Way, Graph]]:
    """A sentence on what was done, and for features, graph and both the sampled nodes with such columns, without links.

    With P = D⁻¹A: features x_i; links (PY)_i, (P²Y)_i and log degree; both all of these and (PX)_i, (P²X)_i. Y holds
    the classes of labelled nodes outside the sample, so that no column knows the class of the node it belongs to.
    """
    random = np.random.default_rng(seed)
    labels = graph.y.cpu().numpy()
    known = random.permutation(np.flatnonzero(labels >= 0))
    count = min(NODES, len(known) // 2)
    nodes = np.sort(known[:count])
    degree = np.diff(neighbours.matrix.indptr)
    walk = scipy.sparse.diags((1.0 / np.maximum(degree, 1)).astype(np.float32)) @ neighbours.matrix.astype(np.float32)

    def hops(table: Table) -> list[Table]:
        once = walk @ table
        return [once[nodes], (walk @ once)[nodes]]

    around = [*hops(_classes_of(labels, known[count:])), np.log1p(degree[nodes, None])]
    links = _standardised(around)
    both = _standardised([*around, *hops(_few_columns(graph.x, random))])
    no_edges, y = torch.empty(2, 0, dtype=torch.int64), torch.from_numpy(labels[nodes])
    own = CSR.from_scipy(graph.x.to_scipy()[nodes], graph.x.dtype) if isinstance(graph.x, CSR) else graph.x[nodes]
    tables: dict[Way, torch.Tensor | CSR] = {
        "features": own,
        "graph": torch.from_numpy(links),
        "both": _with_columns(own, both),
    }
    note = (
        f"The graph is large: perceptrons are trained on {count:,} of {len(known):,} labelled nodes, and see the links "
        "as what lies one and two steps away."
    )
    return note, {way: Graph(no_edges, x, y, name=graph.name, classes=graph.classes) for way, x in tables.items()}


def _classes_of(labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> Table:
    """Y: one column for each frequent class, 1 where a node is of it."""
    classes, place, counts = np.unique(labels[nodes], return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:COLUMNS]
    column = np.full(len(classes), -1)
    column[frequent] = np.arange(len(frequent))
    table = np.zeros((len(labels), len(frequent)), dtype=np.float32)
    kept = column[place] >= 0
    table[nodes[kept], column[place][kept]] = 1.0
    return table


def _few_columns(x: torch.Tensor | CSR, random: np.random.Generator) -> Table:
    """The features, or `COLUMNS` random mixtures of them where there are more."""
    values = x.to_scipy() if isinstance(x, CSR) else x.cpu().numpy()
    if x.shape[1] <= COLUMNS:
        return np.asarray(x.to_dense() if isinstance(x, CSR) else values, dtype=np.float32)
    signs = random.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(x.shape[1], COLUMNS))
    return np.asarray(values @ signs, dtype=np.float32)


def _standardised(tables: list[Table]) -> Table:
    table = np.concatenate(tables, axis=1)
    spread = table.std(axis=0)
    return ((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32)


def _with_columns(x: torch.Tensor | CSR, more: Table) -> torch.Tensor | CSR:
    if isinstance(x, CSR):
        return CSR.from_scipy(scipy.sparse.hstack([x.to_scipy(), scipy.sparse.csr_matrix(more)]).tocsr(), x.dtype)
    return torch.cat([x, torch.from_numpy(more).to(x)], dim=1)
