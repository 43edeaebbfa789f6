"""A dataset written as tables and read back is the same graph, to the bit, and trains to the same bits."""

from __future__ import annotations

import csv
import datetime
import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from own_graphs import PEOPLE, dense, same
from typer.testing import CliRunner

import pcnet
from pcnet import PcnetError, read_graph
from pcnet.cli._data import app
from pcnet.data import load_embedded, write_graph
from pcnet.graph import Graph


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_citeseer_is_the_same_graph_and_trains_to_the_same_bits(kind, tmp_path):
    named = load_embedded().as_published()
    write_graph(named, tmp_path / "citeseer", format=kind)
    own = read_graph(tmp_path / "citeseer")
    assert own.name == "citeseer"
    same(named, own)

    def logits(graph: Graph) -> torch.Tensor:
        split = pcnet.make_split(graph, "random-60-20-20", 0)
        settings = pcnet.TrainingSettings(epochs=20)
        run = pcnet.Run(pcnet.PCNetSettings(), settings, pcnet.Targets.from_split(split), 0)
        return pcnet.train(graph, [run])[0].logits

    if kind == "csv":
        assert torch.equal(logits(named), logits(own))


@pytest.mark.parametrize("name", ["texas", "cora", "actor", "reed98"])
def test_real_datasets(name, load, tmp_path):
    named = load(name)
    write_graph(named, tmp_path / name, format="parquet")
    same(named, read_graph(tmp_path / name))


def test_names_weights_and_dense_features_survive(tmp_path):
    graph = pcnet.csbm(n=30, seed=3)
    weight = torch.rand(graph.edge_index.shape[1])
    mirror = {tuple(ends): place for place, ends in enumerate(graph.edge_index.T.tolist())}
    for one, other in itertools.combinations(range(30), 2):
        if (one, other) in mirror:
            weight[mirror[other, one]] = weight[mirror[one, other]]
    named = Graph(
        graph.edge_index, graph.x, graph.y, weight, ids=np.array([f"n{i}" for i in range(30)]), classes=("ja", "nein")
    )
    for kind in ("csv", "parquet"):
        write_graph(named, tmp_path / kind, format=kind)
        own = read_graph(tmp_path / kind)
        same(named, own)
        assert torch.equal(own.edge_weight, weight)
        assert own.ids.tolist() == named.ids.tolist()
        assert own.classes == named.classes


def test_a_directed_graph_is_written_as_it_is(tmp_path):
    graph = Graph(torch.tensor([[2, 0, 0], [1, 1, 1]]), torch.eye(3), torch.tensor([0, 1, -1]))
    write_graph(graph, tmp_path)
    same(graph, read_graph(tmp_path, directed=True))


def test_csv_and_parquet_are_the_same_table(tmp_path):
    """Typed columns and words come to the same features, labels and names."""
    with (PEOPLE / "nodes.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    words = {name: [row[name] for row in rows] for name in ("id", "town", "about")}
    typed = {
        "label": [row["label"] or None for row in rows],
        "age": [int(row["age"]) for row in rows],
        "member": [row["member"] == "yes" for row in rows],
    }
    order = ("id", "label", "age", "member", "town", "about")
    pa.parquet.write_table(pa.table({name: (words | typed)[name] for name in order}), tmp_path / "nodes.parquet")
    with (PEOPLE / "edges.csv").open(encoding="utf-8") as stream:
        links = list(csv.DictReader(stream))
    columns = {name: pa.array([link[name] for link in links]).dictionary_encode() for name in ("source", "target")}
    pa.parquet.write_table(pa.table(columns), tmp_path / "edges.parquet", row_group_size=50)
    one, other = read_graph(PEOPLE), read_graph(tmp_path)
    same(one, other)
    assert one.schema == other.schema
    assert one.classes == other.classes
    assert one.ids.tolist() == other.ids.tolist()


def test_parquet_types(tmp_path):
    day = datetime.date(2024, 2, 20)
    table = {
        "id": pa.array(["7", "08", "9"]),
        "label": pa.array([1.0, None, 2.0]),
        "small": pa.array([1, 0, 1], pa.int8()),
        "tags": pa.array([["b", "a"], None, ["b"]]),
        "fixed": pa.array([[0.5, 1.0], None, [0.0, 2.0]], pa.list_(pa.float32(), 2)),
        "day": pa.array([day, day, day]),
        "__index_level_0__": pa.array([0, 1, 2]),
    }
    pa.parquet.write_table(pa.table(table), tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n7,08\n")
    graph = read_graph(tmp_path)
    # The file says that these are words, whatever they look like.
    assert graph.ids.tolist() == ["7", "08", "9"]
    assert graph.classes == (1, 2)
    assert graph.y.tolist() == [0, -1, 1]
    assert [(column.name, column.kind) for column in graph.schema.columns] == [
        ("small", "number"),
        ("tags", "bag"),
        ("fixed", "vector"),
    ]
    assert dense(graph).tolist() == [[1, 1, 1, 0.5, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 2]]
    assert any("Left out" in note and "day" in note for note in graph.notes)


def test_the_example_is_what_its_script_makes():
    graph = read_graph(PEOPLE)
    assert graph.num_nodes == 160
    assert graph.classes == ("climbing", "rowing", "tennis")
    assert [column.kind for column in graph.schema.columns] == ["number", "boolean", "category", "bag"]
    assert int((graph.y < 0).sum()) == 42


def test_export_command(alone, tmp_path):
    runner, out = CliRunner(), tmp_path / "tables"
    result = runner.invoke(app, ["export", "citeseer", "--out", str(out), "--format", "parquet", "--json", "-"])
    assert result.exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["edges.parquet", "nodes.parquet"]
    assert str(out / "edges.parquet") in result.stdout
    before = (out / "edges.parquet").read_bytes()
    with pytest.raises(PcnetError, match=r"already has edges\.parquet; choose another folder"):
        runner.invoke(app, ["export", "citeseer", "--out", str(out)], catch_exceptions=False)
    assert (out / "edges.parquet").read_bytes() == before
    with pytest.raises(PcnetError, match="Did you mean 'citeseer'"):
        runner.invoke(app, ["export", "citeser", "--out", str(tmp_path / "no")], catch_exceptions=False)
    assert not (tmp_path / "no").exists()
