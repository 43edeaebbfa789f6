"""A graph as the two tables that `read_graph` reads back to the bit."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pcnet._files import write_atomically
from pcnet.data.own._parquet import arrow
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph

Format = Literal["csv", "parquet"]
#: Dense rows that are written out at a time.
_ROWS = 1024


def write_graph(graph: Graph, folder: str | Path, *, format: Format = "csv") -> tuple[Path, Path]:
    """Write `edges` and `nodes` into the folder; returns both paths.

    Nodes have an id, a label (their class's name; empty where it is unknown) and all features in one column of lists:
    features that are zero everywhere survive, and no digit is lost. An edge that is there in both directions is
    written once; a directed graph is written as it is, to be read with `directed=True`.
    """
    if format not in ("csv", "parquet"):
        raise PcnetError(f"There is no format '{format}'; choose csv or parquet.")
    folder = Path(folder)
    edges, nodes = (folder / f"{stem}.{format}" for stem in ("edges", "nodes"))
    present = [path for stem in ("edges", "nodes") for path in sorted(folder.glob(f"{stem}.*"))]
    if present:
        raise PcnetError(f"{folder} already has {present[0].name}; choose another folder.")
    # The nodes last: where they are, the edges are too.
    if format == "csv":
        write_atomically(
            edges, lambda path: _write_csv(path, list(_edges(graph)), zip(*_edges(graph).values(), strict=True))
        )
        write_atomically(nodes, lambda path: _write_csv(path, ["id", "label", "features"], _node_rows(graph)))
    else:
        write_atomically(edges, lambda path: _write_parquet(path, _edges(graph)))
        write_atomically(nodes, lambda path: _write_parquet(path, _node_columns(graph)))
    return edges, nodes


def _edges(graph: Graph) -> dict[str, NDArray]:
    """The columns of the table of edges."""
    source, target = graph.edge_index.numpy()
    weight = np.ones(len(source)) if graph.edge_weight is None else graph.edge_weight.double().numpy()
    n, names = graph.num_nodes, graph.node_names
    there, back = (np.lexsort((weight, keys)) for keys in (source * n + target, target * n + source))
    same_ends = np.array_equal(source[there], target[back]) and np.array_equal(target[there], source[back])
    once = source <= target if same_ends and np.array_equal(weight[there], weight[back]) else np.full(len(source), True)
    columns = {"source": names[source[once]], "target": names[target[once]]}
    return columns if graph.edge_weight is None else {**columns, "weight": weight[once]}


def _labels(graph: Graph) -> list[str | int | None]:
    names = [*(range(graph.num_classes) if graph.classes is None else graph.classes), None]
    return [names[label] for label in graph.y.tolist()]


def _dense_rows(graph: Graph) -> Iterator[NDArray[np.float32]]:
    """Blocks of rows of x with their zeros; what float64 holds in between is exact."""
    x: Any = graph.x.to_scipy() if isinstance(graph.x, CSR) else graph.x.numpy()
    for start in range(0, graph.num_nodes, _ROWS):
        part = x[start : start + _ROWS]
        yield np.asarray(part.toarray() if isinstance(graph.x, CSR) else part, dtype=np.float32)


def _node_rows(graph: Graph) -> Iterator[tuple[Any, Any, str]]:
    rows = (row for part in _dense_rows(graph) for row in part)
    for name, label, row in zip(graph.node_names, _labels(graph), rows, strict=True):
        # A number of 32 bits is a short number of 64 bits, and JSON writes those exactly; most are zero.
        yield name, "" if label is None else label, json.dumps([value or 0 for value in row.tolist()])


def _node_columns(graph: Graph) -> dict[str, Any]:
    pa = arrow()
    values = np.concatenate([part.ravel() for part in _dense_rows(graph)])
    start = np.arange(graph.num_nodes + 1, dtype=np.int64) * graph.num_features
    features = pa.LargeListArray.from_arrays(pa.array(start), pa.array(values))
    return {"id": graph.node_names, "label": pa.array(_labels(graph)), "features": features}


def _write_csv(path: Path, names: list[str], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def _write_parquet(path: Path, columns: dict[str, Any]) -> None:
    pa = arrow()
    pa.parquet.write_table(pa.table(columns), path)
