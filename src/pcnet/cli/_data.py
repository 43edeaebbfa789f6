"""`pcnet data`: which datasets there are, where they are, whether their files are the right ones, and as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pcnet.cli._file_options import Data, Json, emit_json
from pcnet.data import (
    CATALOGUE,
    EMBEDDED,
    Dataset,
    cache_folder,
    data_folder,
    dataset_named,
    fetch,
    file_states,
    find,
    find_splits,
)
from pcnet.show import Table, strong

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name from `pcnet data list`.")]
#: What `found` says of the dataset inside the package.
PACKAGE = "package"


@app.callback()
def data() -> None:
    """List, fetch, verify and export the named datasets."""


@app.command("list")
def list_datasets(data: Data = None, json_file: Json = None) -> None:
    """Show every named dataset, its size and homophily, and where it was found."""
    rows = [_facts(dataset, data) for dataset in CATALOGUE.values()]
    numbers = ("nodes", "edges", "features", "classes")
    places = {None: "not found", PACKAGE: PACKAGE, str(cache_folder()): "cache"}
    cells = []
    for row in rows:
        place = places.get(row["found"], "data folder")
        cells.append([row["name"], *(f"{row[each]:,}" for each in numbers), f"{row['homophily']:.2f}", place])
    title, columns = "Datasets (edges: undirected, with native loops)", ("name", *numbers, "homophily", "found in")
    table = Table(title, columns, cells, words=("found in",)).rich()
    where = f"data folder: {data_folder(data) or 'none (--data or PCNET_DATA)'}", f"cache: {cache_folder()}"
    emit_json(json_file, rows, table, *where)


@app.command("get")
def get(name: Name, data: Data = None, json_file: Json = None) -> None:
    """Say where a dataset is; download it into the cache when it is nowhere."""
    dataset = dataset_named(name)
    folder = find(dataset, data)
    if folder is None or (dataset.split_files and not find_splits(dataset, data)):
        folder = fetch(dataset, data)
    where = f"{dataset.name} is in {folder / dataset.folder}."
    emit_json(json_file, {"name": dataset.name, "found": str(folder)}, where)


@app.command("verify")
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Names; all datasets that were found by default.")] = None,
    data: Data = None,
    json_file: Json = None,
) -> None:
    """Compare every raw file's checksum with the known one; exit code 1 if one differs or is missing."""
    chosen = [dataset_named(name) for name in names or []]
    if not chosen:
        chosen = [dataset for dataset in CATALOGUE.values() if find(dataset, data) is not None]
    rows = [row for dataset in chosen for row in file_states(dataset, data)]
    cells = [[row["file"], row["state"]] for row in rows]
    states = [each if each[1] == "ok" else strong(each) for each in cells]
    table = Table("", ("file", "state"), states, words=("state",), wrap=True)
    emit_json(json_file, rows, table.rich() if rows else "No dataset was found; name a folder with --data.")
    if any(row["state"] in ("changed", "missing") for row in rows):
        raise typer.Exit(1)


@app.command("export")
def export(
    name: Name,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write edges and nodes into.")],
    format: Annotated[Literal["csv", "parquet"], typer.Option(help="csv or parquet.")] = "csv",
    data: Data = None,
    json_file: Json = None,
) -> None:
    """Write a dataset as two tables, edges and nodes; read back, they are the same graph to the bit."""
    from pcnet.data import load_dataset, write_graph  # with torch, which the other commands do without

    graph = load_dataset(name, data).as_published()
    edges, nodes = write_graph(graph, out, format=format)
    where = f"{graph.name} is in {edges} and {nodes}."
    emit_json(json_file, {"name": graph.name, "edges": str(edges), "nodes": str(nodes)}, where)


def _facts(dataset: Dataset, data: Path | None) -> dict[str, Any]:
    folder, facts = find(dataset, data), dataset.facts._asdict()
    facts["edges"] += facts.pop("loops")
    found = (PACKAGE if dataset.name == EMBEDDED else None) if folder is None else str(folder)
    return {"name": dataset.name, **facts, "origin": dataset.origin, "found": found}
