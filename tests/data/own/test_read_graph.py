"""Tables become the graph one would write down by hand, and what was guessed is said."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from own_graphs import dense

from pcnet import read_graph
from pcnet.graph import Graph, Operator


def test_a_folder_of_two_tables(tables):
    graph = read_graph(tables())
    assert graph.name == "mine"
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.classes == ("x", "y")
    assert graph.y.tolist() == [0, 1, 0]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert np.allclose(dense(graph)[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)])
    assert "edges.csv: edges from 'source' to 'target'." in graph.notes
    assert "nodes.csv: 'id' names the nodes, 'label' holds their labels." in graph.notes


def test_every_kind_of_column(tables):
    nodes = (
        "id;label;small;large;flag;town;about;list;code\n"
        '1;x;0.5;10;yes;B;red fox red;"[1, 0, 2.5]";q1\n'
        '2;x;-1;;No;A;blue Fox;"[0, 0, 0]";q2\n'
        "3;y;0;20;yes;;;;q3\n"
        '4;;1;30;no;B;a a b;"[0.25, 0, 0]";q4\n'
    )
    graph = read_graph(tables(nodes, "source;target\n1;2\n"), drop="code")
    assert graph.schema.width == graph.num_features
    assert [column.kind for column in graph.schema.columns] == [
        "number",
        "number",
        "boolean",
        "category",
        "bag",
        "vector",
    ]
    names = [name for column in graph.schema.columns for name in column.features]
    assert names[3:] == [
        "town=A",
        "town=B",
        *(f"about={w}" for w in ("a", "b", "blue", "fox", "red")),
        *(f"list[{i}]" for i in range(3)),
    ]
    # The empty cell is the mean, 20; the deviation of 10, 20, 30 is √(200/3).
    large = np.array([-10, 0, 0, 10]) / np.sqrt(200 / 3)
    expected = [
        [0.5, large[0], 1, 0, 1, 0, 0, 0, 1, 2, 1, 0, 2.5],
        [-1, large[1], 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0],
        [0, large[2], 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, large[3], 0, 0, 1, 2, 1, 0, 0, 0, 0.25, 0, 0],
    ]
    assert np.allclose(dense(graph), expected)
    assert graph.ids.dtype == np.int64
    said = " ".join(graph.notes)
    for words in ("separated by semicolons", "Standardised", "large", "1 of 4 nodes have no label", "town (category)"):
        assert words in said


def test_labels_are_words_or_whole_numbers(tables):
    def labels(column: str) -> Graph:
        rows = "".join(f"n{place},{label},{place}\n" for place, label in enumerate(column.split("|")))
        return read_graph(tables(f"id,label,x\n{rows}", "source,target\nn0,n1\n"))

    whole = labels("10|9|-3||10")
    assert whole.classes == (-3, 9, 10)
    assert whole.y.tolist() == [2, 1, 0, -1, 2]
    # A column of whole numbers with gaps, as tables of floating-point numbers write it.
    assert labels("1.0|2.0|nan|NaN|").classes == (1, 2)
    words = labels("10|9|b||null")
    assert words.classes == ("10", "9", "b")
    assert words.y.tolist() == [0, 1, 2, -1, -1]
    assert labels("007|8|8|8|8").classes == ("007", "8")


def test_weights_duplicates_loops_and_direction(tables):
    nodes = "id,label,x\n0,a,1\n1,b,1\n2,a,0\n"
    folder = tables(nodes, "source,target,weight\n0,1,1\n0,1,2\n1,0,5\n2,2,4\n1,2,0.5\n")
    graph = read_graph(folder)
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]
    assert graph.edge_weight.tolist() == [5, 5, 0.5, 0.5, 4]
    assert any("1 of 5 edges are listed before and add up" in note for note in graph.notes)
    assert any("1 of 5 edges are loops" in note for note in graph.notes)
    listed = read_graph(folder, directed=True)
    assert listed.edge_index.tolist() == [[0, 0, 1, 2, 1], [1, 1, 0, 2, 2]]
    assert listed.edge_weight.tolist() == [1, 2, 5, 4, 0.5]
    plain = read_graph(folder, drop=["weight"])
    assert plain.edge_weight is None
    assert plain.edge_index.tolist() == graph.edge_index.tolist()


links = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9))


@pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
@given(st.lists(links, min_size=1, max_size=30), st.booleans())
def test_the_operator_does_not_depend_on_the_direction_that_is_kept(edges, weighted):
    """Both ways of reading merge as the operator merges."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.csv"
        path.write_text("from,to,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in edges))
        drop = () if weighted else ("weight",)
        both, listed = (read_graph(path, directed=directed, drop=drop) for directed in (False, True))
    one, other = (Operator.from_graph(graph, dtype=torch.float64).matrix.to_dense() for graph in (both, listed))
    assert torch.equal(one, other)
    assert both.edge_index.shape == both.edge_index.unique(dim=1).shape


words = (
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).map(str.strip).filter(bool)
)


def is_a_name(word: str) -> bool:
    """Neither a number, which labels may be written as in several ways, nor a word for nothing."""
    return word.lower() not in ("na", "n/a", "nan", "none", "null", "?") and not any(map(str.isdigit, word))


@given(st.data())
def test_any_words_come_back(data):
    """Names and labels with commas, quotation marks, newlines and every script, against Python's own dictionaries."""
    ids = data.draw(st.lists(words, min_size=2, max_size=8, unique=True))
    known = data.draw(st.lists(words.filter(is_a_name), min_size=2, max_size=4, unique=True))
    labels = [*known[:2], *data.draw(st.lists(st.sampled_from(known), min_size=len(ids) - 2, max_size=len(ids) - 2))]
    links = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1, max_size=9))
    with tempfile.TemporaryDirectory() as folder:
        for stem, header, rows in (("nodes", ("id", "label"), zip(ids, labels, strict=True)), ("edges", "ab", links)):
            with (Path(folder) / f"{stem}.csv").open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([header, *rows])
        graph = read_graph(folder, directed=True)
    assert [str(name) for name in graph.ids] == ids
    assert [graph.class_names[label] for label in graph.y] == labels
    place = {name: node for node, name in enumerate(ids)}
    assert graph.edge_index.T.tolist() == [[place[one], place[other]] for one, other in links]


def test_columns_are_named_by_the_owner(tables, tmp_path):
    folder = tables()
    (folder / "links.tsv").write_text("who\twhom\tkg\textra\na\tb\t2\tz\n")
    (folder / "pages.csv").write_text("topic,page,zip\nx,a,100\ny,b,200\nx,c,100\n")
    graph = read_graph(
        folder / "links.tsv",
        nodes=folder / "pages.csv",
        weight="kg",
        id="page",
        label="topic",
        kinds={"zip": "category"},
    )
    assert graph.name == "links"
    assert graph.edge_weight.tolist() == [2, 2]
    assert graph.classes == ("x", "y")
    assert graph.schema.columns[0].values == ("100", "200")
    assert any("links.tsv: not used: extra." in note for note in graph.notes)
    swapped = read_graph(folder / "links.tsv", source="whom", target="who", directed=True)
    assert swapped.ids.tolist() == ["a", "b"]
    assert swapped.edge_index.tolist() == [[1], [0]]


def test_edges_alone(tables):
    graph = read_graph(tables(None, "source,target\n10,9\n9,2\n2,10\n2,30\n") / "edges.csv")
    assert graph.ids.tolist() == [2, 9, 10, 30]
    assert graph.y.tolist() == [-1] * 4
    assert graph.schema.structural
    assert any("no features" in note for note in graph.notes)
    assert any("no table of nodes" in note for note in graph.notes)


def test_text_as_tables_have_it(tables):
    """A byte order mark, quoted cells with newlines, Windows' line ends, empty lines and spaces around words."""
    nodes = '\ufeffid, label ,about\r\n"a",x,"one\r\ntwo"\r\n\r\n b , y ,three four\r\nc,x,five\r\n'
    graph = read_graph(tables(nodes, "source,target\n a,b \nb,c\n"))
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.y.tolist() == [0, 1, 0]
    assert graph.schema.columns[0].values == ("five", "four", "one", "three", "two")


def test_columns_that_are_no_features_are_left_out_and_said(tables):
    rows = "".join(f"{node},n{node},{node % 2},{'xy'[node % 2]},\n" for node in range(60))
    graph = read_graph(tables(f"id,code,flag,label,nothing\n{rows}", "source,target\n1,2\n"))
    assert [column.name for column in graph.schema.columns] == ["flag"]
    assert any("Left out" in note and "code, nothing" in note for note in graph.notes)
    forced = read_graph(
        tables(f"id,code,flag,label,nothing\n{rows}", "source,target\n1,2\n"), kinds={"code": "category"}
    )
    assert forced.num_features == 61


def test_a_row_number_that_a_table_was_written_with_is_no_feature(tables):
    graph = read_graph(tables(",id,label,age\n0,a,x,1\n1,b,y,2\n2,c,x,3\n"))
    assert [column.name for column in graph.schema.columns] == ["age"]
    assert any("without a name" in note for note in graph.notes)


def test_the_vocabulary_keeps_the_words_of_most_rows(tables):
    common = " ".join(f"w{place}" for place in range(4_999))
    rows = "".join(f"{node},{'xy'[node % 2]},{text}\n" for node, text in enumerate([common, common, "zz b", "zz a"]))
    graph = read_graph(tables(f"id,label,about\n{rows}", "source,target\n1,2\n"))
    assert graph.num_features == 5_000
    assert graph.schema.columns[0].values[0] == "w0"
    assert graph.schema.columns[0].values[-1] == "zz"
    assert any("5,000 that most rows have" in note for note in graph.notes)


def test_a_list_of_words_is_a_bag(tables):
    nodes = 'id,label,tags\na,x,"[""Red wine"", ""bread""]"\nb,y,"[""bread""]"\n'
    graph = read_graph(tables(nodes, "source,target\na,b\n"))
    assert graph.schema.columns[0].values == ("bread", "red wine")
    assert dense(graph).tolist() == [[1, 1], [1, 0]]
