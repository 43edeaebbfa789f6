"""PCConv as a layer: forms of edges, PyG's conventions, warnings, state."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from torch_geometric.nn import Sequential

from contracts.filter_contract import quiet
from pcnet import errors
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Operator
from pcnet.nn import PCConv
from strategies import NAMED, dense_adjacency

GRAPH = NAMED["weighted"]
X = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))


def test_repr():
    assert repr(PCConv(4, 5, 0.5)) == "PCConv(K=4, N=5, t=0.5, p=2, eta=0.5, identity=True, mode='truncated')"
    limit = PCConv(2, 3, 1.25, 2.3, 0.45, identity=False, mode="limit")
    assert repr(limit) == "PCConv(K=2, N=3, t=1.25, p=2.3, eta=0.45, identity=False, mode='limit')"
    assert repr(PCConv.stack([PCConv(2, 4, 0.5)] * 3)) == "PCConv(3 runs, eta=0.5, mode='truncated')"


def test_theta_starts_at_init_and_returns_there():
    conv = PCConv(3, 5, 0.5, init=0.25)
    assert conv.theta.tolist() == [0.25] * 4
    assert PCConv(3, 5, 0.5, identity=False).theta.tolist() == [1] * 3
    torch.nn.init.normal_(conv.theta)
    conv.reset_parameters()
    assert conv.theta.tolist() == [0.25] * 4


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("identity", [True, False])
def test_shapes(identity, mode):
    conv = PCConv(3, 5, 0.5, identity=identity, mode=mode)
    assert conv.theta.shape == (3 + identity,)
    assert conv(X, GRAPH.edge_index, GRAPH.weight).shape == X.shape
    assert conv(X.expand(2, 5, 3), GRAPH.edge_index).shape == (2, 5, 3)
    assert conv.response(np.linspace(0, 2, 7)).shape == (7,)
    assert conv.response(0.5).shape == ()
    stacked = PCConv.stack([conv, conv])
    assert stacked.response(np.linspace(0, 2, 7)).shape == (2, 7)
    assert stacked(X.expand(2, 5, 3), GRAPH.edge_index).shape == (2, 5, 3)


def test_response_by_hand():
    """K = N = 1: g = θ_0 + θ_1 (1 − (1 − t) λ̃)."""
    with quiet():
        conv = PCConv(1, 1, 0.25)
    with torch.no_grad():
        conv.theta.copy_(torch.tensor([2.0, 3.0]))
    lam = np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(conv.response(lam), 2 + 3 * (1 - 0.75 * lam))


def test_an_isolated_node_by_hand():
    """Without neighbours Ã is 1, λ̃ = p − 2 and the output θ_0 x + Σ θ_k g_k(p − 2) x."""
    conv = PCConv(3, 5, 0.7, 2.4)
    z = conv(torch.tensor([[2.0]]), torch.empty(2, 0, dtype=torch.int64))
    assert z.item() == pytest.approx(2 * conv.response(0.4), rel=1e-6)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_form_of_edges_gives_the_same(mode, dtype):
    conv, x = PCConv(3, 5, 0.5, eta=0.4, mode=mode).to(dtype), X.to(dtype)
    A = torch.from_numpy(dense_adjacency(GRAPH)).to(torch.float32)
    expected = conv(x, GRAPH.edge_index, GRAPH.weight)
    operator = Operator.from_edges(GRAPH.edge_index, 5, GRAPH.weight, eta=0.4)
    forms = (A.to_sparse_coo(), A.to_sparse_csr(), A.to_sparse_csc(), A.to(dtype).to_sparse())
    for form in forms:
        assert torch.equal(conv(x, form), expected)
    torch.testing.assert_close(conv(x, operator), expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(conv(x, operator.to(torch.float32)), conv(x, operator))
    assert conv(x, operator).dtype == dtype


def test_weights_matter():
    conv = PCConv(3, 5, 0.5)
    assert (conv(X, GRAPH.edge_index) - conv(X, GRAPH.edge_index, GRAPH.weight)).abs().max() > 0.1


def test_a_directed_adjacency_warns_and_is_symmetrised():
    adjacency = torch.zeros(5, 5)
    adjacency[0, 1] = adjacency[2, 1] = 1
    conv = PCConv(3, 5, 0.5)
    with pytest.warns(PcnetWarning, match="directed"):
        z = conv(X, adjacency.to_sparse())
    assert torch.equal(z, conv(X, (adjacency + adjacency.t()).to_sparse()))


def test_another_graph_after_the_first():
    """Nothing of the first graph is left in the layer."""
    for mode in ("truncated", "limit"):
        conv = PCConv(3, 5, 0.5, eta=0.3, mode=mode).double()
        for name in ("star", "triangle", "weighted", "star"):
            graph = NAMED[name]
            x = torch.ones(graph.num_nodes, 2, dtype=torch.float64)
            fresh = PCConv(3, 5, 0.5, eta=0.3, mode=mode).double()
            torch.testing.assert_close(
                conv(x, graph.edge_index, graph.weight), fresh(x, graph.edge_index, graph.weight), rtol=0, atol=0
            )


def test_inside_pyg_sequential():
    net = Sequential(
        "x, edge_index, edge_weight",
        [
            (torch.nn.Linear(3, 4), "x -> x"),
            torch.nn.ReLU(),
            (PCConv(3, 5, 0.5), "x, edge_index, edge_weight -> x"),
            torch.nn.Linear(4, 2),
        ],
    )
    z = net(X, GRAPH.edge_index, GRAPH.weight)
    layers = dict(net.named_modules())
    linear, conv, last = (module for module in layers.values() if isinstance(module, torch.nn.Linear | PCConv))
    assert torch.equal(z, last(conv(linear(X).relu(), GRAPH.edge_index, GRAPH.weight)))
    z.sum().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())


def test_state_is_theta():
    conv = PCConv(3, 5, 0.5)
    assert [*conv.state_dict()] == ["theta"]
    other = PCConv(3, 5, 0.5, init=7)
    other.load_state_dict(conv.state_dict())
    assert torch.equal(other.theta, conv.theta)
    with pytest.raises(RuntimeError, match="size mismatch"):
        PCConv(4, 5, 0.5).load_state_dict(conv.state_dict())


@pytest.mark.parametrize("mode", ["truncated", "limit"])
def test_precision_of_the_layer_does_not_round_the_filter(mode):
    """Coefficients are computed in double precision whatever the layer was cast to before."""
    x = X.double()
    conv = PCConv(4, 8, 0.7, 2.3, mode=mode)
    expected = conv.double()(x, GRAPH.edge_index)
    again = PCConv(4, 8, 0.7, 2.3, mode=mode).float().half().double()
    torch.testing.assert_close(again(x, GRAPH.edge_index), expected, rtol=1e-14, atol=1e-14)


def test_runs_taken_out_stay_on_their_device():
    """`select` rebuilds what depends on the settings; it must not land on another device than θ."""
    stacked = PCConv.stack([PCConv(3, 5, 0.5), PCConv(2, 5, 0.7)]).to("meta")
    for part in (stacked.select([1]), stacked.one(0)):
        _, coefficients = part.expansion(None)
        assert coefficients.device == part.theta.device


@pytest.fixture
def unsaid(monkeypatch):
    monkeypatch.setattr(errors, "_already_said", set())


def said(**settings) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PCConv(**settings)
    assert all(warning.category is PcnetWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.usefixtures("unsaid")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"K": 6, "N": 3, "t": 0.5}, ["θ is not identifiable: its 7 entries span only 4 dimensions", "truncated far"]),
        ({"K": 4, "N": 4, "t": 0.4, "p": 3.1}, ["misses (1 − λ̃)^k e^(tλ̃) by up to 1.6 times its largest value"]),
        ({"K": 3, "N": 5, "t": 0.0}, ["t = 0 leaves no heat kernel"]),
        ({"K": 3, "N": 5, "t": 0.5, "p": 1.5}, ["p = 1.5 (b = p − 1 = 0.5) is below 2"]),
    ],
)
def test_unusual_settings_are_named_once(settings, words):
    for sentence, part in zip(said(**settings), words, strict=True):
        assert part in sentence
    assert said(**settings) == []


@pytest.mark.usefixtures("unsaid")
def test_good_settings_say_nothing():
    assert said(K=4, N=6, t=0.5, p=2.0) == []
    assert said(K=4, N=1, t=0.5, p=2.0, mode="limit") == []


def test_an_operator_with_another_eta_is_refused():
    with pytest.raises(PcnetError, match=r"The operator has eta = 0\.5, the layer 0\.4; build it with the layer's"):
        PCConv(3, 5, 0.5, eta=0.4)(X, Operator.from_edges(GRAPH.edge_index, 5))


def test_limit_mode_refuses_a_directed_operator():
    directed = Operator.from_edges(torch.tensor([[0], [1]]), 5, direction="keep")
    with pytest.raises(PcnetError, match="no real spectral interval"):
        PCConv(3, 5, 0.5, mode="limit")(X, directed)
    assert PCConv(3, 5, 0.5)(X, directed).shape == X.shape


def test_what_is_kept_for_backward():
    """At N = 10, at most 1.2 times the size of x."""
    kept: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    x = torch.randn(2000, 7, requires_grad=True)
    edges = torch.randint(2000, (2, 4000), generator=torch.Generator().manual_seed(0))
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    conv = PCConv(6, 10, 0.5)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        conv(x, edges)
    assert sum(kept.values()) <= 1.2 * x.numel() * 4
