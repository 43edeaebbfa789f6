"""Another table is encoded exactly as the one that a classifier was trained on."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from own_graphs import dense

from pcnet import PcnetError, graph_from_scipy, read_graph

OLD = "id,label,age,member,town,about\na,x,10,yes,P,red fox\nb,y,30,no,Q,blue fox\nc,x,20,no,P,fox\nd,y,20,no,Q,a red\n"
NEW = "id,about,town,extra,age,member\n1,green fox fox,R,9,40,yes\n2,red,Q,9,,\n"
LINKS = "source,target\n1,2\n"


@pytest.fixture
def trained(tables):
    return read_graph(tables(OLD, "source,target\na,b\n"), kinds={"about": "bag"})


def test_the_same_features_in_the_same_order(trained, tables):
    graph = read_graph(tables(NEW, LINKS), schema=trained.schema, classes=trained.classes)
    assert graph.schema == trained.schema
    assert graph.classes == ("x", "y")
    assert graph.y.tolist() == [-1, -1]
    deviation = np.sqrt(50)
    # age, member, town = P, Q, about = a, blue, fox, red
    assert np.allclose(dense(graph), [[20 / deviation, 1, 0, 0, 0, 0, 2, 0], [0, 0, 0, 1, 0, 0, 0, 1]])
    said = " ".join(graph.notes)
    assert "1 values in 'town' of nodes.csv are new ('R', …) and count as none" in said
    assert "nodes.csv: not used: extra." in said


def test_the_same_table_is_the_same_to_the_bit(trained, tables):
    again = read_graph(tables(OLD, "source,target\na,b\n"), schema=trained.schema, classes=trained.classes)
    assert torch.equal(dense(again), dense(trained))
    assert torch.equal(again.y, trained.y)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (NEW.replace("age", "years"), "The column 'age' is missing in nodes.csv; the classifier was trained with it."),
        (NEW.replace("40", "forty"), "nodes.csv, line 2, column 'age': 'forty' is not a finite number"),
        (NEW.replace("yes", "perhaps"), "nodes.csv, line 2, column 'member': 'perhaps' is none of true, false"),
        (NEW.replace("extra", "label"), "nodes.csv, line 2, column 'label': '9' is no class of the classifier, which"),
    ],
)
def test_a_mismatch_is_refused_in_words(nodes, words, trained, tables):
    with pytest.raises(PcnetError) as error:
        read_graph(tables(nodes, LINKS), schema=trained.schema, classes=trained.classes)
    assert words in str(error.value)


def test_one_label_is_enough_to_predict(trained, tables):
    graph = read_graph(
        tables(NEW.replace("extra", "label").replace("9", "y"), LINKS), schema=trained.schema, classes=("x", "y")
    )
    assert graph.y.tolist() == [1, 1]


def test_arrays_are_no_columns(trained):
    assert trained.num_features == 8
    with pytest.raises(PcnetError, match=r"trained with age \(1\), member \(1\), town \(2\), about \(4\)"):
        graph_from_scipy(np.eye(3), np.ones((3, 8)), schema=trained.schema)
    arrays = graph_from_scipy(np.eye(3), np.ones((3, 8)))
    again = graph_from_scipy(np.eye(2), np.ones((2, 8)), schema=arrays.schema)
    assert again.schema == arrays.schema


def test_features_of_other_edges_are_refused(tables):
    folder = tables(None)
    graph = read_graph(folder)
    with pytest.raises(PcnetError, match="mean nothing on another graph"):
        read_graph(folder, schema=graph.schema)


def test_a_table_without_nodes_lacks_every_column(trained, tables):
    folder = tables()
    with pytest.raises(PcnetError, match=r"The column 'age' is missing in edges\.csv"):
        read_graph(folder / "edges.csv", schema=trained.schema)
