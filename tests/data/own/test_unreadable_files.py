"""What is wrong with a file is one sentence that names the file, the line and the column."""

from __future__ import annotations

import io
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pcnet import PcnetError, read_graph

NODES = "id,label,age\na,x,1\nb,y,2\nc,x,3\n"
EDGES = "source,target\na,b\nb,c\n"

TABLES: dict[str, tuple[str | bytes | None, str | bytes | None, str]] = {
    "unknown id": (NODES, EDGES + "c,d\n", "edges.csv, line 4, column 'target': there is no node 'd' in nodes.csv"),
    "unknown source": (NODES, EDGES + "\n\nz,a\n", "edges.csv, line 6, column 'source': there is no node 'z'"),
    "end without an id": (NODES, EDGES + "c,\n", "edges.csv, line 4, column 'target': the id is missing"),
    "node twice": (NODES + "b,x,4\n", EDGES, "nodes.csv, line 5, column 'id': the id 'b' was there before"),
    "node without an id": (NODES + ",x,4\n", EDGES, "nodes.csv, line 5, column 'id': the id is missing"),
    "no number": (
        NODES + "d,x,4\ne,x,five\nf,y,6\n",
        EDGES,
        "nodes.csv, line 6, column 'age': 'five' is not a finite number",
    ),
    "infinite": (NODES + "d,x,inf\n", EDGES, "nodes.csv, line 5, column 'age': 'inf' is not a finite number"),
    "huge": (NODES + f"d,x,{'9' * 400}\n", EDGES, "nodes.csv, line 5, column 'age': '99999"),
    "one label": (NODES.replace("y", "x"), EDGES, "label column 'label' of nodes.csv has the one value 'x'"),
    "empty file": ("", EDGES, "nodes.csv is empty; its first line must name the columns"),
    "only empty lines": (NODES, "\n \n\n", "edges.csv is empty"),
    "no rows": ("id,label\n", EDGES, "nodes.csv names its columns but has no rows"),
    "no edges": (NODES, "source,target\n", "edges.csv names its columns but has no rows"),
    "wrong encoding": (NODES.encode() + "d,é,4\n".encode("latin-1"), EDGES, "nodes.csv, line 5: this is not UTF-8"),
    "sixteen bits": (NODES.encode("utf-16"), EDGES, "nodes.csv, line 1: this is not UTF-8"),
    "zero byte": (NODES, EDGES + "a,\0\n", "edges.csv, line 4: there is a zero byte"),
    "short row": (NODES + "d,x\n", EDGES, "nodes.csv, line 5: there are 2 cells, but the header names 3 columns"),
    "long row": (NODES, EDGES + "a,b,c\n", "edges.csv, line 4: there are 3 cells"),
    "open quotation": (NODES + '"d,x,4\n', EDGES, "nodes.csv, line 5: unexpected end of data"),
    "same name twice": ("id,label,label\na,x,y\n", EDGES, "nodes.csv has two columns 'label'"),
    "one column": (NODES, "source\na\n", "edges.csv has 1 columns; edges need two"),
    "no header": (NODES, "0,1\n1,2\n", "columns of edges.csv are called 0, 1; the first line of a file must name them"),
    "no edges file": (NODES, None, "There is none of edges.csv, edges.tsv, edges.parquet in the folder"),
    "negative weight": (NODES, "source,target,weight\na,b,-1\n", "column 'weight': the weight -1 is negative"),
    "missing weight": (NODES, "source,target,w\na,b,\n", "edges.csv, line 2, column 'w': the weight is missing"),
    "ragged lists": (
        'id,label,v\na,x,"[1, 2]"\nb,y,"[1]"\nc,x,\n',
        EDGES,
        "nodes.csv, line 3, column 'v': '[1]' is not a list of 2 numbers",
    ),
    "list with NaN": (
        'id,label,v\na,x,"[1, NaN]"\nb,y,"[1, 2]"\nc,x,\n',
        EDGES,
        "line 2, column 'v': '[1, NaN]' is not",
    ),
    "a name of two lines": (
        NODES,
        '"source\n",target,"x\ny"\na,b,c\n',
        "has a column 'x\\ny', a name of several lines",
    ),
    "long id": (NODES + "d" * 2000 + ",x,4\n", EDGES, "nodes.csv, line 5, column 'id': an id of 2,000 characters"),
}


@pytest.mark.parametrize("row", [",", "a,", ",b"])
def test_blank_ends_without_a_table_of_nodes(row, tables):
    folder = tables(None, f"source,target\na,b\n{row}\n")
    side = "target" if row == "a," else "source"
    with pytest.raises(PcnetError, match=f"edges.csv, line 3, column '{side}': the id is missing; an edge has two"):
        read_graph(folder)


@pytest.mark.parametrize("case", TABLES)
def test_tables(case, tables):
    nodes, edges, words = TABLES[case]
    with pytest.raises(PcnetError) as error:
        read_graph(tables(nodes, edges))
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1


CALLS = {
    "nothing there": (lambda folder: read_graph(folder / "no"), "There is no file or folder"),
    "no such nodes": (lambda folder: read_graph(folder / "edges.csv", nodes=folder / "no.csv"), "There is no file"),
    "another kind of file": (lambda folder: read_graph(__file__), "it must end in .csv, .tsv, .parquet"),
    "unknown source": (lambda folder: read_graph(folder, source="sorce"), "no column 'sorce' for the source. Did you"),
    "unknown label": (lambda folder: read_graph(folder, label="lable"), "Did you mean 'label'?"),
    "id is label": (lambda folder: read_graph(folder, id="age", label="age"), "cannot be both id and label"),
    "one end": (lambda folder: read_graph(folder, source="target", target="target"), "are both the column 'target'"),
    "used and dropped": (
        lambda folder: read_graph(folder, label="age", drop=["age"]),
        "cannot be both used and dropped",
    ),
    "drop of nothing": (
        lambda folder: read_graph(folder, drop="agee"),
        "no column 'agee' to drop. Did you mean 'age'?",
    ),
    "kind of no column": (lambda folder: read_graph(folder, kinds={"agee": "number"}), "Did you mean 'age'?"),
    "no kind": (lambda folder: read_graph(folder, kinds={"age": "date"}), "cannot be read as 'date'; choose from"),
    "not that kind": (lambda folder: read_graph(folder, kinds={"age": "vector"}), "'1' is not a list of finite"),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case, tables):
    call, words = CALLS[case]
    with pytest.raises(PcnetError) as error:
        call(tables())
    assert words in str(error.value)


def test_two_tables_of_one_name(tables):
    folder = tables()
    (folder / "edges.tsv").write_text("source\ttarget\n")
    with pytest.raises(PcnetError, match=r"has edges\.csv and edges\.tsv; leave one"):
        read_graph(folder)


def parquet(folder, **columns) -> None:
    pa.parquet.write_table(pa.table(columns), folder / "nodes.parquet")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1.0, float("nan"), 3.0], "nodes.parquet, row 2, column 'x': nan is not a finite number"),
        ([1.0, 2.0, float("-inf")], "nodes.parquet, row 3, column 'x': -inf is not a finite number"),
        ([[1.0, 2.0], [3.0], None], "nodes.parquet, row 2, column 'x': there are 1 numbers instead of 2"),
        ([[1.0, 2.0], None, [3.0, None]], "nodes.parquet, row 3, column 'x': nan is not a finite number"),
    ],
)
def test_parquet_cells(column, words, tables):
    folder = tables(None)
    parquet(folder, id=["a", "b", "c"], label=["x", "y", None], x=column)
    with pytest.raises(PcnetError) as error:
        read_graph(folder)
    assert words in str(error.value)


def test_damaged_parquet(tables):
    folder = tables(None)
    parquet(folder, id=["a", "b", "c"])
    path = folder / "nodes.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PcnetError, match="damaged or not the expected file"):
        read_graph(folder)


def test_parquet_without_pyarrow(tables, monkeypatch):
    folder = tables(None)
    parquet(folder, id=["a", "b", "c"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PcnetError, match=r"pip install 'pcnet\[io\]'"):
        read_graph(folder)


def test_npz_with_objects_is_refused_not_run(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edge_index=np.zeros((2, 1), dtype=int), x=np.array([{}, []], dtype=object))
    with pytest.raises(PcnetError, match="allow_pickle=False"):
        read_graph(path)


def test_arrays_have_no_columns(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edge_index=np.zeros((2, 1), dtype=int))
    with pytest.raises(PcnetError, match="no columns: leave out label, drop"):
        read_graph(path, label="class", drop="age")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<node id="a"/><edge source="a"/>', "has an edge to None, and no node of that id"),
        ('<node id="a"/><edge source="a" target="b"/>', "has an edge to 'b', and no node of that id"),
        ('<node id="a"/><node id="a"/><edge source="a" target="a"/>', "has two nodes 'a'"),
    ],
)
def test_graphml_of_nodes_that_are_not_there(body, words, tmp_path):
    """NetworkX makes them up."""
    path = tmp_path / "graph.graphml"
    space = "http://graphml.graphdrawing.org/xmlns"
    path.write_text(f'<g:graphml xmlns:g="{space}"><g:graph>{body.replace("<", "<g:")}</g:graph></g:graphml>')
    with pytest.raises(PcnetError, match=words):
        read_graph(path)


def test_a_document_type_is_refused(tmp_path):
    path = tmp_path / "graph.graphml"
    entities = "".join(f'<!ENTITY l{level + 1} "{f"&l{level};" * 10}">' for level in range(9))
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY l0 "ha">{entities}]><graphml>&l9;</graphml>')
    with pytest.raises(PcnetError, match="declares a document type"):
        read_graph(path)


def test_an_edge_to_a_node_beyond_all_others(tmp_path):
    """Eight bytes must not make a graph of a billion nodes."""
    path = tmp_path / "graph.npz"
    np.savez(path, edge_index=np.array([[0], [10**9]]))
    with pytest.raises(PcnetError, match="has an edge to node 1,000,000,000 and only 1 edges; number the nodes"):
        read_graph(path)


def test_a_small_archive_of_huge_arrays(tmp_path):
    path = tmp_path / "graph.npz"
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(2**20))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edge_index.npy", zeros.getvalue())
        # What a directory says of an array is as much as is ever unpacked of it.
        archive.filelist[0].file_size = 2**31
    with pytest.raises(PcnetError, match=r"would unpack to 2\.0 GiB, more than 100 times its size; write it without"):
        read_graph(path)


def test_a_small_parquet_file_of_many_rows(tables):
    folder = tables(None)
    nothing = pa.DictionaryArray.from_arrays(pa.nulls(2**20, pa.int32()), pa.array(["x"]))
    table = pa.table({"id": pa.chunked_array([nothing] * 160)})
    pa.parquet.write_table(table, folder / "nodes.parquet")
    with pytest.raises(PcnetError, match=r"nodes\.parquet would unpack to 1\.2 GiB"):
        read_graph(folder)
