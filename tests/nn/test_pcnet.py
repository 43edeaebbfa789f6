"""PCNet: the paper's five lines, its forms of features, training by hand."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cross_entropy, linear, relu

from contracts.filter_contract import quiet
from pcnet.data import csbm
from pcnet.graph import CSR, Operator
from pcnet.nn import PCNet, PCNetSettings
from pcnet.nn._dropout import Draws

GRAPH = csbm(120, 0.6, classes=3, features=20, average_degree=15, seed=2)
X = GRAPH.x * (GRAPH.x > 0.1)


@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("hidden", [8, None])
@pytest.mark.parametrize("mode", ["truncated", "limit"])
def test_is_perceptron_then_filter(activation, hidden, mode):
    """Against torch's layers and the filter through dense eigenvectors."""
    model = PCNet(20, hidden, 3, K=3, N=5, t=0.7, p=2.2, mode=mode, activation=activation).double().eval()
    weights, biases = model.transform.weights, model.transform.biases
    h = linear(X.double(), weights[0].t(), biases[0])
    if hidden is not None:
        h = linear(relu(h) if activation else h, weights[1].t(), biases[1])
    s, U = torch.linalg.eigh(Operator.from_graph(GRAPH, dtype=torch.float64).matrix.to_dense())
    g = torch.from_numpy(model.conv.response((1.2 - s).numpy()))
    expected = U @ (g[:, None] * (U.t() @ h))
    torch.testing.assert_close(model(X.double(), GRAPH.edge_index), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("training", [True, False])
def test_sparse_and_dense_features_agree(training):
    """The drop rate of the features is 0: of sparse ones only non-zeros are dropped."""
    model = PCNet(20, 8, 3, drop_in=0.0, drop_hidden=0.4, drop_prop=0.3).train(training)
    forms = [X, X.to_sparse_coo(), X.to_sparse_csr(), CSR.from_torch(X.to_sparse())]
    outputs, grads = [], []
    for form in forms:
        model.draws = Draws([1], 0)
        z = model(form, GRAPH.edge_index)
        outputs.append(z)
        grads.append(torch.autograd.grad(z.square().sum(), list(model.parameters())))
    for z, grad in zip(outputs, grads, strict=True):
        torch.testing.assert_close(z, outputs[0])
        for one, first in zip(grad, grads[0], strict=True):
            torch.testing.assert_close(one, first, rtol=1e-4, atol=1e-4)


def test_sparse_features_drop_their_non_zeros_only():
    model = PCNet(20, None, 3, drop_in=0.5)
    model.draws = Draws([1], 0)
    z = model(CSR.from_torch(X.to_sparse()), GRAPH.edge_index)
    mask = torch.zeros_like(X)
    mask[X != 0] = torch.from_numpy(Draws([1], 0).keep(0, (int((X != 0).sum()),), 0.5)).float()
    expected = model.eval()(X * mask * 2, GRAPH.edge_index)
    torch.testing.assert_close(z, expected)


def test_edge_forms_agree():
    model = PCNet(20, 8, 3, eta=0.4).eval()
    expected = model(X, GRAPH.edge_index)
    adjacency = torch.sparse_coo_tensor(GRAPH.edge_index, torch.ones(GRAPH.edge_index.shape[1]), (120, 120))
    assert torch.equal(model(X, adjacency), expected)
    assert torch.equal(model(X, Operator.from_graph(GRAPH, eta=0.4)), expected)
    assert torch.equal(model(X, GRAPH.edge_index, torch.ones(GRAPH.edge_index.shape[1])), expected)
    assert not torch.equal(model(X, GRAPH.edge_index, torch.full((GRAPH.edge_index.shape[1],), 2.0)), expected)


def test_gradients_by_hand_equal_the_trainers_route():
    """Evaluation without gradients collapses the layers; the numbers stay."""
    model = PCNet(20, 8, 3).eval()
    with torch.no_grad():
        collapsed = model(X, GRAPH.edge_index)
    torch.testing.assert_close(collapsed, model(X, GRAPH.edge_index).detach(), rtol=1e-4, atol=1e-5)


def fit(seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    model = PCNet(20, 8, 3, drop_in=0.1, drop_hidden=0.3, drop_prop=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        loss = cross_entropy(model(X, GRAPH.edge_index), GRAPH.y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return model.eval()(X, GRAPH.edge_index)


def test_trained_by_hand_under_torchs_seed():
    logits = fit(0)
    assert torch.equal(logits, fit(0))
    assert not torch.equal(logits, fit(1))
    assert (logits.argmax(1) == GRAPH.y).double().mean() > 0.6


def test_each_dropout_does_something():
    rates = {"drop_in": 0.0, "drop_hidden": 0.0, "drop_prop": 0.0}
    for name in rates:
        model = PCNet(20, 8, 3, **{**rates, name: 0.5})
        assert not torch.equal(model(X, GRAPH.edge_index), model(X, GRAPH.edge_index)), name
        model.eval()
        assert torch.equal(model(X, GRAPH.edge_index), model(X, GRAPH.edge_index)), name


def test_settings_build_the_model_they_describe():
    settings = PCNetSettings(
        hidden=8, K=3, N=6, t=0.9, p=2.5, eta=0.3, identity=False, mode="limit", init=0.5,
        activation="relu", drop_in=0.1, drop_hidden=0.2, drop_prop=0.3,
    )  # fmt: skip
    model = settings.build(20, 3, seed=1)
    [f] = model.conv.filters
    assert (f.K, f.N, f.t, f.p, f.identity) == (3, 6, 0.9, 2.5, False)
    assert (model.conv.eta, model.conv.mode, model.conv.init) == (0.3, "limit", 0.5)
    assert model.conv.theta.tolist() == [0.5] * 3
    assert [weight.shape for weight in model.transform.weights] == [(20, 8), (8, 3)]
    assert (model.transform.activation, model.transform.rates) == ("relu", ((0.1, 0.2),))
    assert model.rates("drop_prop") == (0.3,)
    assert settings.operator(GRAPH).eta == 0.3
    twin = settings.build(20, 3, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))


def test_reset_is_as_fresh():
    model = PCNet(20, 8, 3)
    model.reset_parameters(torch.Generator().manual_seed(4))
    before = [parameter.clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    model.reset_parameters(torch.Generator().manual_seed(4))
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_repr_shows_the_filter():
    with quiet():
        assert "(conv): PCConv(K=6, N=3, t=1.5, p=2.2," in repr(PCNet(20, 8, 3, K=6, N=3, t=1.5, p=2.2))
