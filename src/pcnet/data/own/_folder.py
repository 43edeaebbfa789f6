"""The tables that a graph is made of: what files are by their names, and what opens them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pcnet._progress import Progress, Silent
from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._arrow import frame_source, is_frame
from pcnet.data.own._cells import Table, listed
from pcnet.data.own._options import ReadOptions
from pcnet.data.own._readers import Source, open_file, table_suffixes
from pcnet.errors import PcnetError

#: Smaller files are read before a progress bar could be seen.
_LARGE = 16 * 2**20


@dataclass(frozen=True)
class Tables:
    """Edges, and about the nodes a table, one of labels and a file that lists features, each where there is one."""

    edges: Source
    nodes: Source | None = None
    labels: Source | None = None
    features: Path | None = None
    progress: Progress | None = None
    notes: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Source]:
        return [source for source in (self.edges, self.nodes, self.labels) if source is not None]

    def rows(self, source: Source, names: Sequence[str]) -> Table:
        """The named columns of one of the tables."""
        table = source.read(names, (self.progress if source.size >= _LARGE else None) or Silent())
        if not table.rows:
            raise PcnetError(f"{source.title} names its columns but has no rows.")
        return table


def tables_at(path: Path, options: ReadOptions, progress: Progress | None) -> Tables:
    """A file of edges, or a folder with what else belongs to them; a file that is named has no second part in it."""
    nodes, features = _near(path, options.nodes), _near(path, options.features)
    edges, files = _edges_in(path) if path.is_dir() else (path, [])
    free = _without(files, edges, nodes, features)
    nodes = _called(free, ["nodes"]) if nodes is None else nodes
    features = _called(free, ["features"], (".json",)) if features is None else features
    labels = _called(_without(free, nodes), ["labels", "target"])
    unread = [file.name for file in _without(free, nodes, features, labels)]
    return Tables(
        open_table(edges),
        None if nodes is None else source_of(nodes),
        None if labels is None else open_table(labels),
        features,
        progress,
        (f"Not read: {listed(unread)}.",) if unread else (),
    )


def source_of(nodes: Any) -> Source:
    """A table of nodes, given as a path or as a data frame."""
    if isinstance(nodes, (str, PathLike)):
        return open_table(Path(nodes))
    if is_frame(nodes):
        return frame_source(nodes, f"nodes ({type(nodes).__name__})")
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
