"""S = D^-η W D^-η against its definition written out densely, and against PyG where the two agree."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import coalesce, get_laplacian, to_dense_adj

from pcnet.errors import PcnetWarning
from pcnet.graph import Graph, Operator
from strategies import NAMED, Edges, dense_adjacency, dense_operator, graphs

ETAS = [0.0, 0.3, 0.5, 0.8, 1.0]
LOOPS = ["add", "fill", "keep", "remove"]


def build(graph: Edges, **more) -> np.ndarray:
    more = {"dtype": torch.float64} | more
    return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, **more).matrix.to_dense().numpy()


@settings(max_examples=200)
@given(graphs(), st.sampled_from(ETAS), st.sampled_from(LOOPS))
def test_equals_the_definition(graph, eta, loops):
    np.testing.assert_allclose(build(graph, eta=eta, self_loops=loops), dense_operator(graph, eta, loops), atol=1e-14)


@settings(max_examples=100)
@given(graphs(directed=True), st.sampled_from(ETAS), st.sampled_from(LOOPS))
def test_direction_kept_equals_the_definition(graph, eta, loops):
    """Rows by what arrives, columns by what leaves."""
    got = build(graph, eta=eta, self_loops=loops, direction="keep")
    np.testing.assert_allclose(got, dense_operator(graph, eta, loops, direction="keep"), atol=1e-14)


@settings(max_examples=200)
@given(graphs(directed=True), st.sampled_from(ETAS), st.sampled_from(LOOPS))
def test_out_edges_equal_the_definition(graph, eta, loops):
    """Row i has the nodes that i links to; what leaves a node is its degree, on both sides."""
    A = dense_adjacency(graph).T
    native = np.diag(A).copy()
    wanted = {"add": native + 1, "fill": np.where(native == 0, 1, native), "keep": native, "remove": 0 * native}
    W = A - np.diag(native) + np.diag(wanted[loops])
    out = W.sum(1)
    scale = np.where(out > 0, np.where(out > 0, out, 1) ** -eta, 0)
    options = {"eta": eta, "self_loops": loops, "direction": "out", "dtype": torch.float64}
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, **options)
    got = op.matrix.to_dense().numpy()
    np.testing.assert_allclose(got, np.diag(scale) @ W @ np.diag(scale), atol=1e-12)
    np.testing.assert_array_equal(op.adjoint.to_dense().numpy(), got.T)
    assert op.symmetric == np.array_equal(A, A.T)


@settings(max_examples=50)
@given(graphs(), st.sampled_from(ETAS), st.sampled_from(LOOPS))
def test_directions_agree_where_edges_go_both_ways(graph, eta, loops):
    both = build(graph, eta=eta, self_loops=loops)
    for direction in ("keep", "out"):
        np.testing.assert_array_equal(build(graph, eta=eta, self_loops=loops, direction=direction), both)


@settings(max_examples=100)
@given(graphs(directed=True), st.sampled_from(LOOPS))
def test_a_directed_list_is_symmetrised_and_says_so(graph, loops):
    A = dense_adjacency(graph)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = build(graph, self_loops=loops)
    np.testing.assert_allclose(got, dense_operator(graph, 0.5, loops), atol=1e-14)
    np.testing.assert_allclose(got, got.T, rtol=1e-15)
    said = [str(warning.message) for warning in caught if warning.category is PcnetWarning]
    assert len(said) == (not np.array_equal(A, A.T))
    assert all(sentence.startswith("The edges are directed; both directions are used.") for sentence in said)


def test_messages_go_from_source_to_target():
    op = Operator.from_edges(torch.tensor([[0], [1]]), 2, eta=0.0, self_loops="keep", direction="keep")
    assert not op.symmetric
    assert op.matrix.to_dense().tolist() == [[0, 0], [1, 0]]
    assert op.adjoint.to_dense().tolist() == [[0, 1], [0, 0]]
    assert "directed" in repr(op)


def test_a_node_gathers_over_the_edges_that_leave_it():
    """0 links to 1 and 2, which link to nobody: D = 3, 1, 1 with the added loops."""
    op = Operator.from_edges(torch.tensor([[0, 0], [1, 2]]), 3, direction="out", dtype=torch.float64)
    assert not op.symmetric
    expected = [[1 / 3, 3**-0.5, 3**-0.5], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(op.matrix.to_dense().numpy(), expected, atol=1e-15)


def test_both_directions_carry_the_larger_weight():
    with pytest.warns(PcnetWarning, match="direction='keep'"):
        op = Operator.from_edges(
            torch.tensor([[0, 1], [1, 0]]), 2, torch.tensor([1.0, 3.0]), eta=0.0, self_loops="keep"
        )
    assert op.symmetric
    assert op.matrix.to_dense().tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize("graph", NAMED.values(), ids=NAMED)
def test_fill_is_pygs_gcn_norm(graph):
    edges, weight = merged(graph)
    index, value = gcn_norm(edges, weight, graph.num_nodes)
    expected = to_dense_adj(index, edge_attr=value, max_num_nodes=graph.num_nodes)[0]
    np.testing.assert_allclose(build(graph, self_loops="fill"), expected.numpy(), atol=1e-14)


@pytest.mark.parametrize("graph", NAMED.values(), ids=NAMED)
def test_remove_is_pygs_laplacian(graph):
    """S = I − L; where a node has no neighbour PyG's L is 1 and S is 0."""
    edges, weight = merged(graph)
    index, value = get_laplacian(edges, weight, "sym", num_nodes=graph.num_nodes, dtype=torch.float64)
    L = to_dense_adj(index, edge_attr=value, max_num_nodes=graph.num_nodes)[0].numpy()
    np.testing.assert_allclose(build(graph, self_loops="remove"), np.eye(graph.num_nodes) - L, atol=1e-14)


def merged(graph: Edges) -> tuple[torch.Tensor, torch.Tensor]:
    """Without duplicates, which PyG's normalisation would count twice."""
    weight = torch.from_numpy(graph.weights)
    edges, weight = coalesce(graph.edge_index, weight, graph.num_nodes, reduce="max" if graph.weight is None else "sum")
    return edges, weight


def test_weights_count_in_degrees_and_products():
    """Doubling all weights changes Ã, because the added loop weighs 1; with no loop S stays as it is."""
    graph = NAMED["weighted"]
    double = Edges(graph.edge_index, graph.num_nodes, 2 * graph.weight)
    assert np.abs(build(graph) - build(double)).max() > 0.05
    np.testing.assert_allclose(build(graph, self_loops="keep"), build(double, self_loops="keep"), atol=1e-14)
    np.testing.assert_allclose(
        build(graph, eta=0.0, self_loops="keep") * 2, build(double, eta=0.0, self_loops="keep"), atol=1e-14
    )
    assert np.abs(build(graph) - build(Edges(graph.edge_index, graph.num_nodes))).max() > 0.05


def test_unit_weights_are_no_weights():
    graph = NAMED["star"]
    ones = Edges(graph.edge_index, graph.num_nodes, torch.ones(graph.edge_index.shape[1]))
    np.testing.assert_array_equal(build(graph), build(ones))


def test_duplicates():
    pair = torch.tensor([[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]])
    plain = Operator.from_edges(pair, 2, eta=0.0, self_loops="keep").matrix
    assert plain.to_dense().tolist() == [[0, 1], [1, 0]]
    assert plain.nnz == 2
    weighted = Operator.from_edges(pair, 2, torch.full((6,), 0.5), eta=0.0, self_loops="keep").matrix
    assert weighted.to_dense().tolist() == [[0, 1.5], [1.5, 0]]


def test_an_edge_of_weight_zero_is_no_edge():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    op = Operator.from_edges(edges, 3, torch.tensor([0.0, 0.0, 1.0, 1.0]))
    assert op.matrix.nnz == 5
    assert op.matrix.to_dense()[0].tolist() == [1, 0, 0]


def test_isolated_nodes_are_kept():
    graph = NAMED["isolated nodes"]
    added, kept = build(graph), build(graph, self_loops="keep")
    assert added.shape == kept.shape == (8, 8)
    for node in (0, 2, 5, 6, 7):
        np.testing.assert_array_equal(added[node], np.eye(8)[node])
        np.testing.assert_array_equal(kept[node], np.zeros(8))


def test_native_loops_under_each_policy():
    graph = NAMED["self loops"]
    loops = {policy: np.diag(build(graph, eta=0.0, self_loops=policy)).tolist() for policy in LOOPS}
    assert loops == {
        "add": [2, 1, 2, 2, 1],
        "fill": [1, 1, 1, 1, 1],
        "keep": [1, 0, 1, 1, 0],
        "remove": [0, 0, 0, 0, 0],
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision(dtype):
    graph = NAMED["weighted"]
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, dtype=dtype)
    assert op.matrix.dtype == dtype
    exact = dense_operator(graph, 0.5)
    error = np.abs(op.matrix.to_dense().double().numpy() - exact).max()
    # Computed in double precision, rounded once.
    assert error <= torch.finfo(dtype).eps * np.abs(exact).max()


def test_to_another_precision_and_back():
    op = Operator.from_edges(NAMED["star"].edge_index, 20, eta=0.3, dtype=torch.float64)
    single = op.to(torch.float32)
    assert (single.matrix.dtype, single.eta, single.symmetric) == (torch.float32, 0.3, True)
    assert op.to(torch.float64) is op
    assert op.to("cpu") is op
    assert op.matrix.dtype == torch.float64


@pytest.mark.parametrize("index", [torch.int32, torch.int16, torch.uint8])
def test_other_integer_types_of_ids(index):
    graph = NAMED["star"]
    got = Operator.from_edges(graph.edge_index.to(index), 20, dtype=torch.float64).matrix.to_dense().numpy()
    np.testing.assert_array_equal(got, build(graph))


def test_from_graph_passes_everything_on():
    edges = NAMED["weighted"]
    graph = Graph(edges.edge_index, torch.ones(5, 1), torch.zeros(5, dtype=torch.int64), edge_weight=edges.weight)
    for options in ({"eta": 0.3}, {"self_loops": "fill"}, {"self_loops": "remove", "eta": 1.0}):
        got = Operator.from_graph(graph, dtype=torch.float64, **options)
        np.testing.assert_array_equal(got.matrix.to_dense().numpy(), build(edges, **options))
        assert got.eta == options.get("eta", 0.5)


def test_a_direction_of_a_graph_is_that_of_its_list():
    both, listed = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([[0, 2], [1, 1]])
    graph = Graph(both, torch.ones(3, 1), torch.zeros(3, dtype=torch.int64), listed_edges=listed)
    for direction, edges in (("symmetrise", both), ("keep", listed), ("out", listed)):
        got = Operator.from_graph(graph, direction=direction).matrix.to_dense()
        assert torch.equal(got, Operator.from_edges(edges, 3, direction=direction).matrix.to_dense())


def test_repr():
    assert repr(Operator.from_edges(NAMED["triangle"].edge_index, 3)) == (
        "Operator(3 nodes, 9 entries, eta=0.5, symmetric)"
    )


def test_weights_that_require_grad_are_read():
    graph = NAMED["weighted"]
    weight = graph.weight.clone().requires_grad_()
    op = Operator.from_edges(graph.edge_index, 5, weight, dtype=torch.float64)
    np.testing.assert_array_equal(op.matrix.to_dense().numpy(), build(graph))


def test_the_edge_list_is_left_alone():
    edges = torch.tensor([[0, 0, 1, 2, 2], [1, 1, 0, 2, 2]])
    weight = torch.tensor([0.5, 0.25, 0.75, 1.0, 2.0])
    before = edges.clone(), weight.clone()
    Operator.from_edges(edges, 3, weight)
    assert torch.equal(edges, before[0])
    assert torch.equal(weight, before[1])
