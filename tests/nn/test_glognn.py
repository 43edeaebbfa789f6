"""GloGNN's layers are the minimum that they are meant to be, with all n² coefficients written out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import planted
from pcnet.errors import PcnetError
from pcnet.experiment import method_file, presets, resolve
from pcnet.graph import Operator
from pcnet.nn import GloGNN, GloGNNSettings
from pcnet.nn.models._glognn import _Inverse
from pcnet.training import train
from strategies import NAMED, Edges, dense_adjacency, graphs, seeds

KINDS: list[dict[str, Any]] = [
    {"diagonal": False, "alpha": 0.7, "beta": 2.0, "gamma": 0.3},
    {"diagonal": False, "alpha": 10.0, "beta": 0.0, "gamma": 0.0, "walk": "raw"},
    {"diagonal": True, "alpha": 0.0, "beta": 5.0, "gamma": 0.8},
    {"diagonal": True, "alpha": 1.0, "beta": 0.1, "gamma": 0.2, "walk": "raw"},
]


def operator_of(graph: Edges) -> Operator:
    given = (graph.edge_index, graph.num_nodes, graph.weight)
    return Operator.from_edges(*given, eta=0.0, self_loops="add", dtype=torch.float64)


def random_model(graph: Edges, seed: int = 0, layers: int = 2, **rest: Any) -> GloGNN:
    model = GloGNN(4, 5, 3, nodes=graph.num_nodes, layers=layers, K=3, **rest).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def dense_walk(graph: Edges, walk: str) -> np.ndarray:
    A = dense_adjacency(graph)
    looped = A + np.eye(len(A))
    return A if walk == "raw" else looped / looped.sum(1, keepdims=True)


def dense_layer(model: GloGNN, H: np.ndarray, H0: np.ndarray, walk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z as the facts have it, and (1−γ) Z H D + γ H_0; D stands inside H D Hᵀ and H_0 D Hᵀ, in the numerator only."""
    a, b, g = (getattr(model.settings, name) for name in ("alpha", "beta", "gamma"))
    D = np.eye(3) if model.diagonal is None else np.diag(model.diagonal.detach().numpy())
    powers = sum(lam * np.linalg.matrix_power(walk, k + 1) for k, lam in enumerate(model.orders.detach().numpy()))
    numerator = (1 - g) * H @ D @ H.T + b * powers - g * (1 - g) * H0 @ D @ H.T
    Z = numerator @ np.linalg.inv((1 - g) ** 2 * H @ H.T + (a + b) * np.eye(len(H)))
    return Z, (1 - g) * Z @ H @ D + g * H0


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(graph=graphs(max_nodes=12), seed=seeds())
def test_layers_are_those_of_the_closed_form(kind, graph, seed):
    model = random_model(graph, seed, **kind)
    x = columns(graph.num_nodes, 4, seed)
    with torch.no_grad():
        H0 = ((x @ model.first.weights[0] + model.first.biases[0]).relu() @ model.weights[0] + model.biases[0]).numpy()
        found = model(x, operator_of(graph)).numpy()
    walk, H = dense_walk(graph, model.settings.walk), H0
    for _ in range(2):
        H = dense_layer(model, H, H0, walk)[1]
    np.testing.assert_allclose(found, H, rtol=1e-8, atol=1e-8 * max(1, np.abs(H).max()))


def test_the_closed_form_minimises():
    """Whatever is added to Z, the objective of the docstring grows."""
    graph, kind = NAMED["star"], KINDS[0]
    model, rng = random_model(graph, **kind), np.random.default_rng(0)
    walk, H, H0 = dense_walk(graph, "rows"), rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    a, b, g = (getattr(model.settings, name) for name in ("alpha", "beta", "gamma"))
    powers = sum(lam * np.linalg.matrix_power(walk, k + 1) for k, lam in enumerate(model.orders.detach().numpy()))

    def objective(Z: np.ndarray) -> float:
        terms = (1.0, H - (1 - g) * Z @ H - g * H0), (a, Z), (b, Z - powers)
        return sum(weight * np.square(term).sum() for weight, term in terms)

    Z, _ = dense_layer(model, H, H0, walk)
    for scale in (1e-3, 1.0):
        for _ in range(5):
            assert objective(Z + scale * rng.normal(size=Z.shape)) > objective(Z)


@pytest.mark.parametrize("walk", ["rows", "raw"])
@pytest.mark.parametrize("depth", [2, 3])
def test_the_first_embedding(walk, depth):
    graph = NAMED["self loops"]
    model = random_model(graph, layers=0, depth=depth, delta=0.6, walk=walk, diagonal=True)
    x = columns(5, 4, 1)
    with torch.no_grad():
        features = x @ model.first.weights[0] + model.first.biases[0]
        nodes = torch.from_numpy(dense_walk(graph, walk)) @ model.of_nodes + model.node_bias
        h = 0.6 * features + 0.4 * nodes
        for weight, bias in zip(model.weights, model.biases, strict=True):
            h = h.relu() @ weight + bias
        torch.testing.assert_close(model(x, operator_of(graph)), h, rtol=1e-10, atol=1e-10)


def test_every_derivative():
    graph = NAMED["weighted with loops and duplicates"]
    model, x, operator = random_model(graph, delta=0.6, beta=2.0), columns(5, 4, 1), operator_of(graph)
    names, values = zip(*model.named_parameters(), strict=True)

    def logits(*parameters: torch.Tensor) -> torch.Tensor:
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(model, given, (x, operator))

    assert torch.autograd.gradcheck(logits, [value.detach().clone().requires_grad_() for value in values])


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_inverse(size):
    generator = torch.Generator().manual_seed(size)
    H = torch.randn(3, 60, size, generator=generator, dtype=torch.float64)
    matrix = (H.mT @ H + 0.1 * torch.eye(size, dtype=torch.float64)).requires_grad_()
    torch.testing.assert_close(_Inverse.apply(matrix), torch.linalg.inv(matrix), rtol=1e-9, atol=1e-9)
    target = torch.randn(3, size, size, generator=generator, dtype=torch.float64)
    ours, theirs = (
        torch.autograd.grad((inverse(matrix) * target).sum(), matrix)[0]
        for inverse in (_Inverse.apply, torch.linalg.inv)
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", [*KINDS, {"delta": 0.4, "depth": 3}])
def test_runs_side_by_side(kind):
    graph = NAMED["disconnected"]
    models, x = [random_model(graph, seed, **kind) for seed in range(3)], columns(9, 4, 2)
    for model, found in zip(models, GloGNN.stack(models)(x, operator_of(graph)), strict=True):
        torch.testing.assert_close(found, model(x, operator_of(graph)), rtol=1e-9, atol=1e-9)


def test_weights_of_nodes_follow_the_graph():
    graph, _ = planted(0.8)
    assert GloGNNSettings(delta=1.0).for_graph(graph) == GloGNNSettings(delta=1.0)
    own = GloGNNSettings(delta=0.5).for_graph(graph)
    assert own.nodes == 240
    with pytest.raises(PcnetError, match="weights for 0 nodes, the graph has 240"):
        GloGNNSettings(delta=0.5).build(30, 3)(graph.x, graph.edge_index)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"gamma": 1.0}, "gamma = 1.0"),
        ({"delta": 1.5}, "delta must be at most 1, not 1.5"),
        ({"alpha": 0.0, "beta": 0.0}, "one of them must be above 0"),
        ({"walk": "lazy"}, "walk cannot be 'lazy'; choose from"),
        ({"depth": 4}, "depth must be at most 3, not 4"),
        ({"K": 0}, "K must be at least 1"),
    ],
)
def test_refused(wrong, words):
    with pytest.raises(PcnetError, match=words):
        GloGNN(4, 5, 3, **wrong)


def test_published_settings():
    eight = {"cora", "citeseer", "pubmed", "texas", "actor", "cornell", "wisconsin", "penn94"}
    for name, diagonal in (("glognn", False), ("glognn++", True)):
        assert {*presets()["table3"].datasets_of(name)} == eight
        assert method_file(name).kind is GloGNNSettings
        assert all(resolve(dataset, name, preset="table3").model.diagonal == diagonal for dataset in eight)
    experiment = resolve("wisconsin", "glognn++", preset="table3")
    assert (experiment.model.alpha, experiment.model.beta, experiment.model.K) == (1.2, 0.05, 3)
    assert experiment.paper == (88.04, 3.22)


class TestGloGNN(MethodContract):
    base: ClassVar = GloGNNSettings(hidden=16, K=3, beta=100.0, gamma=0.0, diagonal=False, dropout=0.5)
    changes: ClassVar = ({"dropout": 0.0}, {"gamma": 0.2})

    @pytest.mark.parametrize("phi", [0.8])
    def test_learns_a_planted_partition(self, phi):
        """Z stays near an average over walks, which is no help where unlike nodes are linked."""
        super().test_learns_a_planted_partition(phi)


class TestGloGNNPlusPlus(MethodContract):
    """With weights for each node, which come along when the nodes are permuted."""

    base: ClassVar = GloGNNSettings(hidden=16, K=3, beta=100.0, gamma=0.2, delta=0.5, dropout=0.2, nodes=240)
    changes: ClassVar = ({"dropout": 0.0}, {"gamma": 0.6})

    def test_permuting_nodes_permutes_the_output(self):
        graph, split = planted(0.8)
        [outcome] = train(graph, [self.run(split)], threads=1)
        order = torch.from_numpy(np.random.default_rng(0).permutation(graph.num_nodes))
        moved, x = outcome.model.eval(), torch.empty_like(graph.x)
        x[order] = graph.x
        with torch.no_grad():
            moved.of_nodes[order] = moved.of_nodes.clone()
            found = moved(x, order[graph.edge_index])
        torch.testing.assert_close(found[order], outcome.logits, rtol=1e-4, atol=1e-5)

    def test_nodes_are_filled_in(self):
        graph, split = planted(0.8)
        one, two = self.run(split), self.run(split, replace(self.base, nodes=0))
        first, second = train(graph, [one, two], threads=1)
        assert torch.equal(first.logits, second.logits)
