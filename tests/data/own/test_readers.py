"""A reader that is registered from outside is used wherever a graph is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import networkx
import pandas
import pytest

from pcnet import PcnetError, read_graph
from pcnet.cli._options import graph_at
from pcnet.data import READERS, csbm, reader
from pcnet.data.own import _readers
from pcnet.graph import Graph


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(READERS)
    yield
    READERS.clear()
    READERS.update(before)


@pytest.fixture
def records() -> None:
    """Tables as JSON lists of rows."""

    @reader(".records", table=True)
    def read_records(path: Path) -> pandas.DataFrame:
        return pandas.DataFrame(json.loads(path.read_text()))


def write(path: Path, **columns: list[object]) -> None:
    path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "edges.records", source=["a", "b"], target=["b", "c"])
    write(tmp_path / "nodes.records", id=["a", "b", "c"], label=["x", "y", "x"], age=[1, 2, 4])
    return tmp_path


def test_tables_of_another_format_are_found_in_a_folder(records, folder):
    for graph in (read_graph(folder), graph_at(str(folder), None)):
        assert (graph.num_nodes, graph.classes, graph.schema.columns[0].name) == (3, ("x", "y"), "age")
    assert "edges.records: edges from 'source' to 'target'." in graph.notes


def test_beside_tables_of_known_formats(records, folder):
    (folder / "nodes.records").unlink()
    (folder / "nodes.csv").write_text("id,label\na,x\nb,y\nc,x\n")
    assert read_graph(folder).num_classes == 2
    assert read_graph(folder / "edges.records", nodes=folder / "nodes.csv", label="label").num_classes == 2


def test_complaints_name_the_file_and_the_row(records, folder):
    write(folder / "edges.records", source=["a", "b"], target=["b", "z"])
    with pytest.raises(PcnetError, match=r"edges\.records, row 1, column 'target': there is no node 'z'"):
        read_graph(folder)
    (folder / "nodes.records").write_text("[")
    with pytest.raises(PcnetError, match=r"nodes\.records is damaged or not the expected file"):
        read_graph(folder)


def test_a_file_that_holds_a_whole_graph(tmp_path, monkeypatch):
    path = tmp_path / "mine.adjacency"
    path.write_text("a b c\nb c\nd\n")
    with pytest.raises(PcnetError, match=r"must end in \.csv, \.tsv, \.parquet, \.npz, \.graphml"):
        read_graph(path)
    reader(".adjacency")(networkx.read_adjlist)
    graph = read_graph(path)
    assert (graph.name, graph.num_nodes, graph.edge_index.shape[1]) == ("mine", 4, 6)
    # A name that ends so is a path for every command, also where nothing lies there.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PcnetError, match=r"There is no file or folder other\.adjacency"):
        graph_at("other.adjacency", None)
    with pytest.raises(PcnetError, match="holds nodes and edges; leave out the table of nodes"):
        read_graph(path, nodes="nodes.csv")


def test_a_reader_may_make_the_graph_itself(tmp_path):
    made = csbm(40)

    @reader(".planted")
    def planted(path: Path) -> Graph:
        return made

    path = tmp_path / "some.planted"
    path.touch()
    assert read_graph(path) is made
    with pytest.raises(PcnetError, match=r"some\.planted is taken as it is; leave out label"):
        read_graph(path, label="y")


def test_what_is_no_graph_is_said(tmp_path):
    reader(".words")(Path.read_text)
    (tmp_path / "some.words").write_text("nothing")
    with pytest.raises(PcnetError, match="There is no file or folder nothing"):
        read_graph(tmp_path / "some.words")


def test_a_table_is_a_data_frame(tmp_path):
    reader(".rows", table=True)(lambda path: [1, 2])
    (tmp_path / "edges.rows").touch()
    with pytest.raises(PcnetError, match=r"edges\.rows made a list; a reader of tables makes a data frame"):
        read_graph(tmp_path)


def test_a_suffix_has_one_reader():
    with pytest.raises(PcnetError, match=r"There is a reader of files that end in '\.csv' already"):
        reader(".CSV")(Path.read_text)
    assert _readers.table_suffixes() == (".csv", ".tsv", ".parquet")


class Heard:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[list[object]] = []

    def stage(self, title: str, total: int) -> None:
        self.stages.append([title, total, 0])

    def advance(self, units: int = 1) -> None:
        self.stages[-1][2] += units


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_progress_of_large_files(suffix, tmp_path):
    names = pandas.Series([f"a node with a long name, number {number}" for number in range(200)])
    ends = pandas.DataFrame({"source": [*names] * 1_500, "target": [*names[1:], names[0]] * 1_500})
    path = tmp_path / f"edges{suffix}"
    if suffix == ".csv":
        ends.to_csv(path, index=False)
    else:
        ends.to_parquet(path, row_group_size=100_000, compression="none", use_dictionary=False)
    heard = Heard()
    graph = read_graph(path, progress=heard, directed=True)
    assert graph.num_nodes == 200
    (stage,) = heard.stages
    assert stage[0] == f"reading edges{suffix}"
    assert stage[1] == stage[2] == (path.stat().st_size // 2**20 if suffix == ".csv" else 3)
    small = Heard()
    read_graph(Path(__file__).parents[3] / "examples" / "people", progress=small)
    assert small.stages == []
