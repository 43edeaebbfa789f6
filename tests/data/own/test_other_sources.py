"""Arrays, NetworkX, PyG and SciPy give the graph that the tables give."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from pcnet import PcnetError, graph_from_networkx, graph_from_pyg, graph_from_scipy, read_graph
from pcnet.graph import CSR, Graph

X = np.array([[0.5, 2, 0], [0, 1, 0], [3, 4, 1]], dtype=np.float32)
ONE_WAY = np.array([[0, 1], [1, 2]])
BOTH_WAYS = [[0, 1, 1, 2], [1, 0, 2, 1]]


def check(graph: Graph) -> None:
    assert graph.edge_index.tolist() == BOTH_WAYS
    assert graph.edge_weight is None
    assert isinstance(graph.x, torch.Tensor)
    assert torch.equal(graph.x, torch.from_numpy(X))
    assert graph.schema.width == 3


def test_scipy():
    upper = scipy.sparse.coo_matrix((np.ones(2), ONE_WAY.T), shape=(3, 3))
    graph = graph_from_scipy(upper, X, ["b", "a", ""])
    check(graph)
    assert graph.classes == ("a", "b")
    assert graph.y.tolist() == [1, 0, -1]
    weighted = graph_from_scipy(upper.tocsr() * 2.5, scipy.sparse.csr_matrix(X), np.array([4.0, 7.0, np.nan]))
    assert weighted.edge_weight.tolist() == [2.5] * 4
    assert weighted.classes == (4, 7)
    assert weighted.y.tolist() == [0, 1, -1]
    assert graph_from_scipy(upper, X, directed=True).edge_index.tolist() == ONE_WAY.T.tolist()


def test_features_that_are_mostly_zero_are_compressed():
    graph = graph_from_scipy(scipy.sparse.eye(8), np.eye(8))
    assert isinstance(graph.x, CSR)
    assert torch.equal(graph.x.to_dense(), torch.eye(8))


def test_pyg():
    masks = torch.eye(3, dtype=torch.bool)
    data = Data(torch.from_numpy(X), torch.from_numpy(ONE_WAY.T), y=torch.tensor([1, 0, 1]))
    data.train_mask, data.val_mask, data.test_mask = masks
    graph = graph_from_pyg(data)
    check(graph)
    assert graph.y.tolist() == [1, 0, 1]
    assert [[part.tolist() for part in split] for split in graph.fixed_splits] == [[[0], [1], [2]]]


def test_npz_of_the_documented_arrays(tmp_path):
    path = tmp_path / "mine.npz"
    names = np.array(["p", "q", "r"])
    np.savez(path, edge_index=ONE_WAY.T, x=X, y=np.array([1, 0, -1]), ids=names, classes=np.array(["zoo", "art"]))
    graph = read_graph(path)
    check(graph)
    assert graph.name == "mine"
    assert graph.ids.tolist() == ["p", "q", "r"]
    assert graph.classes == ("zoo", "art")
    assert graph.y.tolist() == [1, 0, -1]


def test_npz_of_the_heterophilous_graphs(tmp_path):
    """The layout that their authors publish; ten splits, a row of masks each."""
    path, random = tmp_path / "roman.npz", np.random.default_rng(0)
    part = np.array([random.permutation(np.arange(12) % 3) for _ in range(10)])
    x, y = random.standard_normal((12, 4)).astype(np.float32), np.arange(12) % 4
    edges = np.array([(one, one + 1) for one in range(11)])
    masks = {f"{name}_masks": part == place for place, name in enumerate(("train", "val", "test"))}
    np.savez(path, node_features=x, node_labels=y, edges=edges, **masks)
    graph = read_graph(path)
    assert torch.equal(graph.x, torch.from_numpy(x))
    assert graph.y.tolist() == y.tolist()
    assert graph.edge_index.shape == (2, 22)
    assert len(graph.fixed_splits) == 10
    for split, parts in zip(graph.fixed_splits, part, strict=True):
        assert [ids.tolist() for ids in split] == [np.flatnonzero(parts == place).tolist() for place in range(3)]


def test_networkx_and_graphml(tmp_path):
    network = networkx.Graph()
    network.add_node("b", label="dog", age=3, about="red fox")
    network.add_node("a", label="cat", age=5, about="blue fox")
    network.add_node("c", age=4)
    network.add_edge("b", "a", weight=2.0)
    network.add_edge("a", "c", weight=0.5)
    direct = graph_from_networkx(network, kinds={"about": "bag"})
    assert direct.ids.tolist() == ["b", "a", "c"]
    assert direct.classes == ("cat", "dog")
    assert direct.y.tolist() == [1, 0, -1]
    assert direct.edge_index.tolist() == BOTH_WAYS
    assert direct.edge_weight.tolist() == [2, 2, 0.5, 0.5]
    assert [column.name for column in direct.schema.columns] == ["age", "about"]
    networkx.write_graphml(network, tmp_path / "pets.graphml")
    stored = read_graph(tmp_path / "pets.graphml", kinds={"about": "bag"})
    assert stored.ids.tolist() == direct.ids.tolist()
    assert stored.schema == direct.schema
    for one, other in ((stored.y, direct.y), (stored.edge_index, direct.edge_index), (stored.x, direct.x)):
        assert torch.equal(one, other)


def test_networkx_numbers_and_lists():
    network = networkx.path_graph(3)
    networkx.set_node_attributes(network, {node: X[node] for node in network}, "embedding")
    graph = graph_from_networkx(network)
    check(graph)
    assert graph.ids.tolist() == [0, 1, 2]


CASES = {
    "not square": (lambda: graph_from_scipy(np.ones((2, 3))), "must be square"),
    "rows": (lambda: graph_from_scipy(np.ones((2, 2)), X), "a row for each of 2 nodes"),
    "NaN": (lambda: graph_from_scipy(np.ones((1, 1)), [[np.nan]]), "x holds NaN"),
    "words": (lambda: graph_from_scipy(np.ones((1, 1)), [["a"]]), "x must hold numbers"),
    "labels": (lambda: graph_from_scipy(np.ones((2, 2)), np.ones((2, 1)), [0]), "one word or number for each node"),
    "weights": (lambda: graph_from_scipy(-np.ones((2, 2))), "negative"),
    "no Data": (lambda: graph_from_pyg(Data()), "no edge_index"),
    "no nodes": (lambda: graph_from_networkx(networkx.Graph()), "no nodes"),
    "no weight": (lambda: graph_from_networkx(networkx.path_graph(3), weight="kg"), "has the attribute 'kg'"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case):
    call, words = CASES[case]
    with pytest.raises(PcnetError) as error:
        call()
    assert words in str(error.value)


def test_an_edge_without_its_weight():
    network = networkx.path_graph(3)
    network[0][1]["weight"] = 1
    with pytest.raises(PcnetError, match="1–2, column 'weight': the weight is missing"):
        graph_from_networkx(network)


def test_attributes_of_networkx_whose_names_are_no_strings():
    graph = networkx.Graph([(0, 1), (1, 2)])
    for node, value in enumerate((2.5, 3.5, 4.5)):
        graph.nodes[node].update({1: value, "class": "ab"[node % 2]})
    found = graph_from_networkx(graph)
    assert found.schema.columns[0].name == "1"
    np.testing.assert_allclose(found.x[:, 0].argsort(), [0, 1, 2])
