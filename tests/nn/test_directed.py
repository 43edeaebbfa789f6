"""Models on edges that count one way, against dense matrices and torch's own derivatives."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from contracts.filter_contract import columns
from contracts.model_contract import SHORT, planted, same
from pcnet.experiment import resolve
from pcnet.graph import Graph, Operator
from pcnet.nn import (
    GCN,
    GCNII,
    GPRGNN,
    FilterNet,
    GATSettings,
    GCNIISettings,
    GCNSettings,
    GGCNSettings,
    GPRGNNSettings,
    Model,
    filters_of,
    load_model,
    save_model,
)
from pcnet.training import Run, Targets, train
from strategies import Edges, dense_adjacency, graphs, seeds

WITH_DIRECTION = [GCNSettings, GATSettings, GCNIISettings, GPRGNNSettings, GGCNSettings]
SIZES = (4, 5, 3)


def one_way_operator(graph: Edges, loops: str) -> tuple[Operator, Tensor]:
    """Ours, and S = D^-½ W D^-½ with D = W·1 written out, row i having what i links to."""
    A = dense_adjacency(graph).T
    own = np.diag(A) + 1 if loops == "add" else np.where(np.diag(A) == 0, 1, np.diag(A))
    W = A - np.diag(np.diag(A)) + np.diag(own)
    root = np.diag(W.sum(1) ** -0.5)
    options = {"self_loops": loops, "direction": "out", "dtype": torch.float64}
    operator = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, **options)
    return operator, torch.from_numpy(root @ W @ root)


def gcn(model: GCN, S: Tensor, x: Tensor) -> Tensor:
    h = (S @ x @ model.first.weights[0] + model.biases[0]).relu()
    return S @ h @ model.weights[0] + model.biases[1]


def gcnii(model: GCNII, S: Tensor, x: Tensor) -> Tensor:
    start = h = (x @ model.first.weights[0] + model.first.biases[0]).relu()
    s = model.settings
    for layer in range(s.layers):
        beta, P = math.log(s.lam / (layer + 1) + 1), S @ h
        U = (1 - s.alpha) * P + s.alpha * start
        learned = (P if s.variant else U) @ model.weights[0][layer]
        learned = learned + start @ model.weights[1][layer] if s.variant else learned
        h = ((1 - beta) * U + beta * learned).relu()
    return h @ model.last + model.bias


def gprgnn(model: FilterNet, S: Tensor, x: Tensor) -> Tensor:
    weights, biases = model.transform.weights, model.transform.biases
    z = (x @ weights[0] + biases[0]).relu() @ weights[1] + biases[1]
    theta = model.conv.theta
    return sum((theta[k] * torch.linalg.matrix_power(S, k) @ z for k in range(len(theta))), torch.zeros_like(z))


MODELS = {
    "gcn": (lambda: GCN(*SIZES), gcn, "fill"),
    "gcnii": (lambda: GCNII(*SIZES, layers=3, alpha=0.3), gcnii, "add"),
    "gcnii star": (lambda: GCNII(*SIZES, layers=2, alpha=0.3, variant=True), gcnii, "add"),
    "gprgnn": (lambda: GPRGNN(*SIZES, K=4, alpha=0.3), gprgnn, "fill"),
}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=15)
@given(graph=graphs(max_nodes=9, directed=True), seed=seeds())
def test_values_and_derivatives_are_those_of_dense_matrices(name, graph, seed):
    make, dense, loops = MODELS[name]
    torch.manual_seed(seed)
    model = make().double().eval()
    for parameter in model.parameters():
        parameter.data.normal_()
    operator, S = one_way_operator(graph, loops)
    x, g = columns(graph.num_nodes, 4, seed), columns(graph.num_nodes, 3, seed + 1)
    parameters = list(model.parameters())
    found, expected = model(x, operator), dense(model, S, x)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    ours, theirs = (torch.autograd.grad((z * g).sum(), parameters) for z in (found, expected))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-9)


def listed_graph() -> Graph:
    """Planted classes whose every edge was listed in one direction, whichever."""
    graph, _ = planted(0.8)
    source, target = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    turned = torch.rand(len(source), generator=torch.Generator().manual_seed(1)) < 0.5
    listed = torch.stack([torch.where(turned, target, source), torch.where(turned, source, target)])
    return replace(graph, listed_edges=listed)


@pytest.mark.parametrize("kind", WITH_DIRECTION)
def test_one_meaning_for_all(kind):
    """The list where the graph has one, its edges where they are the list; both ways unless asked."""
    graph = listed_graph()
    plain, directed = kind(), kind(directed=True)
    options = {"self_loops": kind.model.self_loops, "direction": "out"}
    expected = Operator.from_edges(graph.listed_edges, graph.num_nodes, **options).matrix.to_dense()
    own = replace(graph, edge_index=graph.listed_edges, listed_edges=None)
    for each in (graph, own):
        operator = directed.operator(each)
        assert torch.equal(operator.matrix.to_dense(), expected)
        assert not operator.symmetric
    both = replace(graph, listed_edges=None)
    for operator in (plain.operator(graph), plain.operator(both), directed.operator(both)):
        assert operator.symmetric
        assert torch.equal(operator.matrix.to_dense(), plain.operator(both).matrix.to_dense())
    assert plain.batch_key != directed.batch_key


def test_weights_of_a_directed_graph_count():
    edges, weight = torch.tensor([[0, 1], [1, 2]]), torch.tensor([2.0, 0.5])
    graph = Graph(edges, torch.eye(3), torch.tensor([0, 1, 0]), edge_weight=weight)
    expected = Operator.from_edges(edges, 3, weight, self_loops="fill", direction="out").matrix.to_dense()
    assert torch.equal(GCNSettings(directed=True).operator(graph).matrix.to_dense(), expected)


@pytest.mark.parametrize("kind", [GPRGNNSettings, GCNSettings])
@pytest.mark.parametrize("threads", [1, 2])
def test_runs_of_both_kinds_do_not_touch_each_other(kind, threads):
    graph, (_, split) = listed_graph(), planted(0.8)
    both = [kind(hidden=8, directed=directed) for directed in (True, False, True)]
    runs = [Run(model, SHORT, Targets.from_split(split), seed) for seed, model in enumerate(both)]
    together = train(graph, runs, threads=threads)
    for run, outcome in zip(runs, together, strict=True):
        same(outcome, train(graph, [run], threads=1)[0])
    other = train(graph, [replace(runs[0], model=both[1])], threads=1)[0]
    assert not torch.equal(other.logits, together[0].logits)


@pytest.mark.parametrize("kind", WITH_DIRECTION)
def test_files_with_and_without_the_setting(kind, tmp_path):
    """A model is saved with it; one that was saved before it existed is undirected."""
    saved = kind(directed=True)
    save_model(saved.build(4, 3, seed=0), saved, tmp_path / "model")
    assert load_model(tmp_path / "model")[1] == saved
    path = tmp_path / "model.json"
    description = json.loads(path.read_text())
    del description["settings"]["directed"]
    path.write_text(json.dumps(description))
    assert load_model(tmp_path / "model")[1] == kind()


def test_a_filter_of_one_way_edges_is_not_drawn(tmp_path):
    """It has no real frequencies, in a model that was loaded or taken out of a stack neither."""
    directed = GPRGNNSettings(directed=True)
    models: list[Model] = [directed.build(4, 3, seed=seed) for seed in range(2)]
    save_model(models[0], directed, tmp_path / "model")
    models += [load_model(tmp_path / "model")[0], FilterNet.stack(models).one(1)]
    plain = GPRGNNSettings().build(4, 3)
    assert filters_of([*models, plain]) == [plain.conv]


def test_by_assignment():
    experiment = resolve("texas", "gcn", preset="table3").with_overrides(["directed=false"])
    assert not experiment.model.directed
    assert experiment.with_overrides(["directed=true"]).model.directed
