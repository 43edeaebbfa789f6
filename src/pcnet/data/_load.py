"""`load_dataset`: a named graph in the form that the paper's protocol uses."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from pcnet.data._catalogue import EMBEDDED, Dataset, dataset_named, fetch, find, find_splits
from pcnet.data._raw import (
    Ids,
    Raw,
    read_embedded,
    read_facebook,
    read_mask_splits,
    read_object_splits,
    read_planetoid,
    read_webkb,
)
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import CSR, Graph, one_way, undirected

Matrix = TypeVar("Matrix", CSR, Tensor)


def load_dataset(name: str, root: str | Path | None = None) -> Graph:
    """The dataset `name`: rows of features sum to 1, edges undirected and merged, labels −1 where unknown.

    Raw files are looked for in `root` (else `$PCNET_DATA`), then in the cache; `citeseer` is also inside the
    package; the rest is downloaded into the cache. Native self loops are kept, except in the three Planetoid
    graphs, whose usual loader (PyG's, the paper's too) drops them. WebKB's and Actor's links also come one way, as
    `listed_edges`. An unknown name, a failed download and a damaged file raise a `PcnetError`.

    >>> load_dataset("citeseer").num_nodes
    3327
    """
    dataset = dataset_named(name)
    folder = find(dataset, root)
    inside = folder is None and dataset.name == EMBEDDED
    raw = read_embedded() if inside else _read(dataset, folder or fetch(dataset, root))
    graph = _build(dataset, raw, _read_splits(dataset, find_splits(dataset, root), len(raw.y)))
    _check(dataset, graph)
    if dataset.name == "cornell":
        _warn_once(dataset.notes[0])
    return graph


def load_embedded() -> Graph:
    """CiteSeer from inside the package, without looking anywhere else; it has no fixed splits.

    >>> load_embedded().num_classes
    6
    """
    return _build(dataset_named(EMBEDDED), read_embedded(), [])


def _read(dataset: Dataset, root: Path) -> Raw:
    folder = root / dataset.folder / "raw"
    if dataset.kind == "planetoid":
        return read_planetoid(folder, dataset.upstream)
    if dataset.kind == "facebook":
        return read_facebook(dataset.path_in(root, dataset.files[0]) or folder)
    return read_webkb(folder, index_lists=dataset.kind == "actor")


def _read_splits(dataset: Dataset, paths: list[Path], num_nodes: int) -> list[Ids]:
    if dataset.kind == "facebook":
        return [split for path in paths for split in read_object_splits(path, num_nodes)]
    return read_mask_splits(paths, num_nodes)


def _build(dataset: Dataset, raw: Raw, splits: list[Ids]) -> Graph:
    y = torch.from_numpy(raw.y)
    if min(raw.source.min(), raw.target.min()) < 0 or max(raw.source.max(), raw.target.max()) >= len(y):
        raise _unlike(dataset, f"an edge to a node beyond its {len(y)} nodes")
    # Whose edges are links from page to page; friendships and, in these files, citations go both ways.
    one_sided = dataset.kind in ("webkb", "actor")
    return Graph(
        edge_index=undirected(raw.source, raw.target, len(y), keep_loops=dataset.kind != "planetoid"),
        listed_edges=one_way(raw.source, raw.target, len(y)) if one_sided else None,
        x=normalise_rows(CSR.from_scipy(raw.x, torch.float32)),
        y=y,
        name=dataset.name,
        notes=dataset.notes,
        published_y=y.clamp(min=0) if dataset.name == EMBEDDED else None,
        fixed_splits=tuple(
            (torch.from_numpy(train), torch.from_numpy(val), torch.from_numpy(test)) for train, val, test in splits
        ),
    )


def _check(dataset: Dataset, graph: Graph) -> None:
    """A file cut at the end of a line still parses: compare with the counts the dataset must have."""
    facts, (source, target) = dataset.facts, graph.edge_index
    for what, count, wanted in (
        ("nodes", graph.num_nodes, facts.nodes),
        ("features", graph.num_features, facts.features),
        ("classes", graph.num_classes, facts.classes),
        ("edges", int((source <= target).sum()), facts.edges + facts.loops),
    ):
        if count != wanted:
            raise _unlike(dataset, f"{count} {what} instead of {wanted}")


def _unlike(dataset: Dataset, what: str) -> PcnetError:
    return PcnetError(
        f"{dataset.name} was read with {what}: a raw file is damaged or of another version; "
        "find it with `pcnet data verify` and fetch it again."
    )


@cache
def _warn_once(message: str) -> None:
    warnings.warn(message, PcnetWarning, stacklevel=3)


def normalise_rows(x: Matrix) -> Matrix:
    """x_ij / Σ_j x_ij: every row sums to 1, rows of zeros stay zero.

    Sums and quotients are taken in float64 and rounded once to the type of `x`. Integers and negative entries are
    refused: a row sum with the latter can be anything, zero included.

    >>> normalise_rows(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))
    tensor([[0.2500, 0.7500],
            [0.0000, 0.0000]])
    """
    values = x.values if isinstance(x, CSR) else x
    if not values.is_floating_point():
        raise PcnetError(f"Features must be floating point to be normalised, not {values.dtype}; call .float() first.")
    if bool((values < 0).any()):
        raise PcnetError("Features hold negative values, so row sums are no scale; standardise the columns instead.")
    if isinstance(x, CSR):
        sums = torch.zeros(x.shape[0], dtype=torch.float64, device=x.device).index_add_(0, x.rows, x.values.double())
        return CSR(x.crow, x.col, (x.values.double() / sums.masked_fill(sums == 0, 1.0)[x.rows]).to(x.dtype), x.shape)
    sums = x.sum(1, keepdim=True, dtype=torch.float64)
    return (x.double() / sums.masked_fill(sums == 0, 1.0)).to(x.dtype)
