"""What a command's GRAPH argument means: a file or folder of your own, or a named dataset."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pcnet.data import CATALOGUE, EMBEDDED, READ_KEYS, READERS, ReadOptions, dataset_named, graph_of, load_dataset
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.graph import Graph
from pcnet.show import ProgressBar

GraphArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[GRAPH]",
        help="Your own file or folder (edges and nodes), or a name from `pcnet data list`.",
        show_default=EMBEDDED,
    ),
]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help=f"How to read your own graph: {', '.join(READ_KEYS[:-1])} or {READ_KEYS[-1]}, as in --read label=topic "
        "--read kind.zip=category.",
    ),
]


def graph_at(name: str | None, data: Path | None, read: Sequence[str] | None = None) -> Graph:
    """The graph that `name` means; None is CiteSeer, which is inside the package.

    A bare word that names a dataset is that dataset, whatever lies in the working folder: `./texas` is the folder.
    `read` are `key=value` options of `read_graph`.
    """
    if name is None or names_dataset(name):
        if read:
            raise PcnetError("--read is for your own files; a named dataset has one way to be read.")
        if name is not None and Path(name).exists():
            warnings.warn(
                f"'{name}' is taken as the named dataset; write '.{os.sep}{name}' for what lies here.",
                PcnetWarning,
                stacklevel=2,
            )
        return load_dataset(name or EMBEDDED, data)
    if Path(name).exists() or _looks_like_path(name):
        with ProgressBar() as progress:
            return graph_of(Path(name), ReadOptions.parse(read), progress)
    raise PcnetError(
        f"'{name}' is neither a file or folder here nor a named dataset.{close_match(name, CATALOGUE)} "
        f"Give the path of your graph, or one of {', '.join(CATALOGUE)}."
    )


def names_dataset(name: str | None) -> bool:
    """Whether a GRAPH argument means a dataset of the catalogue."""
    try:
        return name is None or bool(dataset_named(name))
    except PcnetError:
        return False


def _looks_like_path(name: str) -> bool:
    separators = [mark for mark in (os.sep, os.altsep) if mark]
    return any(mark in name for mark in separators) or name.lower().endswith(tuple(READERS))
