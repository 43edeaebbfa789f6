"""What a command's GRAPH argument means: a file or folder of your own, or a named dataset."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Annotated

import typer

from pcnet.data import CATALOGUE, EMBEDDED, dataset_named, load_dataset
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.graph import Graph

#: How the names of files that hold a graph end.
ENDINGS = (".npz", ".graphml", ".csv", ".tsv", ".parquet")

GraphArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[GRAPH]",
        help="Your own file or folder (edges and nodes), or a name from `pcnet data list`.",
        show_default=EMBEDDED,
    ),
]


def graph_at(name: str | None, data: Path | None) -> Graph:
    """The graph that `name` means; None is CiteSeer, which is inside the package.

    A bare word that names a dataset is that dataset, whatever lies in the working folder: `./texas` is the folder.
    """
    if name is None:
        return load_dataset(EMBEDDED, data)
    if _names_dataset(name):
        if Path(name).exists():
            warnings.warn(
                f"'{name}' is taken as the named dataset; write '.{os.sep}{name}' for what lies here.",
                PcnetWarning,
                stacklevel=2,
            )
        return load_dataset(name, data)
    if Path(name).exists() or _looks_like_path(name):
        from pcnet.data import read_graph

        return read_graph(Path(name))
    raise PcnetError(
        f"'{name}' is neither a file or folder here nor a named dataset.{close_match(name, CATALOGUE)} "
        f"Give the path of your graph, or one of {', '.join(CATALOGUE)}."
    )


def _names_dataset(name: str) -> bool:
    try:
        dataset_named(name)
    except PcnetError:
        return False
    return True


def _looks_like_path(name: str) -> bool:
    separators = [mark for mark in (os.sep, os.altsep) if mark]
    return any(mark in name for mark in separators) or name.lower().endswith(ENDINGS)
