"""A graph as the two tables that `read_graph` reads back to the bit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pcnet._files import write_atomically, write_csv
from pcnet.data.own._arrow import arrow
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph

Format = Literal["csv", "parquet"]
#: Dense rows that are written out at a time.
_ROWS = 1024


def write_graph(graph: Graph, folder: str | Path, *, format: Format = "csv") -> tuple[Path, Path]:
    """Write `edges` and `nodes` into the folder; returns both paths.

    Nodes have an id, a label (their class's name; empty where it is unknown) and all features in one column of lists:
    features that are zero everywhere survive, and no digit is lost. An edge that is there in both directions is
    written once; a directed graph is written as it is, to be read with `directed=True`. A folder that has such tables
    already is refused.

    >>> import tempfile
    >>> from pcnet import csbm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(*(path.name for path in write_graph(csbm(40), folder)))
    edges.csv nodes.csv
    """
    if format not in ("csv", "parquet"):
        raise PcnetError(f"There is no format '{format}'; choose csv or parquet.")
    folder = Path(folder)
    edges, nodes = (folder / f"{stem}.{format}" for stem in ("edges", "nodes"))
    present = [path for stem in ("edges", "nodes") for path in sorted(folder.glob(f"{stem}.*"))]
    if present:
        raise PcnetError(f"{folder} already has {present[0].name}; choose another folder.")
    write, lists = (_write_csv, _json_lists) if format == "csv" else (_write_parquet, _arrow_lists)
    classes = [*(range(graph.num_classes) if graph.classes is None else graph.classes), None]
    labels = [classes[label] for label in graph.y.tolist()]
    columns = {"id": graph.node_names, "label": labels, "features": lists(graph)}
    write(nodes, columns)
    try:
        write(edges, _edges(graph))
    except BaseException:
        # Half a graph is none.
        nodes.unlink()
        raise
    return edges, nodes


def _edges(graph: Graph) -> dict[str, NDArray]:
    source, target = graph.edge_index.numpy()
    weight = np.ones(len(source)) if graph.edge_weight is None else graph.edge_weight.double().numpy()
    n, names = graph.num_nodes, graph.node_names
    there, back = (np.lexsort((weight, keys)) for keys in (source * n + target, target * n + source))
    same_ends = np.array_equal(source[there], target[back]) and np.array_equal(target[there], source[back])
    once = source <= target if same_ends and np.array_equal(weight[there], weight[back]) else np.full(len(source), True)
    columns = {"source": names[source[once]], "target": names[target[once]]}
    return columns if graph.edge_weight is None else {**columns, "weight": weight[once]}


def _json_lists(graph: Graph) -> Iterator[str]:
    """A number of 32 bits is one of 64 bits too, and JSON writes those exactly; most are zero, and short."""
    x: Any = graph.x.to_scipy() if isinstance(graph.x, CSR) else graph.x.numpy()
    for start in range(0, graph.num_nodes, _ROWS):
        part = x[start : start + _ROWS]
        rows = np.asarray(part.toarray() if isinstance(graph.x, CSR) else part, dtype=np.float32)
        yield from (json.dumps([value or 0 for value in row]) for row in rows.tolist())


def _arrow_lists(graph: Graph) -> Any:
    pa = arrow()
    start = np.arange(graph.num_nodes + 1, dtype=np.int64) * graph.num_features
    return pa.LargeListArray.from_arrays(pa.array(start), pa.array(graph.x.to_dense().float().numpy().ravel()))


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    write_csv(path, columns, zip(*columns.values(), strict=True))


def _write_parquet(path: Path, columns: dict[str, Any]) -> None:
    pa = arrow()
    write_atomically(path, lambda target: pa.parquet.write_table(pa.table(columns), target))
