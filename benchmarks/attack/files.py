"""Damaged graph files of every format: what pcnet makes of one is compared with another library's reading of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.attack.mangle import mangle
from benchmarks.attack.registry import attack
from pcnet import read_graph
from pcnet.graph import CSR, Graph

Rows = Sequence[Mapping[str, Any]]
#: How a table says that there is no label.
NO_LABEL = {"", "na", "n/a", "nan", "none", "null", "?", "-1"}
#: Which column is what, so that damage to their names is refused and not guessed around.
NODES: dict[str, Any] = {"id": "id", "label": "label", "kinds": {"age": "number"}}
COLUMNS = {"source": "source", "target": "target", "weight": "weight", **NODES}


def sound(random: np.random.Generator) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and edges of a small graph without damage."""
    n = int(random.integers(5, 12))
    names = [f"{'äb,céd'[place % 6]} {place}" for place in range(n)] if random.random() < 0.5 else range(n)
    labels = np.array(["cat", "dog", "dog", ""])[random.integers(4, size=n)]
    labels[:2] = "cat", "dog"
    ages = random.normal(40, 20, n).round(3)
    nodes = [{"id": str(names[i]), "label": str(labels[i]), "age": ages[i]} for i in range(n)]
    ends = [(i, (i + 1) % n) for i in range(n)] + random.integers(n, size=(n, 2)).tolist()
    weights = random.integers(1, 9, len(ends)) / 4
    edges = [
        {"source": str(names[i]), "target": str(names[j]), "weight": w}
        for (i, j), w in zip(ends, weights.tolist(), strict=True)
    ]
    return nodes, edges


def judge(graph: Graph, nodes: Rows, edges: Rows) -> None:
    """Fail unless the graph has these nodes, labels, ages and edges."""
    names = [str(node["id"]).strip() for node in nodes]
    assert [str(name) for name in graph.node_names] == names
    place, wanted = {name: row for row, name in enumerate(names)}, np.zeros((len(names), len(names)))
    for edge in edges:
        ends = place[str(edge["source"]).strip()], place[str(edge["target"]).strip()]
        # Weights of one edge add up; where there are none, an edge is there or not.
        wanted[ends] = 1.0 if edge.get("weight") is None else wanted[ends] + float(edge["weight"])
    weights = np.ones(graph.edge_index.shape[1]) if graph.edge_weight is None else graph.edge_weight.double().numpy()
    found = np.zeros_like(wanted)
    np.add.at(found, tuple(graph.edge_index.numpy()), weights)
    np.testing.assert_allclose(found, np.maximum(wanted, wanted.T), rtol=1e-5)
    for node, label in zip(nodes, graph.y.tolist(), strict=True):
        word = str(node.get("label") or "").strip()
        assert (
            (word.lower() in NO_LABEL) if label < 0 else (graph.class_names[label] in (word, word.removesuffix(".0")))
        )
    assert graph.schema is not None
    column = next((each for each in graph.schema.columns if each.name == "age"), None)
    if column is not None:
        before = sum(each.width for each in graph.schema.columns[: graph.schema.columns.index(column)])
        x = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x)[:, before].double().numpy()
        ages = [node.get("age") for node in nodes]
        given = np.array([np.nan if age is None or str(age).strip() == "" else float(age) for age in ages])
        known = ~np.isnan(given)
        np.testing.assert_allclose(x[known], (given[known] - column.shift) / column.scale, rtol=1e-4, atol=1e-5)
        assert not x[~known].any()
        if column.scale != 1:
            np.testing.assert_allclose(column.shift, given[known].mean(), rtol=1e-6)
            np.testing.assert_allclose(column.scale, given[known].std(), rtol=1e-6)


def _by_arrow(path: Path, delimiter: str) -> Rows:
    """The rows of a text table, every cell a text."""
    types = dict.fromkeys(("id", "label", "age", "source", "target", "weight"), pa.string())
    table = pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )
    return table.to_pylist()


def _write_text(path: Path, rows: Rows, delimiter: str) -> None:
    def cell(value: Any) -> str:
        text = str(value)
        return f'"{text}"' if delimiter in text else text

    lines = [[*rows[0]], *([cell(value) for value in row.values()] for row in rows)]
    path.write_text("\n".join(map(delimiter.join, lines)) + "\n", encoding="utf-8")


def _damage(random: np.random.Generator, path: Path) -> None:
    """Leave one file in twenty as it is: sound files must be read."""
    if random.random() > 0.05:
        path.write_bytes(mangle(random, path.read_bytes()))


def _text_tables(random: np.random.Generator, folder: Path, suffix: str, delimiter: str) -> None:
    tables = dict(zip(("nodes", "edges"), sound(random), strict=True))
    for stem, rows in tables.items():
        _write_text(folder / f"{stem}{suffix}", rows, delimiter)
    _damage(random, folder / f"{('nodes', 'edges')[random.integers(2)]}{suffix}")
    graph = read_graph(folder, **COLUMNS)
    judge(graph, *(_by_arrow(folder / f"{stem}{suffix}", delimiter) for stem in tables))


@attack("csv")
def csv(random: np.random.Generator, folder: Path) -> None:
    """A folder of comma-separated tables, against Arrow's reader."""
    _text_tables(random, folder, ".csv", ",")


@attack("tsv")
def tsv(random: np.random.Generator, folder: Path) -> None:
    """The same with tabs."""
    _text_tables(random, folder, ".tsv", "\t")


@attack("parquet")
def parquet(random: np.random.Generator, folder: Path) -> None:
    """Typed tables, whose rows Arrow hands out as Python's values."""
    tables = dict(zip(("nodes", "edges"), sound(random), strict=True))
    for stem, rows in tables.items():
        pa.parquet.write_table(pa.Table.from_pylist([*rows]), folder / f"{stem}.parquet")
    _damage(random, folder / f"{('nodes', 'edges')[random.integers(2)]}.parquet")
    graph = read_graph(folder, **COLUMNS)
    judge(graph, *(pa.parquet.read_table(folder / f"{stem}.parquet").to_pylist() for stem in tables))


@attack("npz")
def npz(random: np.random.Generator, folder: Path) -> None:
    """Arrays, against NumPy's reading of each."""
    nodes, edges = sound(random)
    place, path = {node["id"]: row for row, node in enumerate(nodes)}, folder / "graph.npz"
    index = np.array([[place[edge[end]] for edge in edges] for end in ("source", "target")])
    y = np.array([{"cat": 0, "dog": 1, "": -1}[node["label"]] for node in nodes])
    weight, x = np.array([edge["weight"] for edge in edges]), random.normal(size=(len(nodes), 3))
    np.savez(path, edge_index=index, x=x, y=y, edge_weight=weight, classes=np.array(["cat", "dog"]))
    _damage(random, path)
    graph = read_graph(path)
    with np.load(path) as stored:
        ends, weights = stored["edge_index"], stored.get("edge_weight", [None] * index.shape[1])
        rows = [{"id": str(row)} for row in range(len(stored["x"]))]
        links = [{"source": str(i), "target": str(j), "weight": w} for i, j, w in zip(*ends, weights, strict=True)]
        labels = [stored["classes"][label] if label >= 0 else "" for label in stored["y"]]
        judge(graph, [{**row, "label": label} for row, label in zip(rows, labels, strict=True)], links)
        dense = graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x
        np.testing.assert_allclose(dense.numpy(), stored["x"].astype(np.float32))


@attack("graphml")
def graphml(random: np.random.Generator, folder: Path) -> None:
    """GraphML, against its elements taken one by one."""
    nodes, edges = sound(random)
    graph, path = networkx.MultiDiGraph(), folder / "graph.graphml"
    graph.add_nodes_from((node["id"], {"label": node["label"], "age": node["age"]}) for node in nodes)
    graph.add_edges_from((edge["source"], edge["target"], {"weight": edge["weight"]}) for edge in edges)
    networkx.write_graphml(graph, path)
    _damage(random, path)
    read = read_graph(path, label="label", weight="weight", kinds={"age": "number"})
    root = ElementTree.parse(path).getroot()
    space = root.tag.partition("}")[0] + "}"
    names = {(key.get("id"), key.get("for")): key.get("attr.name") for key in root.iter(f"{space}key")}

    def content(element: Any, kind: str) -> dict[str, Any]:
        return {names[each.get("key"), kind]: each.text or "" for each in element.iter(f"{space}data")}

    rows = [{"id": each.get("id"), **content(each, "node")} for each in root.iter(f"{space}node")]
    links = [
        {"source": each.get("source"), "target": each.get("target"), **content(each, "edge")}
        for each in root.iter(f"{space}edge")
    ]
    judge(read, rows, links)


@attack("features.json")
def listed_features(random: np.random.Generator, folder: Path) -> None:
    """Lists of features by id, against Python's own reading."""
    nodes, edges = sound(random)
    for stem, rows in (("nodes", nodes), ("edges", edges)):
        _write_text(folder / f"{stem}.csv", rows, ",")
    path = folder / "features.json"
    lists = {node["id"]: [int(each) for each in random.integers(6, size=random.integers(4))] for node in nodes}
    path.write_text(json.dumps({**lists, nodes[0]["id"]: ["red", "Big Blue"]}), encoding="utf-8")
    _damage(random, path)
    graph = read_graph(folder, **COLUMNS)
    judge(graph, nodes, edges)
    content = json.loads(path.read_bytes())
    by_id = {
        str(key).strip(): items for key, items in (enumerate(content) if isinstance(content, list) else content.items())
    }
    assert graph.schema is not None
    x, features = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x).numpy(), {}
    before = 0
    for column in graph.schema.columns:
        if column.name == "features":
            features = {value: x[:, before + place] for place, value in enumerate(column.values)}
        before += column.width
    for row, node in enumerate(nodes):
        has = {str(item).lower() for item in by_id.get(node["id"], [])}
        assert {value for value, column in features.items() if column[row]} == has
