"""Which column holds the labels, what counts as none, and what is said where nobody named the column."""

from __future__ import annotations

import shlex

import networkx
import numpy as np
import pytest

from pcnet import PcnetError, graph_from_networkx, graph_from_scipy, read_graph
from pcnet.data import ReadOptions, graph_of
from pcnet.graph import require_labels

EDGES = "source,target\n1,2\n"


def rows(header: str, *columns: str) -> str:
    """A table of nodes 1, 2, … with columns written as 'a b c'."""
    cells = zip(*(column.split() for column in columns), strict=True)
    return f"id,{header}\n" + "".join(f"{place},{','.join(row)}\n" for place, row in enumerate(cells, 1))


@pytest.fixture
def labels(tables):
    """The labels of a table whose column `label` is written as 'a b c', '_' for an empty cell."""

    def read(column: str, **more):
        return read_graph(tables(rows("label", column).replace("_", ""), EDGES), **more)

    return read


def notes(graph) -> str:
    return " ".join(graph.notes)


CANDIDATES = rows(
    "mature,age,score,page_type,y,code,always",
    "True False True False True False",
    "10 20 30 40 50 60",
    "0.5 1.5 0.5 1.5 0.5 1.5",
    "tv news tv news web web",
    "1 2 3 1 2 3",
    "q1 q2 q3 q4 q5 q6",
    "x x x x x x",
)


def test_columns_that_may_hold_labels_are_named_and_nothing_is_trained_before_one_is(tables):
    graph = read_graph(tables(CANDIDATES, EDGES))
    assert [(each.name, each.values) for each in graph.label_candidates] == [
        ("page_type", ("news", "tv", "web")),
        ("mature", ("False", "True")),
        ("y", ("1", "2", "3")),
    ]
    advice = (
        "Columns that may hold labels: page_type (3 values: news, tv, web), mature (2 values: False, True), "
        "y (3 values: 1, 2, 3). Name the one that does: --read label=page_type (in Python label='page_type')."
    )
    assert f"No column holds labels. {advice} Until then they are features." in graph.notes
    with pytest.raises(PcnetError) as error:
        require_labels(graph)
    assert str(error.value) == f"No node of mine has a label. {advice}"


def test_the_printed_option_reads_the_label(tables):
    header = '"page type, new",y'
    text = "id," + header + "\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n"
    folder = tables(text, EDGES)
    option, assignment = shlex.split(read_graph(folder).label_candidates[0].option)
    assert option == "--read"
    graph = graph_of(folder, ReadOptions.parse([assignment]))
    assert graph.classes == ("a", "b")
    assert graph.label_candidates == ()
    assert [column.name for column in graph.schema.columns] == ["y"]
    require_labels(graph)


def test_a_graph_without_candidates_says_what_to_give(tables):
    graph = read_graph(tables(None, EDGES))
    assert graph.label_candidates == ()
    with pytest.raises(PcnetError, match=r"Give some nodes a label, .* --read label=COLUMN"):
        require_labels(graph)


def test_a_kind_that_the_owner_gave_makes_a_feature(tables):
    graph = read_graph(tables(CANDIDATES, EDGES), kinds={"page_type": "category", "y": "number"})
    assert [each.name for each in graph.label_candidates] == ["mature"]


def test_nobody_is_asked_for_labels_to_predict(tables):
    folder = tables(CANDIDATES, EDGES)
    trained = read_graph(folder, label="page_type")
    graph = read_graph(folder, schema=trained.schema, classes=trained.classes)
    assert graph.label_candidates == ()
    assert "may hold labels" not in notes(graph)


def test_attributes_of_networkx_are_columns_too():
    network = networkx.cycle_graph(6)
    networkx.set_node_attributes(network, {node: "ab"[node % 2] for node in network}, "club")
    assert [each.name for each in graph_from_networkx(network).label_candidates] == ["club"]


@pytest.mark.parametrize("word", ["NA", "n/a", "NaN", "none", "NULL", "?", "_"])
def test_words_for_no_label(word, labels):
    graph = labels(f"a {word} b {word} a")
    assert graph.classes == ("a", "b")
    assert graph.y.tolist() == [0, -1, 1, -1, 0]
    assert "2 of 5 nodes have no label." in graph.notes
    said = f"2 cells of 'label' that say {word} count as no label; if that is a class, give it another name."
    assert (said in graph.notes) == (word != "_")


@pytest.mark.parametrize(
    ("column", "classes", "y"),
    [
        ("0 -1 1 -1 0", (0, 1), [0, -1, 1, -1, 0]),
        ("2.0 -1.0 1.0 NA 2.0", (1, 2), [1, -1, 0, -1, 1]),
        # Where −1 is a class: beside other negative numbers, of two classes, beside words.
        ("-2 -1 1 -1 -2", (-2, -1, 1), [0, 1, 2, 1, 0]),
        ("1 -1 1 -1 1", (-1, 1), [1, 0, 1, 0, 1]),
        ("a -1 b -1 a", ("-1", "a", "b"), [1, 0, 2, 0, 1]),
        # What only looks like a whole number with zeros behind it.
        ("2.05 v1.0 2.05 v1.0 v1", ("2.05", "v1", "v1.0"), [0, 2, 0, 2, 1]),
    ],
)
def test_minus_one_and_whole_numbers(column, classes, y, labels):
    graph = labels(column)
    assert graph.classes == classes
    assert graph.y.tolist() == y
    assert ("that say" in notes(graph)) == (-1 in y)


def test_a_class_that_the_classifier_knows_is_a_class_whatever_it_is_called(labels):
    assert labels("None some _ NA some", classes=("None", "some")).y.tolist() == [0, 1, -1, -1, 1]
    assert labels("-1 1 _ NA 1", classes=(-1, 1)).y.tolist() == [0, 1, -1, -1, 1]
    assert labels("-1 1 0 -1 1", classes=(0, 1)).y.tolist() == [-1, 1, 0, -1, 1]
    assert labels("-1 -1 -1 -1 -1", classes=(0, 1)).y.tolist() == [-1] * 5


def test_an_empty_column_called_label_is_none_and_others_may_be(tables):
    graph = read_graph(tables("id,label,kind\n1,,a\n2,NA,b\n3,,a\n4,,b\n", EDGES))
    assert graph.y.tolist() == [-1] * 4
    assert graph.classes is None
    assert "The column 'label' of nodes.csv holds no label in any of its 4 rows." in graph.notes
    assert [each.name for each in graph.label_candidates] == ["kind"]


def test_arrays_of_words_with_gaps():
    square = np.eye(5)
    graph = graph_from_scipy(square, np.ones((5, 1)), np.array(["b", None, "NA", "a", "?"], dtype=object))
    assert graph.classes == ("a", "b")
    assert graph.y.tolist() == [1, -1, -1, 0, -1]
    assert "2 cells of 'y' that say NA, ? count as no label; if that is a class, give it another name." in graph.notes
    assert "3 of 5 nodes have no label." in graph.notes
    assert graph_from_scipy(square, np.ones((5, 1)), np.full(5, np.nan)).classes is None


def test_refused(labels, tables):
    quantity = " ".join(str(place * place) for place in range(120))
    cases = (
        (lambda: labels("a NA a _ a"), "'label' of nodes.csv has the one value 'a'"),
        (
            lambda: labels("NA ? _ _ null", label="label"),
            "'label' of nodes.csv holds no label in any of its 5 rows; fill",
        ),
        (lambda: labels("-1 -1 -1 -1 -1", label="label"), "holds no label in any of its 5 rows"),
        (lambda: labels(quantity), "has 120 different values for 120 nodes: a quantity or a name, not a class"),
        (
            lambda: read_graph(tables(CANDIDATES, EDGES), label="matur"),
            "no column 'matur' for the label. Did you mean 'mature'?",
        ),
        (
            lambda: read_graph(tables(CANDIDATES, EDGES), label="zzz"),
            "no column 'zzz' for the label. Columns that may hold labels: page_type",
        ),
        (
            lambda: read_graph(tables(None, EDGES) / "edges.csv", label="zzz"),
            "edges.csv has no column 'zzz' for the label.",
        ),
    )
    for call, words in cases:
        with pytest.raises(PcnetError) as error:
            call()
        assert words in str(error.value)
        assert len(str(error.value).splitlines()) == 1
