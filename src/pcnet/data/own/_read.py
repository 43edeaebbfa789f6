"""`read_graph`: your own graph from the files you have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pcnet.data.own._arrays import read_npz
from pcnet.data.own._bar import shown
from pcnet.data.own._build import graph_of_table
from pcnet.data.own._csv import CsvFile
from pcnet.data.own._ends import Ends, names_in, nodes_of, read_weight
from pcnet.data.own._labels import read_ids
from pcnet.data.own._networkx import read_graphml
from pcnet.data.own._parquet import ParquetFile
from pcnet.data.own._roles import NodeColumns, Wishes, check_drop, edge_columns, node_columns
from pcnet.data.own._table import Table
from pcnet.errors import PcnetError
from pcnet.graph import Graph, Kind, Schema

TABLES = (".csv", ".tsv", ".parquet")


def read_graph(
    path: str | Path,
    *,
    nodes: str | Path | None = None,
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

    Edges name two nodes, and maybe a weight; nodes have an id (words or whole numbers, kept in `graph.ids`), maybe a
    label (empty: to be predicted, −1) and columns that become features by their kind: numbers (standardised where
    they leave [−1, 1]), booleans, categories (one-hot), lists of numbers, bags of words. Without a file of nodes they
    are those that the edges name; without features, log degrees and a spectral embedding take their place. Which
    columns are what is guessed and said in `graph.notes`; `source`, `target`, `weight`, `id`, `label` name them,
    `drop` leaves columns out, `kinds` says how to read them, as in `kinds={"zip": "category"}`.

    The graph has both directions of every edge, duplicates merged (weights add up); `directed=True` keeps the list.

    `schema` and `classes` of a trained classifier encode another table exactly as the first: a missing column or an
    unknown label is refused, a new category counts as none.
    """
    wishes = Wishes(source, target, weight, id, label, _collection(drop), kinds or {}, directed, schema, classes)
    path = Path(path)
    if not path.exists():
        raise PcnetError(f"There is no file or folder {path}.")
    if path.suffix.lower() in (".npz", ".graphml") and path.is_file():
        if nodes is not None:
            raise PcnetError(f"{path} holds nodes and edges; leave out the table of nodes.")
        return read_npz(path, wishes) if path.suffix.lower() == ".npz" else read_graphml(path, wishes)
    if path.is_dir():
        edge_path = _only(path, "edges")
        if edge_path is None:
            wanted = ", ".join(f"edges{suffix}" for suffix in TABLES)
            raise PcnetError(f"There is none of {wanted} in the folder {path}; put the edges there.")
        node_path = _only(path, "nodes") if nodes is None else Path(nodes)
    else:
        edge_path, node_path = path, None if nodes is None else Path(nodes)
    return _read_tables(path.resolve().name if path.is_dir() else path.stem, edge_path, node_path, wishes, progress)


def _read_tables(name: str, edge_path: Path, node_path: Path | None, wishes: Wishes, progress: bool) -> Graph:
    edge_file = _open(edge_path)
    node_file = None if node_path is None else _open(node_path)
    check_drop(wishes.drop, [*edge_file.names, *(node_file.names if node_file else ())])
    ends = edge_columns(edge_file.title, edge_file.names, wishes)
    notes = [*edge_file.notes, *ends.notes]
    if node_file is not None:
        columns = node_columns(node_file.title, node_file.names, wishes)
        notes += node_file.notes
        table = _rows(node_file, columns.names, progress)
        edge_table = _rows(edge_file, ends.names, progress)
    else:
        edge_table = _rows(edge_file, ends.names, progress)
        columns = NodeColumns("id", None, [], ["There is no table of nodes: they are those that the edges name."])
        names = names_in(edge_table.coded(ends.source), edge_table.coded(ends.target))
        table = Table(edge_file.title, {"id": names}, len(names.codes))
    ids, nodes = read_ids(table, columns.id)
    source, target = (nodes_of(edge_table, column, nodes, table.title) for column in (ends.source, ends.target))
    weight = None if ends.weight is None else read_weight(edge_table, ends.weight)
    return graph_of_table(name, table, columns, ids, Ends(source, target, weight), wishes, notes)


def _open(path: Path) -> CsvFile | ParquetFile:
    if not path.is_file():
        raise PcnetError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise PcnetError(f"{path} is no table that can be read; it must end in {', '.join(TABLES)}.")
    return ParquetFile.open(path) if suffix == ".parquet" else CsvFile.open(path)


def _rows(file: CsvFile | ParquetFile, names: Sequence[str], progress: bool) -> Table:
    with shown(file.path, progress) as tell:
        table = file.read(names, tell)
    if not table.rows:
        raise PcnetError(f"{file.path} names its columns but has no rows.")
    return table


def _only(folder: Path, stem: str) -> Path | None:
    """The one table of that name in the folder."""
    found = [folder / f"{stem}{suffix}" for suffix in TABLES if (folder / f"{stem}{suffix}").is_file()]
    if len(found) > 1:
        raise PcnetError(f"{folder} has {found[0].name} and {found[1].name}; leave one.")
    return found[0] if found else None


def _collection(drop: Collection[str]) -> Collection[str]:
    """One name is as good as a list of it."""
    return (drop,) if isinstance(drop, str) else tuple(drop)
