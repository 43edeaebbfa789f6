"""What the files of a folder are, by their names: edges, nodes, labels, and features that are listed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from pcnet.data._reading import reading
from pcnet.data.own._columns import listed
from pcnet.data.own._csv import ADVICE
from pcnet.data.own._sources import TABLES
from pcnet.errors import PcnetError


def files_in(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones are nobody's."""
    with reading(folder, ADVICE):
        return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def called(files: Sequence[Path], stems: Collection[str], endings: Collection[str] = TABLES) -> Path | None:
    """The file that is called so, `nodes.csv`, or else the only one whose name ends so, `club_nodes.csv`."""
    tables = [path for path in files if path.suffix.lower() in endings]
    exact = [path for path in tables if path.stem.lower() in stems]
    if len(exact) > 1:
        raise PcnetError(f"{exact[0].parent} has {exact[0].name} and {exact[1].name}; leave one.")
    ending = re.compile(rf"[_\-. ](?:{'|'.join(stems)})\Z", re.IGNORECASE)
    found = exact or [path for path in tables if ending.search(path.stem)]
    return found[0] if len(found) == 1 else None


def edges_in(folder: Path, files: Sequence[Path]) -> Path:
    """The table of edges, without which there is no graph."""
    edges = called(files, ["edges"])
    if edges is None:
        wanted = ", ".join(f"edges{ending}" for ending in TABLES)
        there = f"which has {listed([path.name for path in files])}" if files else "which has no files"
        raise PcnetError(
            f"There is none of {wanted} in the folder {folder}, {there}; put the edges there, or name the file that "
            "holds them."
        )
    return edges


def without(files: Sequence[Path], taken: Sequence[object]) -> list[Path]:
    """The files that are none of those taken, however their paths are written."""
    known = {path.resolve() for path in taken if isinstance(path, Path)}
    return [path for path in files if path.resolve() not in known]
