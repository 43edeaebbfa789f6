"""What the files of a folder are, and how tables about the same nodes come together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from own_graphs import PEOPLE, dense
from sklearn.preprocessing import MultiLabelBinarizer

from pcnet import PcnetError, read_graph

EDGES = "from,to\n0,1\n1,2\n2,3\n"
NODES = "id,age\n0,0.1\n1,0.2\n2,0.3\n3,0.4\n"
LABELS = "id,topic\n3,b\n1,a\n0,b\n"


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """`folder({"edges.csv": text, …})`: a folder with these files; what is no text is written as JSON."""

    def write(files: dict[str, object]) -> Path:
        place = tmp_path / "mine"
        place.mkdir()
        for name, content in files.items():
            (place / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return place

    return write


def test_the_folder_of_musae(real):
    """Against pandas and scikit-learn."""
    place = real / "own" / "musae-engb"
    graph = read_graph(place, label="mature")
    target = pd.read_csv(place / "target.csv")
    edges = pd.read_csv(place / "edges.csv")
    listed = json.loads((place / "features.json").read_text())
    assert graph.num_nodes == len(target) == 7126
    assert graph.ids.tolist() == target["new_id"].tolist()
    assert graph.classes == ("False", "True")
    assert graph.y.tolist() == target["mature"].astype(int).tolist()
    assert [column.name for column in graph.schema.columns] == ["days", "views", "partner", "features"]
    binarizer = MultiLabelBinarizer()
    known = binarizer.fit_transform([set(map(str, listed[str(node)])) for node in target["new_id"]])
    bag = graph.schema.columns[-1]
    assert bag.values == tuple(binarizer.classes_)
    assert np.array_equal(dense(graph)[:, -bag.width :].numpy(), known)
    place_of = {name: node for node, name in enumerate(target["new_id"])}
    ends = {(place_of[one], place_of[other]) for one, other in zip(edges["from"], edges["to"], strict=True)}
    assert set(map(tuple, graph.edge_index.T.tolist())) == ends | {(other, one) for one, other in ends}
    assert "target.csv: 'new_id' names the nodes (it has every end of the edges, 'id' has not), 'mature' holds" in (
        " ".join(graph.notes)
    )
    assert "Left out, because they are ids, another value in every row: id." in graph.notes
    again = read_graph(place, label="mature", schema=graph.schema, classes=graph.classes)
    assert torch.equal(dense(again), dense(graph))
    assert torch.equal(again.y, graph.y)
    assert [each.name for each in read_graph(place).label_candidates] == ["mature", "partner"]


def test_labels_and_features_are_joined_by_id(folder):
    features = {"1": [7, "Red"], "0": [7], "3": ["red", 20, 20]}
    graph = read_graph(
        folder({"edges.csv": EDGES, "nodes.csv": NODES, "labels.csv": LABELS, "features.json": features})
    )
    # A table of labels with one column beside the ids has the label there, whatever it is called.
    assert graph.classes == ("a", "b")
    assert graph.y.tolist() == [1, 0, -1, 1]
    assert [(column.name, column.kind, column.values) for column in graph.schema.columns] == [
        ("age", "number", ()),
        ("features", "bag", ("20", "7", "red")),
    ]
    expected = torch.tensor([[0.1, 0, 1, 0], [0.2, 0, 1, 1], [0.3, 0, 0, 0], [0.4, 1, 0, 1]])
    assert torch.equal(dense(graph), expected)
    for note in (
        "nodes.csv + labels.csv: 'id' names the nodes, 'topic' holds their labels.",
        "labels.csv: 1 of 4 nodes are not in it.",
        "features.json: 1 of 4 nodes are not in it.",
        "1 of 4 nodes have no label.",
    ):
        assert note in graph.notes


@pytest.mark.parametrize("name", ["target.csv", "labels.tsv", "club_target.csv", "labels.parquet"])
def test_a_table_of_labels_may_be_the_table_of_nodes(name, folder):
    place = folder({"edges.csv": EDGES})
    table = pd.DataFrame({"id": [3, 1, 0, 2], "topic": ["b", "a", "b", None]})
    if name.endswith(".parquet"):
        pa.parquet.write_table(pa.Table.from_pandas(table), place / name)
    else:
        table.to_csv(place / name, index=False, sep="\t" if name.endswith(".tsv") else ",")
    graph = read_graph(place)
    assert graph.ids.tolist() == [3, 1, 0, 2]
    assert graph.y.tolist() == [1, 0, 1, -1]
    assert graph.schema.structural


def test_typed_columns_of_a_joined_table_keep_their_types(folder):
    place = folder({"edges.csv": EDGES, "nodes.csv": NODES})
    columns = {
        "id": [2, 0, 9],
        "label": ["x", "y", "x"],
        "size": [0.1, None, 0.7],
        "at": [[1.0, 0.0], [0.0, 2.0], None],
    }
    pa.parquet.write_table(pa.table(columns), place / "labels.parquet")
    graph = read_graph(place)
    assert [(column.name, column.kind) for column in graph.schema.columns] == [
        ("age", "number"),
        ("size", "number"),
        ("at", "vector"),
    ]
    assert graph.y.tolist() == [1, -1, 0, -1]
    assert torch.equal(dense(graph)[:, 2:], torch.tensor([[0.0, 2], [0, 0], [1, 0], [0, 0]]))
    assert "labels.parquet: 1 of 3 ids are no nodes, first '9'; ignored." in graph.notes


def test_edges_and_features_alone(folder):
    graph = read_graph(folder({"edges.csv": EDGES, "my_features.json": {"7": ["a"], "1": ["b"]}}))
    assert graph.ids.tolist() == [0, 1, 2, 3, 7]
    assert dense(graph).tolist() == [[0, 0], [0, 1], [0, 0], [0, 0], [1, 0]]
    assert "There is no table of nodes: they are those that the edges and my_features.json name." in graph.notes


def test_lists_without_ids_are_in_the_order_of_the_ids(folder):
    graph = read_graph(folder({"edges.csv": EDGES, "nodes.csv": NODES, "features.json": [[5], [], [6], [5, 6]]}))
    assert dense(graph)[:, 1:].tolist() == [[1, 0], [0, 0], [0, 1], [1, 1]]


def test_features_that_nobody_wants_are_not_read(folder):
    place = folder({"edges.csv": EDGES, "nodes.csv": NODES, "features.json": "damaged"})
    trained = read_graph(place, drop="features")
    assert [column.name for column in trained.schema.columns] == ["age"]
    assert read_graph(place, schema=trained.schema).schema == trained.schema


def test_names_that_end_so_and_files_that_are_not_read(folder):
    names = {"Club_Edges.csv": EDGES, "club_nodes.csv": NODES, "README.md": "", "more.txt": "", ".hidden": ""}
    graph = read_graph(folder(names))
    assert graph.num_nodes == 4
    assert "Not read: README.md, more.txt." in graph.notes
    assert not any("Not read" in note for note in read_graph(PEOPLE).notes)


def test_an_exact_name_comes_before_one_that_ends_so(folder):
    place = folder({"edges.csv": EDGES, "old_edges.csv": "damaged", "a_labels.csv": "", "b_labels.csv": ""})
    graph = read_graph(place)
    assert "Not read: a_labels.csv, b_labels.csv, old_edges.csv." in graph.notes


def test_files_are_named_from_here_or_beside_the_edges(folder):
    place = folder({"edges.csv": EDGES, "members.csv": NODES, "words.json": {"1": ["a"]}, "nodes.csv": "damaged"})
    for path in (place, place / "edges.csv"):
        graph = read_graph(path, nodes="members.csv", features="words.json")
        assert [column.name for column in graph.schema.columns] == ["age", "features"]
    assert "Not read: nodes.csv." in read_graph(place, nodes=place / "members.csv", features=place / "words.json").notes


def test_the_ids_are_those_that_the_edges_speak_of(folder):
    nodes = "id,page,age,user_id\n70,1,0.5,5\n71,2,0.2,6\n72,3,0.1,9\n73,0,0.1,8\n"
    place = folder({"edges.csv": EDGES, "nodes.csv": nodes})
    graph = read_graph(place)
    assert graph.ids.tolist() == [1, 2, 3, 0]
    assert [column.name for column in graph.schema.columns] == ["age"]
    assert "Left out, because they are ids, another value in every row: id, user_id." in graph.notes
    # The classifier that was trained knows none of these columns, and still they are looked through.
    again = read_graph(place, schema=graph.schema)
    assert again.ids.tolist() == [1, 2, 3, 0]
    assert torch.equal(again.x, graph.x)
    # Whoever says so gets an id as a feature.
    assert read_graph(place, kinds={"user_id": "number"}).num_features == 2


def test_the_usual_name_wins_where_it_fits(folder):
    nodes = "new_id,age,id\n3,0.5,0\n2,0.2,1\n1,0.1,2\n0,0.1,3\n"
    graph = read_graph(folder({"edges.csv": EDGES, "nodes.csv": nodes}))
    assert graph.ids.tolist() == [0, 1, 2, 3]
    assert [column.name for column in graph.schema.columns] == ["age"]


def test_an_index_that_pandas_wrote_names_the_nodes(folder):
    place = folder({"edges.csv": EDGES})
    pd.DataFrame({"age": [0.1, 0.2, 0.3, 0.4]}).to_csv(place / "nodes.csv")
    graph = read_graph(place)
    assert graph.ids.tolist() == [0, 1, 2, 3]
    assert any("nodes.csv: the column without a name names the nodes (it has every end" in note for note in graph.notes)


TWO = "a,b,age\n0,3,0.1\n1,2,0.2\n2,1,0.3\n3,0,0.4\n"
NESTED = {"0": [1], "1": [[2]]}
FOLDERS: dict[str, tuple[dict[str, object], str]] = {
    "no edges": ({"links.csv": EDGES, "b.txt": ""}, "edges.parquet in the folder"),
    "what is there": ({"links.csv": EDGES, "b.txt": ""}, "which has b.txt, links.csv; put the edges there, or name"),
    "nothing there": ({}, "which has no files; put the edges there"),
    "several edges": ({"a_edges.csv": EDGES, "b_edges.csv": EDGES}, "which has a_edges.csv, b_edges.csv;"),
    "labels twice": (
        {"edges.csv": EDGES, "labels.csv": LABELS, "target.csv": LABELS},
        "has labels.csv and target.csv; leave",
    ),
    "two ids": (
        {"edges.csv": EDGES, "nodes.csv": TWO},
        "nodes.csv has two columns with every end of the edges, 'a' and 'b'",
    ),
    "no id fits": (
        {"edges.csv": EDGES + "3,9\n", "nodes.csv": NODES},
        "edges.csv, line 5, column 'to': there is no node '9' in nodes.csv",
    ),
    "labels of others": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "labels.csv": "id,topic\nx,a\ny,b\n"},
        "No id in the column 'id' of labels.csv is one of nodes.csv; correct one of them, or call",
    ),
    "names of classes": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "labels.csv": "label,name\n0,art\n1,zoo\n"},
        "No id in the column 'name' of labels.csv is one of nodes.csv",
    ),
    "labels in both": (
        {"edges.csv": EDGES, "nodes.csv": "id,class\n0,a\n1,b\n2,a\n3,b\n", "labels.csv": LABELS},
        "nodes.csv has labels ('class'), and so has labels.csv; name the column (label).",
    ),
    "label twice": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "target.csv": LABELS + "3,a\n"},
        "target.csv, line 5, column 'id': the id '3' was there before",
    ),
    "label without an id": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "target.csv": LABELS + ",a\n"},
        "target.csv, line 5, column 'id': the id is missing",
    ),
    "a column in both": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "target.csv": "id,label,age\n1,a,3\n2,b,4\n"},
        "nodes.csv and target.csv both have a column 'age'; rename one, or leave it out (drop).",
    ),
    "no number in a joined table": (
        {
            "edges.csv": EDGES,
            "nodes.csv": NODES,
            "target.csv": "id,label,size\n0,a,3\n1,b,4\n2,b,5\n3,b,6\n9,a,7\n8,b,many\n",
        },
        "target.csv, line 7, column 'size': 'many' is not a finite number",
    ),
    "features of others": (
        {"edges.csv": EDGES, "nodes.csv": NODES, "features.json": {"x": [1]}},
        "of features.json is one of nodes.csv",
    ),
    "features damaged": (
        {"edges.csv": EDGES, "features.json": '{"0": [1, 2'},
        "features.json is damaged or not the expected file (JSONDecodeError",
    ),
    "features of nothing": (
        {"edges.csv": EDGES, "features.json": {}},
        "features.json lists no features; fill or remove it",
    ),
    "features no object": (
        {"edges.csv": EDGES, "features.json": 3},
        'must hold an object, as in {"17": [3, 8]}, that lists the features',
    ),
    "features no list": (
        {"edges.csv": EDGES, "features.json": {"0": [1], "1": 5}},
        "features.json, key '1': '5' is no list of features",
    ),
    "features nested": (
        {"edges.csv": EDGES, "features.json": NESTED},
        "features.json, key '1': '[2]' is no feature, which is a whole",
    ),
    "features objects": (
        {"edges.csv": EDGES, "features.json": {"0": {"a": 1}}},
        "features.json, key '0': \"(('a', 1),)\" is no list",
    ),
    "features true": ({"edges.csv": EDGES, "features.json": {"0": [True]}}, "key '0': 'True' is no feature"),
    "features deep": (
        {"edges.csv": EDGES, "features.json": "[" * 10**5},
        "features.json is damaged or not the expected file",
    ),
    "features numbers": (
        {"edges.csv": EDGES, "features.json": {"0": [0.5]}},
        "features.json, key '0': '0.5' is no feature",
    ),
    "features values": (
        {"edges.csv": EDGES, "features.json": [[0, 1, 0], [1, 1, 1]]},
        "features.json has as many zeros and ones for every node",
    ),
    "features twice": (
        {"edges.csv": EDGES, "features.json": '{"0": [1], "0": [2]}'},
        "features.json, key '0': the id '0' was there before",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_refused(case, folder):
    files, words = FOLDERS[case]
    with pytest.raises(PcnetError) as error:
        read_graph(folder(files))
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_features_file_that_a_classifier_lacks(folder, tmp_path):
    trained = read_graph(folder({"edges.csv": EDGES, "nodes.csv": NODES, "features.json": {"0": [1]}}))
    (tmp_path / "mine" / "features.json").unlink()
    with pytest.raises(PcnetError, match=r"The column 'features' is missing in nodes\.csv"):
        read_graph(tmp_path / "mine", schema=trained.schema)


def test_a_list_of_features_that_would_fill_the_memory(folder):
    place = folder({"edges.csv": EDGES})
    with (place / "features.json").open("wb") as stream:
        stream.truncate(2**29 + 1)
    with pytest.raises(PcnetError, match=r"features\.json is larger than 512 MiB; make it a column of nodes\.parquet"):
        read_graph(place)


def test_a_kind_that_features_cannot_have(folder):
    with pytest.raises(PcnetError, match=r"features\.json can only be read as a bag; leave out the kind"):
        read_graph(folder({"edges.csv": EDGES, "features.json": {"0": [1]}}), kinds={"features": "number"})
