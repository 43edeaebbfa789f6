"""`read_graph`: your own graph from the files you have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pcnet.data.own._arrays import read_npz, read_pyg, read_scipy
from pcnet.data.own._columns import listed
from pcnet.data.own._folder import called, edges_in, files_in, without
from pcnet.data.own._frames import Frame, is_a, is_frame
from pcnet.data.own._networkx import read_graphml, read_networkx
from pcnet.data.own._roles import Wishes, collection
from pcnet.data.own._sources import Source, Tables, open_table
from pcnet.data.own._tables import graph_of_tables
from pcnet.errors import PcnetError
from pcnet.graph import Graph, Kind, Schema

#: Classes of other libraries that hold a graph; a value of one is there only if its library is.
_LIBRARIES: tuple[tuple[str, str, Callable[[str, Any, Wishes], Graph]], ...] = (
    ("networkx", "Graph", read_networkx),
    ("torch_geometric.data", "Data", read_pyg),
    ("scipy.sparse", "spmatrix", read_scipy),
    ("scipy.sparse", "sparray", read_scipy),
)


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
    progress: bool = True,
) -> Graph:
    """Your own graph: a folder with `edges.csv` and `nodes.csv` (or .tsv, .parquet), a file of edges, .npz or .graphml.

        >>> read_graph("people").num_nodes                                    # doctest: +SKIP
        160
        >>> read_graph("links.tsv", nodes="pages.parquet", label="topic")     # doctest: +SKIP
        >>> read_graph("musae-engb", label="mature")                          # doctest: +SKIP

    In a folder `labels.csv` or `target.csv` is joined to the nodes by their ids (or is the table of nodes), and
    `features.json` lists the features of each id. `club_edges.csv` will do for `edges.csv`, and so on. What is in
    memory already is read as well: data frames, a NetworkX graph, PyG's `Data`, a SciPy matrix of edges.

    Edges name two nodes, and maybe a weight; nodes have an id (words or whole numbers, kept in `graph.ids`), maybe a
    label (missing: to be predicted, −1) and columns that become features by their kind: numbers (standardised where
    they leave [−1, 1]), booleans, categories (one-hot), lists of numbers, bags of words. Without a file of nodes they
    are those that the edges name; without features, log degrees and a spectral embedding take their place. Which
    columns are what is guessed, by names and by what the edges speak of, and said in `graph.notes`; `source`,
    `target`, `weight`, `id`, `label` name them, `drop` leaves columns out, `kinds` says how to read them, as in
    `kinds={"zip": "category"}`.

    The graph has both directions of every edge, duplicates merged (weights add up); `directed=True` keeps the list.

    `schema` and `classes` of a trained classifier encode another table exactly as the first: a missing column or an
    unknown label is refused, a new category counts as none.
    """
    wishes = Wishes(source, target, weight, id, label, collection(drop), kinds or {}, directed, schema, classes)
    if isinstance(graph, (str, PathLike)):
        path = Path(graph)
        if not path.exists():
            raise PcnetError(f"There is no file or folder {path}.")
        if path.suffix.lower() in (".npz", ".graphml") and path.is_file():
            _alone(str(path), nodes, features)
            return read_npz(path, wishes) if path.suffix.lower() == ".npz" else read_graphml(path, wishes)
        return _read_files(path, nodes, features, wishes, progress)
    if is_frame(graph):
        about = None if nodes is None else _source(nodes)
        tables = Tables(Frame.of(graph, "edges"), about, features=None if features is None else Path(features))
        return graph_of_tables("graph", tables, wishes)
    for module, kind, read in _LIBRARIES:
        if is_a(graph, module, kind):
            _alone(f"The {type(graph).__name__}", nodes, features)
            return read("graph", graph, wishes)
    raise PcnetError(
        f"{type(graph).__name__} is no graph that can be read: give a path, a data frame of edges (with nodes=…), a "
        "NetworkX graph, PyG's Data or a SciPy matrix; for arrays there are pcnet.graph_from_scipy(adjacency, x, y) "
        "and pcnet.Graph(edge_index, x, y)."
    )


def _read_files(path: Path, nodes: Any, features: Any, wishes: Wishes, progress: bool) -> Graph:
    """A file of edges, or a folder with what else belongs to them; a file that is named has no second part in it."""
    files = files_in(path) if path.is_dir() else []
    nodes, features = _near(path, nodes), _near(path, features)
    edges = edges_in(path, files) if path.is_dir() else path
    free = without(files, [edges, nodes, features])
    nodes = called(free, ["nodes"]) if nodes is None else nodes
    features = called(free, ["features"], (".json",)) if features is None else features
    labels = called(without(free, [nodes]), ["labels", "target"])
    unread = without(free, [nodes, features, labels])
    notes = [f"Not read: {listed([file.name for file in unread])}."] if unread else []
    tables = Tables(
        open_table(edges),
        None if nodes is None else _source(nodes),
        None if labels is None else open_table(labels),
        features,
        progress,
    )
    return graph_of_tables(path.resolve().name if path.is_dir() else path.stem, tables, wishes, notes)


def _near(graph: Path, name: Any) -> Any:
    """The file of that name from here, or else beside the edges of the graph; what is no name stays as it is."""
    if not isinstance(name, (str, PathLike)):
        return name
    path, beside = Path(name), (graph if graph.is_dir() else graph.parent) / name
    return beside if beside.is_file() and not path.is_file() else path


def _source(nodes: Any) -> Source:
    """A table of nodes."""
    if isinstance(nodes, (str, PathLike)):
        return open_table(Path(nodes))
    if is_frame(nodes):
        return Frame.of(nodes, "nodes")
    raise PcnetError(f"nodes is of type {type(nodes).__name__}; give a data frame or the path of a table.")


def _alone(what: str, nodes: object, features: object) -> None:
    if nodes is not None or features is not None:
        more = "features" if nodes is None else "table of nodes"
        raise PcnetError(f"{what} holds nodes and edges; leave out the {more}.")
