"""What a command's GRAPH argument means: a file or folder of your own, or a named dataset."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from pcnet.data import CATALOGUE, EMBEDDED, dataset_named, load_dataset, read_graph
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.graph import Graph, Kind

#: How the names of files that hold a graph end.
ENDINGS = (".npz", ".graphml", ".csv", ".tsv", ".parquet")
#: What `read_graph` takes a name for.
TEXTS = ("nodes", "features", "source", "target", "weight", "id", "label")

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
        help="How to read your own graph: nodes, features, source, target, weight, id, label, drop, directed or "
        "kind.COLUMN, as in --read label=topic --read kind.zip=category.",
    ),
]


def graph_at(name: str | None, data: Path | None, read: Sequence[str] | None = None) -> Graph:
    """The graph that `name` means; None is CiteSeer, which is inside the package.

    A bare word that names a dataset is that dataset, whatever lies in the working folder: `./texas` is the folder.
    `read` are the `key=value` assignments of `--read`.
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
        return read_graph(Path(name), **read_options(read))
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


def read_options(assignments: Sequence[str] | None) -> dict[str, Any]:
    """`key=value` assignments of `--read` as arguments of `read_graph`."""
    options: dict[str, Any] = {"drop": [], "kinds": {}}
    for assignment in assignments or ():
        key, equals, value = (part.strip() for part in assignment.partition("="))
        kind, dot, column = key.partition(".")
        if equals and value and key in TEXTS:
            options[key] = value
        elif equals and value and key == "drop":
            options["drop"].append(value)
        elif key == "directed" and value.lower() in ("true", "false"):
            options[key] = value.lower() == "true"
        elif kind == "kind" and dot and column and value in get_args(Kind):
            options["kinds"][column] = value
        elif kind == "kind" or key == "directed":
            choices = get_args(Kind) if kind == "kind" else ("true", "false")
            raise PcnetError(f"--read {key} must be one of {', '.join(choices)}, not '{value}'.")
        else:
            known = ", ".join((*TEXTS, "drop", "directed", "kind.COLUMN"))
            hint = close_match(key, TEXTS)
            raise PcnetError(f"--read takes KEY=VALUE with a key of {known}, not '{assignment}'.{hint}")
    return options


def _looks_like_path(name: str) -> bool:
    separators = [mark for mark in (os.sep, os.altsep) if mark]
    return any(mark in name for mark in separators) or name.lower().endswith(ENDINGS)
