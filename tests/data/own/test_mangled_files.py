"""Thousands of damaged files: each is a valid graph or one sentence, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from benchmarks.attack.mangle import mangle

from pcnet import PcnetError, read_graph
from pcnet.graph import Graph

NODES = """id,label,age,member,town,about,list
ada,cat,31,yes,Ashby,likes long walks,"[0.5, 1, 0]"
ben,dog,4.5,no,Brook,"likes ""cats"", a lot","[0.25, 0, 0]"
7,,18,yes,Ashby,walks,"[0, 0, 1e-3]"
dön,cat,,no,,dogs and cats,
eve,dog,77,1,Brook,long,"[1, 2, 3]"
"""
EDGES = "source,target,weight\nada,ben,1\nben,7,0.5\n7,dön,2\ndön,eve,1\neve,ada,1\n"


def arrays(path: Path) -> None:
    names = np.array(["ada", "ben", "cleo", "dan"])
    masks = np.eye(4, dtype=bool)
    contents = {"x": np.eye(4)[:, :3], "y": np.array([0, 1, -1, 1]), "edges": np.array([[0, 1], [1, 2], [2, 3]])}
    splits = {"train_masks": masks[:1], "val_masks": masks[1:2], "test_masks": masks[3:]}
    np.savez(path, **contents, **splits, ids=names, classes=names[:2], edge_weight=np.ones(3))


def graphml(path: Path) -> None:
    graph = networkx.path_graph(4)
    networkx.set_node_attributes(graph, {0: "cat", 1: "dog", 3: "cat"}, "label")
    networkx.set_node_attributes(graph, {node: node / 2 for node in graph}, "size")
    networkx.set_edge_attributes(graph, 2.0, "weight")
    networkx.write_graphml(graph, path)


def parquet(path: Path) -> None:
    table = {"id": ["ada", "ben", "cleo"], "label": ["x", "y", None], "age": [1.5, None, 3.0], "kind": ["p", "q", "p"]}
    pa.parquet.write_table(pa.table({**table, "list": [[1.0, 0.0], [0.5, 2.0], None]}), path)


def check(read: Callable[[], Graph]) -> bool:
    """Whether a graph came out; a `PcnetError` must be one line, anything else fails the test."""
    try:
        graph = read()
    except PcnetError as error:
        sentence = str(error)
    else:
        sentence = ""
    if sentence:
        assert len(sentence.splitlines()) == 1, sentence
        return False
    assert len(graph.y) == graph.num_nodes == len(graph.node_names)
    return True


@pytest.mark.parametrize("victim", ["nodes", "edges"])
def test_text_tables(victim, tmp_path):
    contents = {"nodes": NODES.encode(), "edges": EDGES.encode()}
    random = np.random.default_rng(6)
    for stem, content in contents.items():
        (tmp_path / f"{stem}.csv").write_bytes(content)
    assert check(lambda: read_graph(tmp_path))
    survivors = 0
    for _ in range(1_500):
        (tmp_path / f"{victim}.csv").write_bytes(mangle(random, contents[victim]))
        survivors += check(lambda: read_graph(tmp_path))
    # Damage that is still a table is there as well: both ways out were taken.
    assert 20 < survivors < 1_000


@pytest.mark.parametrize(("write", "suffix"), [(arrays, ".npz"), (graphml, ".graphml")])
def test_files_that_hold_everything(write, suffix, tmp_path):
    path = tmp_path / f"graph{suffix}"
    write(path)
    whole, random = path.read_bytes(), np.random.default_rng(6)
    assert check(lambda: read_graph(path))
    for _ in range(700):
        path.write_bytes(mangle(random, whole))
        check(lambda: read_graph(path))


@pytest.mark.parametrize("victim", ["labels.csv", "features.json"])
def test_tables_that_are_joined(victim, tmp_path):
    contents = {
        "edges.csv": EDGES,
        "nodes.csv": "id,age\nada,31\nben,4.5\n7,18\ndön,\neve,77\n",
        "labels.csv": "id,label,size\nada,cat,1\nben,dog,2\n7,,3\ndön,cat,4\neve,dog,\n",
        "features.json": '{"ada": [1, "red"], "ben": [], "7": [1, 2], "eve": ["blue", "red"]}',
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    whole, random = contents[victim].encode(), np.random.default_rng(6)
    assert check(lambda: read_graph(tmp_path))
    survivors = 0
    for _ in range(700):
        (tmp_path / victim).write_bytes(mangle(random, whole))
        survivors += check(lambda: read_graph(tmp_path))
    assert 10 < survivors < 600


def test_parquet(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nada,ben\nben,cleo\n")
    path = tmp_path / "nodes.parquet"
    parquet(path)
    whole, random = path.read_bytes(), np.random.default_rng(6)
    assert check(lambda: read_graph(tmp_path))
    for _ in range(700):
        path.write_bytes(mangle(random, whole))
        check(lambda: read_graph(tmp_path))
