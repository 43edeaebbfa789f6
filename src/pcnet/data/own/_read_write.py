"""Your own graph, from files and from what other libraries hold in memory, and as two tables that are read back."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet._files import arrow, write_table
from pcnet._progress import Progress
from pcnet.data.own._arrow import frame_source, is_a, is_frame
from pcnet.data.own._build import graph_of_tables
from pcnet.data.own._columns import ReadOptions, listed
from pcnet.data.own._libraries import Arrays, graph_of_arrays, graph_of_networkx
from pcnet.data.own._readers import ADVICE, Source, Tables, open_file, reading, table_suffixes
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph, Kind, Schema

Format = Literal["csv", "parquet"]
#: Dense rows that are written out at a time.
_ROWS = 1024


def read_graph(
    graph: Any,
    *,
    nodes: Any = None,
    features: str | Path | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    label: str | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    directed: bool = False,
    schema: Schema | None = None,
    classes: Sequence[str | int] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Your own graph: a folder with `edges.csv` and `nodes.csv` (or .tsv, .parquet), a file of edges, .npz or .graphml.

    In a folder `labels.csv` or `target.csv` is joined to the nodes by their ids (or is the table of nodes), and
    `features.json` lists the features of each id. `club_edges.csv` will do for `edges.csv`, and so on. What is in
    memory already is read as well: data frames, a NetworkX graph, PyG's `Data`, a SciPy matrix of edges. Other files
    have a reader when one is registered (`pcnet.data.reader`).

    Edges name two nodes, and maybe a weight; nodes have an id (words or whole numbers, kept in `graph.ids`), maybe a
    label (missing: to be predicted, −1) and columns that become features by their kind: numbers (standardised where
    they leave [−1, 1]), booleans, categories (one-hot), lists of numbers, bags of words. Without a file of nodes they
    are those that the edges name; without features, log degrees and a spectral embedding take their place. Which
    columns are what is guessed, by names and by what the edges speak of, and said in `graph.notes`; `source`,
    `target`, `weight`, `id`, `label` name them, `drop` leaves columns out, `kinds` says how to read them, as in
    `kinds={"zip": "category"}`.

    The graph has both directions of every edge, duplicates merged (weights add up); `directed=True` keeps the list.

    `schema` and `classes` of a trained classifier encode another table exactly as the first: a missing column or an
    unknown label is refused, a new category counts as none. Whatever cannot be read raises a `PcnetError` that names
    the file, the line and the column. `progress` is told how much of a large file is read.

    >>> people = read_graph("examples/people", drop="town")
    >>> people.num_nodes, people.num_classes
    (160, 3)
    """
    options = ReadOptions(
        nodes, features, source, target, weight, id, label, drop, kinds or {}, directed, schema, classes
    )
    return graph_of(graph, options, progress)


def graph_of(
    value: Any, options: ReadOptions, progress: Progress | None = None, *, name: str = "graph", title: str = ""
) -> Graph:
    """`read_graph` with its keywords in one object; `title` is what sentences call a value that came from a file.

    >>> graph_of("examples/people", ReadOptions.parse(["drop=town"])).num_nodes
    160
    """
    if isinstance(value, (str, PathLike)):
        path = Path(value)
        if not path.exists():
            raise PcnetError(f"There is no file or folder {path}.")
        if path.is_dir() or path.suffix.lower() in table_suffixes():
            called = path.resolve().name if path.is_dir() else path.stem
            return graph_of_tables(called, tables_at(path, options, progress), options)
        with reading(path, ADVICE):
            return graph_of(open_file(path), options, name=path.stem, title=str(path))
    if is_frame(value):
        edges = frame_source(value, title or f"edges ({type(value).__name__})")
        features = None if options.features is None else Path(options.features)
        return graph_of_tables(name, Tables(edges, about(options.nodes), features=features), options)
    kind = type(value).__name__
    if is_a(value, "torch_geometric.data", "Data"):
        value = Arrays.of_pyg(value)
    elif scipy.sparse.issparse(value):
        value = Arrays.of_matrix(value)
    if not isinstance(value, (Arrays, Graph)) and not is_a(value, "networkx", "Graph"):
        raise PcnetError(
            f"{kind} is no graph that can be read: give a path, a data frame of edges (with nodes=…), a NetworkX "
            "graph, PyG's Data or a SciPy matrix; for arrays there are pcnet.graph_from_scipy(adjacency, x, y) and "
            "pcnet.Graph(edge_index, x, y)."
        )
    title = title or (value.title if isinstance(value, Arrays) else f"The {kind}")
    if options.nodes is not None or options.features is not None:
        more = "features" if options.nodes is None else "table of nodes"
        raise PcnetError(f"{title} holds nodes and edges; leave out the {more}.")
    if isinstance(value, Arrays):
        return graph_of_arrays(name, value, options)
    if not isinstance(value, Graph):
        return graph_of_networkx(name, value, options)
    if options.columns or options.directed:
        unused = ", ".join(options.columns) or "directed"
        raise PcnetError(f"{title} is taken as it is; leave out {unused}.")
    return value


def graph_from_pandas(edges: Any, nodes: Any = None, *, name: str = "graph", **options: Any) -> Graph:
    """The graph of two data frames, of pandas, polars, pyarrow or whatever hands out columns through Arrow.

    Columns and `options` mean what they mean for files (see `read_graph`); the index of pandas is a column.

    >>> import pandas
    >>> links = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    >>> people = pandas.DataFrame({"id": ["a", "b", "c"], "label": ["x", "y", "x"], "age": [31, 33, 20]})
    >>> graph_from_pandas(links, people).classes
    ('x', 'y')
    """
    for role, table in (("edges", edges), ("nodes", nodes)):
        if not is_frame(table) and not (table is None and role == "nodes"):
            raise PcnetError(f"{role} is of type {type(table).__name__}; give a data frame (pandas, polars, pyarrow).")
    return graph_of(edges, ReadOptions(nodes, **options), name=name)


def graph_from_networkx(graph: Any, *, name: str = "graph", **options: Any) -> Graph:
    """The graph of a NetworkX graph; attributes of nodes are read as columns of a table are.

    `options` are `weight`, `label`, `drop`, `kinds`, `directed`, `schema` and `classes` of `read_graph`.

    >>> import networkx
    >>> graph_from_networkx(networkx.karate_club_graph(), label="club").classes
    ('Mr. Hi', 'Officer')
    """
    return graph_of(graph, ReadOptions(**options), name=name)


def graph_from_pyg(data: Any, *, name: str = "graph", **options: Any) -> Graph:
    """The graph of PyG's `Data`: edge_index, and where there are any x, y, edge_weight and masks of splits.

    `options` are `directed`, `schema` and `classes` of `read_graph`.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> graph_from_pyg(Data(torch.eye(3), torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]))).num_features
    3
    """
    return graph_of(Arrays.of_pyg(data), ReadOptions(**options), name=name)


def graph_from_scipy(adjacency: Any, x: Any = None, y: Any = None, *, name: str = "graph", **options: Any) -> Graph:
    """The graph of a sparse matrix: entry (i, j) is the weight of the edge from i to j.

    x is an n × F array or sparse matrix, y one label a node (whole numbers or strings; −1, NaN or "" is unknown).
    `options` are `directed`, `schema` and `classes` of `read_graph`.

    >>> import scipy.sparse
    >>> graph_from_scipy(scipy.sparse.eye(3, k=1), y=["cat", "dog", ""]).y.tolist()
    [0, 1, -1]
    """
    return graph_of(Arrays.of_matrix(adjacency, x, y), ReadOptions(**options), name=name)


def as_graph(value: Any, *, schema: Schema | None = None, classes: Sequence[str | int] | None = None) -> Graph:
    """The graph that a value is or holds: a `Graph`, whatever `read_graph` takes, or a pair of edges and nodes.

    With the schema and the classes of a trained classifier it is read as the graph of the training was.

    >>> as_graph("examples/people").num_nodes
    160
    """
    if not isinstance(value, tuple):
        return graph_of(value, ReadOptions(schema=schema, classes=classes))
    if len(value) != 2:
        raise PcnetError(f"A tuple of {len(value)} is no graph; give a pair of data frames, edges and nodes.")
    return graph_of(value[0], ReadOptions(value[1], schema=schema, classes=classes))


def tables_at(path: Path, options: ReadOptions, progress: Progress | None) -> Tables:
    """A file of edges, or a folder with what else belongs to them; a file that is named has no second part in it."""
    nodes, features = _near(path, options.nodes), _near(path, options.features)
    edges, files = _edges_in(path) if path.is_dir() else (path, [])
    free = _without(files, edges, nodes, features)
    nodes = _called(free, ["nodes"]) if nodes is None else nodes
    features = _called(free, ["features"], (".json",)) if features is None else features
    labels = _called(_without(free, nodes), ["labels", "target"])
    unread = [file.name for file in _without(free, nodes, features, labels)]
    notes = (f"Not read: {listed(unread)}.",) if unread else ()
    return Tables(open_table(edges), about(nodes), about(labels), features, progress, notes)


def about(nodes: Any) -> Source | None:
    """A table about nodes, given as a path or as a data frame, if there is one."""
    if isinstance(nodes, (str, PathLike)):
        return open_table(Path(nodes))
    if nodes is None or is_frame(nodes):
        return None if nodes is None else frame_source(nodes, f"nodes ({type(nodes).__name__})")
    raise PcnetError(f"nodes is of type {type(nodes).__name__}; give a data frame or the path of a table.")


def open_table(path: Path) -> Source:
    opened = open_file(path, table=True)
    if isinstance(opened, Source):
        return opened
    if not is_frame(opened):
        raise PcnetError(f"The reader of {path} made a {type(opened).__name__}; a reader of tables makes a data frame.")
    return frame_source(opened, path.name)


def _near(graph: Path, name: Any) -> Any:
    """The file of that name from here, or else in the folder of the edges; what is no name stays as it is."""
    if not isinstance(name, (str, PathLike)):
        return name
    here, there = Path(name), (graph if graph.is_dir() else graph.parent) / name
    return there if there.is_file() and not here.is_file() else here


def _called(files: Sequence[Path], stems: Collection[str], endings: Collection[str] | None = None) -> Path | None:
    """The table that is called so, `nodes.csv`, or else the only one whose name ends so, `club_nodes.csv`."""
    tables = [path for path in files if path.suffix.lower() in (endings or table_suffixes())]
    exact = [path for path in tables if path.stem.lower() in stems]
    if len(exact) > 1:
        raise PcnetError(f"{exact[0].parent} has {exact[0].name} and {exact[1].name}; leave one.")
    ending = re.compile(rf"[_\-. ](?:{'|'.join(stems)})\Z", re.IGNORECASE)
    found = exact or [path for path in tables if ending.search(path.stem)]
    return found[0] if len(found) == 1 else None


def _edges_in(folder: Path) -> tuple[Path, list[Path]]:
    """The table of edges, without which there is no graph, and all files by their names; hidden ones are nobody's."""
    with reading(folder, ADVICE):
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    edges = _called(files, ["edges"])
    if edges is None:
        wanted = ", ".join(f"edges{ending}" for ending in table_suffixes())
        there = listed([path.name for path in files]) or "no files"
        raise PcnetError(
            f"There is none of {wanted} in the folder {folder}, which has {there}; put the edges there, or name the "
            "file that holds them."
        )
    return edges, files


def _without(files: Sequence[Path], *taken: object) -> list[Path]:
    """The files that are none of those taken, however their paths are written."""
    known = {path.resolve() for path in taken if isinstance(path, Path)}
    return [path for path in files if path.resolve() not in known]


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
    classes = [*(range(graph.num_classes) if graph.classes is None else graph.classes), None]
    labels = [classes[label] for label in graph.y.tolist()]
    features = _json_lists(graph) if format == "csv" else _arrow_lists(graph)
    write_table(nodes, {"id": graph.node_names, "label": labels, "features": features})
    try:
        write_table(edges, _edges(graph))
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
