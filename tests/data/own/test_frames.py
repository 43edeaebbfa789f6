"""Data frames and graphs of other libraries give what the files give, to the bit."""

from __future__ import annotations

import sys
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from own_graphs import PEOPLE
from own_graphs import same as same_bits
from torch_geometric.data import Data, HeteroData

from pcnet import PcnetError, graph_from_networkx, graph_from_pandas, graph_from_pyg, graph_from_scipy, read_graph
from pcnet.data import as_graph
from pcnet.graph import Graph, require_labels


def same(one: Graph, other: Graph) -> None:
    """With the same names of nodes, classes and features."""
    same_bits(one, other)
    assert one.classes == other.classes
    assert one.schema == other.schema
    assert np.array_equal(one.node_names, other.node_names)


@pytest.fixture
def edges() -> pd.DataFrame:
    return pd.read_csv(PEOPLE / "edges.csv")


@pytest.fixture
def nodes() -> pd.DataFrame:
    return pd.read_csv(PEOPLE / "nodes.csv")


class Interchange:
    """A data frame that is known by nothing but the interchange protocol."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._frame.__dataframe__(nan_as_null, allow_copy)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas categories": lambda frame: frame.astype({name: "category" for name in {"town", "label"} & {*frame}}),
    "pandas nullable": lambda frame: frame.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars categories": lambda frame: pl.from_pandas(frame).with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pyarrow": pa.Table.from_pandas,
    "record batches": lambda frame: pa.Table.from_pandas(frame).to_reader(50),
    "interchange": lambda frame: Interchange(frame.drop(columns="label", errors="ignore")),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_are_the_csv_file(library, edges, nodes):
    make = LIBRARIES[library]
    files = read_graph(PEOPLE, drop="label") if library == "interchange" else read_graph(PEOPLE)
    graph = graph_from_pandas(make(edges), make(nodes))
    same(graph, files)
    assert graph.name == "graph"


def test_true_and_false_as_labels_are_called_as_in_a_file_of_pandas(tmp_path, edges, nodes):
    typed = nodes.assign(label=nodes["member"] == "yes")
    typed.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    files = read_graph(tmp_path)
    assert files.classes == ("False", "True")
    for frames in ((edges, typed), (pl.from_pandas(edges), pl.from_pandas(typed))):
        same(graph_from_pandas(*frames), files)


def test_the_index_of_pandas_may_name_the_nodes(edges, nodes):
    files, indexed = read_graph(PEOPLE), nodes.set_index("id")
    same(graph_from_pandas(edges, indexed), files)
    same(graph_from_pandas(edges, indexed.rename_axis(None)), files)
    same(graph_from_pandas(edges, indexed.rename_axis("who")), files)
    said = " ".join(graph_from_pandas(edges, indexed.rename_axis(None)).notes)
    assert "nodes (DataFrame): the index names the nodes (it has every end of the edges), 'label' holds" in said


def test_the_number_of_a_row_may_name_the_nodes(edges, nodes):
    place = {name: row for row, name in enumerate(nodes["id"])}
    numbered = edges.map(place.__getitem__)
    graph = graph_from_pandas(numbered, nodes.drop(columns="id"))
    assert graph.ids.tolist() == list(range(160))
    assert torch.equal(graph.edge_index, read_graph(PEOPLE).edge_index)
    assert torch.equal(graph.y, read_graph(PEOPLE).y)


def test_wishes_and_gaps(edges, nodes):
    weighted = edges.assign(kg=np.arange(len(edges)) / 7)
    gaps = nodes.assign(age=nodes["age"].where(nodes["age"] > 30), label=nodes["label"].replace("tennis", "NA"))
    graph = graph_from_pandas(
        weighted, gaps, weight="kg", drop="about", kinds={"age": "number"}, directed=True, name="club"
    )
    assert graph.name == "club"
    assert graph.edge_weight.tolist() == pytest.approx((np.arange(len(edges)) / 7).tolist())
    assert graph.classes == ("climbing", "rowing")
    assert int((graph.y >= 0).sum()) == int(gaps["label"].isin(["climbing", "rowing"]).sum())
    age = graph.schema.columns[0]
    assert (age.shift, age.scale) == pytest.approx((gaps["age"].mean(), gaps["age"].std(ddof=0)))
    assert graph_from_pandas(edges, kinds=None).num_nodes == edges.stack().nunique()


def test_frames_and_files_together(edges, nodes, tmp_path):
    files = read_graph(PEOPLE)
    same(read_graph(edges, nodes=PEOPLE / "nodes.csv"), files)
    same(read_graph(PEOPLE / "edges.csv", nodes=pl.from_pandas(nodes)), files)
    same(read_graph(PEOPLE, nodes=nodes), files)
    (tmp_path / "words.json").write_text('{"ada01": ["a"], "ben01": ["b", "a"]}')
    assert read_graph(edges, nodes=nodes, features=tmp_path / "words.json").num_features == files.num_features + 2


def test_whatever_holds_a_graph_is_one(edges, nodes):
    files = read_graph(PEOPLE)
    assert as_graph(files) is files
    same(as_graph(str(PEOPLE)), files)
    same(as_graph((edges, nodes)), files)
    same(as_graph((pl.from_pandas(edges), pl.from_pandas(nodes))), files)
    network = networkx.from_pandas_edgelist(edges)
    network.add_nodes_from(nodes["id"])
    assert as_graph(network).num_nodes == 160
    data = Data(torch.eye(3), torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]))
    same(as_graph(data), graph_from_pyg(data))
    for matrix in (scipy.sparse.eye(3), scipy.sparse.coo_array(np.eye(3))):
        same(as_graph(matrix), graph_from_scipy(matrix))
        with pytest.raises(PcnetError, match="No node of graph has a label"):
            require_labels(as_graph(matrix))


def test_another_graph_is_read_as_that_of_the_training(edges, nodes):
    trained = graph_from_pandas(edges, nodes)
    later = nodes.assign(age=nodes["age"] + 1, town="Elsewhere", label=None)
    graph = as_graph((edges, later), schema=trained.schema, classes=trained.classes)
    assert graph.schema == trained.schema
    assert graph.classes == trained.classes
    assert graph.y.tolist() == [-1] * 160
    older, age = (each.x.to_dense()[:, 0] for each in (graph, trained))
    assert torch.allclose(older, age + 1 / trained.schema.columns[0].scale)


FRAMES = {
    "no columns": (
        lambda e, n: graph_from_pandas(pd.DataFrame(), n),
        "edges (DataFrame) has 0 columns; edges need two",
    ),
    "one column": (lambda e, n: graph_from_pandas(e[["source"]], n), "edges (DataFrame) has 1 columns; edges need two"),
    "one column of polars": (
        lambda e, n: graph_from_pandas(pl.DataFrame({"a": [1]})),
        "edges (DataFrame) has 1 columns",
    ),
    "no rows": (lambda e, n: graph_from_pandas(e.iloc[:0], n), "edges (DataFrame) names its columns but has no rows"),
    "no nodes": (
        lambda e, n: graph_from_pandas(e, pa.Table.from_pandas(n).slice(0, 0)),
        "nodes (Table) names its columns but",
    ),
    "empty interchange": (
        lambda e, n: graph_from_pandas(Interchange(e.iloc[:0])),
        "edges (Interchange) names its columns",
    ),
    "called by numbers": (
        lambda e, n: graph_from_pandas(pd.DataFrame([[1, 2]])),
        "The columns of edges (DataFrame) are called 0, 1",
    ),
    "no such column": (
        lambda e, n: graph_from_pandas(e, n, source="form"),
        "edges (DataFrame) has no column 'form' for the source",
    ),
    "no such label": (
        lambda e, n: graph_from_pandas(e, n, label="lable"),
        "no column 'lable' for the label. Did you mean 'label'?",
    ),
    "no such id": (
        lambda e, n: graph_from_pandas(e, n, id="idd"),
        "nodes (DataFrame) has no column 'idd' for the id. Did you",
    ),
    "unknown end": (
        lambda e, n: graph_from_pandas(e, n.iloc[1:]),
        "edges (DataFrame), row 0, column 'source': there is no node 'ada01'",
    ),
    "no number": (
        lambda e, n: graph_from_pandas(e, n.assign(age=np.where(n.index == 3, np.inf, n["age"]))),
        "nodes (DataFrame), row 3, column 'age': inf is not a finite number",
    ),
    "mixed types": (
        lambda e, n: graph_from_pandas(e, n.assign(a=[1, "a"] * 80)),
        "column a with type object); give a data frame with one type",
    ),
    "two of one name": (lambda e, n: graph_from_pandas(pd.concat([e, e], axis=1), n), "Duplicate column names found"),
    "a series": (lambda e, n: graph_from_pandas(e["source"], n), "edges (Series) cannot be read through Arrow"),
    "a list": (
        lambda e, n: graph_from_pandas([1], n),
        "edges is of type list; give a data frame (pandas, polars, pyarrow)",
    ),
    "a path": (lambda e, n: graph_from_pandas(e, "nodes.csv"), "nodes is of type str; give a data frame"),
    "a number as nodes": (
        lambda e, n: read_graph(e, nodes=3),
        "nodes is of type int; give a data frame or the path of a table",
    ),
    "a number": (lambda e, n: as_graph(3), "int is no graph that can be read: give a path, a data frame of edges"),
    "an array": (lambda e, n: as_graph(np.eye(3)), "ndarray is no graph that can be read"),
    "kinds of nodes": (lambda e, n: as_graph(HeteroData()), "HeteroData is no graph that can be read"),
    "three": (
        lambda e, n: as_graph((e, n, n)),
        "A tuple of 3 is no graph; give a pair of data frames, edges and nodes",
    ),
    "a pair of arrays": (lambda e, n: as_graph((np.eye(3), np.eye(3))), "ndarray is no graph that can be read"),
    "nodes twice": (
        lambda e, n: as_graph((networkx.path_graph(3), n)),
        "The Graph holds nodes and edges; leave out the table of nodes",
    ),
    "nodes beside a network": (
        lambda e, n: graph_from_networkx(networkx.path_graph(3), nodes=n),
        "The Graph holds nodes and edges; leave out the table of nodes",
    ),
    "features beside a matrix": (
        lambda e, n: graph_from_scipy(np.eye(3), features="words.json"),
        "A matrix holds nodes and edges; leave out the features",
    ),
    "columns of a matrix": (
        lambda e, n: read_graph(scipy.sparse.eye(3), label="a"),
        "holds arrays, which have no columns: leave out label",
    ),
    "columns of a network": (
        lambda e, n: read_graph(networkx.path_graph(3), id="a"),
        "has nodes and edges of its own, no columns; leave out id",
    ),
}


@pytest.mark.parametrize("case", FRAMES)
def test_refused(case, edges, nodes):
    call, words = FRAMES[case]
    with pytest.raises(PcnetError) as error:
        call(edges, nodes)
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_without_pyarrow(edges, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PcnetError, match=r"data frames need pyarrow: pip install 'pcnet\[io\]', or use CSV files"):
        graph_from_pandas(edges)
