"""WRGAT is its layers, written out edge by edge, two edges for two nodes that chose each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings
from test_models_contract import MethodContract

from contracts.filter_contract import columns
from contracts.model_contract import planted
from pcnet.data import csbm, make_split
from pcnet.errors import PcnetError
from pcnet.experiment import method_file, presets
from pcnet.graph import CSR, Operator, structural_pairs
from pcnet.nn import WRGAT, WRGATSettings
from pcnet.nn.models import _wrgat
from pcnet.training import Run, Targets, TrainingSettings, train
from strategies import NAMED, Edges, graphs, seeds

KINDS: list[dict[str, Any]] = [
    {"rings": None},
    {"rings": 2, "edges": True, "edge_weight": 3.0},
    {"rings": 0, "edges": True},
    {"rings": 0},
]
Link = tuple[int, int, float]


def operator_of(graph: Edges) -> Operator:
    given = (graph.edge_index, graph.num_nodes, graph.weight)
    return Operator.from_edges(*given, eta=0.0, self_loops="remove", dtype=torch.float64)


def links_of(graph: Edges, kind: dict[str, Any]) -> list[list[Link]]:
    """Of every relation, each edge (from, to, weight), as often as it is there."""
    adjacency = operator_of(graph).matrix.to_scipy()
    pairs = structural_pairs(adjacency)
    relations = []
    if kind.get("edges"):
        relations.append([(int(j), int(i), kind.get("edge_weight", 1.0)) for i, j in np.argwhere(adjacency.toarray())])
    for k in range(pairs.rings if kind["rings"] is None else min(kind["rings"], pairs.rings)):
        ring = pairs.ring(k)
        listed = zip(ring.source, ring.target, ring.weight, ring.copies.astype(int), strict=True)
        relations.append([(int(j), int(i), float(w)) for j, i, w, copies in listed for _ in range(copies)])
    return relations


def random_model(graph: Edges, kind: dict[str, Any], seed: int = 0) -> WRGAT:
    torch.manual_seed(seed)
    model = WRGAT(4, 5, 3, relations=len(links_of(graph, kind)), **kind).double().eval()
    with torch.no_grad():
        for bias in model.biases:
            bias.normal_()
    return model


def by_the_formula(h: np.ndarray, maps: np.ndarray, bias: np.ndarray, a: np.ndarray, relations: list[list[Link]]):
    out = h @ maps[0] + bias
    for r, links in enumerate(relations):
        z = h @ maps[1 + r]
        for i in range(len(h)):
            mine = [(j, w) for j, target, w in links if target == i]
            if not mine:
                continue
            scores = np.array([a[0, r] @ z[i] + a[1, r] @ z[j] for j, _ in mine])
            powers = np.exp(np.where(scores > 0, scores, 0.2 * scores))
            shares = powers / powers.sum()
            out[i] += np.mean([w * share * z[j] for (j, w), share in zip(mine, shares, strict=True)], axis=0)
    return out


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(graph=graphs(max_nodes=12), seed=seeds())
def test_layers_are_those_of_the_formula(kind, graph, seed):
    model, relations = random_model(graph, kind, seed), links_of(graph, kind)
    x = columns(graph.num_nodes, 4, seed)
    first = np.stack([weight.detach().numpy() for weight in model.first.weights])
    second, biases, attention = (
        [each.detach().numpy() for each in group] for group in ([model.second], model.biases, model.attention)
    )
    h = np.maximum(by_the_formula(x.numpy(), first, biases[0], attention[0], relations), 0)
    expected = by_the_formula(h, second[0], biases[1], attention[1], relations)
    found = model(x, operator_of(graph)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_one_relation_without_weights_is_gat_divided_by_degree():
    """PyG's layer sums where WRGAT takes a mean, and has neither W_0 nor w_ij."""
    graph = NAMED["bipartite"]
    model = random_model(graph, {"rings": 0, "edges": True})
    conv = pyg.GATConv(4, 5, heads=1, add_self_loops=False, bias=False).double()
    x, degree = columns(7, 4, 1), np.array([4.0] * 3 + [3.0] * 4)
    with torch.no_grad():
        conv.lin.weight.copy_(model.first.weights[1].T)
        conv.att_dst.copy_(model.attention[0][0, 0].view(1, 1, -1))
        conv.att_src.copy_(model.attention[0][1, 0].view(1, 1, -1))
        expected = x @ model.first.weights[0] + conv(x, graph.edge_index) / torch.from_numpy(degree)[:, None]
        relations = _wrgat._relations(operator_of(graph), 0, True, 1.0)
        model.biases[0].zero_()
        found = model._gathered(model.first(x), 0, relations)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_every_derivative(kind):
    graph = NAMED["disconnected"]
    model, x, operator = random_model(graph, kind), columns(9, 4, 1), operator_of(graph)
    names, values = zip(*model.named_parameters(), strict=True)

    def logits(*parameters: torch.Tensor) -> torch.Tensor:
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(model, given, (x, operator))

    assert torch.autograd.gradcheck(logits, [value.detach().clone().requires_grad_() for value in values])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [True, False])
def test_runs_side_by_side(kind, sparse):
    graph = NAMED["star"]
    models, x = [random_model(graph, kind, seed) for seed in range(3)], columns(20, 4, 2)
    features = CSR.from_torch(x.to_sparse()) if sparse else x
    stacked = WRGAT.stack(models)
    together = stacked(features, operator_of(graph))
    together.square().sum().backward()
    for run, model in enumerate(models):
        alone = model(features, operator_of(graph))
        torch.testing.assert_close(together[run], alone, rtol=1e-9, atol=1e-9)
        alone.square().sum().backward()
        for ours, theirs in zip(stacked.parameters(), model.parameters(), strict=True):
            if theirs.grad is not None:
                torch.testing.assert_close(ours.grad[run], theirs.grad, rtol=1e-8, atol=1e-8)


def test_large_scores_do_not_overflow():
    graph = NAMED["star"]
    model = random_model(graph, KINDS[1])
    with torch.no_grad():
        for halves in model.attention:
            halves.mul_(1e4)
    assert model(columns(20, 4, 1), operator_of(graph)).isfinite().all()


def test_relations_follow_the_graph():
    graph, _ = planted(0.8)
    rings = structural_pairs(WRGATSettings().operator(graph).matrix.to_scipy()).rings
    assert WRGATSettings(rings=None).for_graph(graph).relations == rings
    own = WRGATSettings(rings=2, edges=True).for_graph(graph)
    assert own.relations == 3
    assert own.for_graph(graph) == own
    with pytest.raises(PcnetError, match="weights for 0 relations, the graph has 2"):
        WRGATSettings(rings=2).build(30, 3)(graph.x, graph.edge_index)


def test_settings_file():
    assert "penn94" in presets()["table3"].datasets_of("wrgat")
    assert method_file("wrgat").defaults.training.wd == {"all": 5e-5}


class TestWRGAT(MethodContract):
    """The mean after the softmax makes little of many neighbours: their weight is their number."""

    base: ClassVar = WRGATSettings(hidden=16, rings=1, edges=True, edge_weight=40.0, dropout=0.5, relations=2, links=41)
    changes: ClassVar = ({"dropout": 0.0}, {"hidden": 8})

    def test_permuting_nodes_permutes_the_output(self, monkeypatch):
        """Numbers decide which of many equal nodes are compared, so the relations come along with the nodes."""
        graph, split = planted(0.8)
        [outcome] = train(graph, [self.run(split)], threads=1)
        order = np.random.default_rng(0).permutation(graph.num_nodes)
        pairs = structural_pairs(self.base.operator(graph).matrix.to_scipy())
        moved = replace(pairs, pairs=order[pairs.pairs].astype(np.int32))
        monkeypatch.setattr(_wrgat, "structural_pairs", lambda adjacency, progress: moved)
        x = torch.empty_like(graph.x)
        x[torch.from_numpy(order)] = graph.x
        with torch.no_grad():
            found = outcome.model.eval()(x, torch.from_numpy(order)[graph.edge_index])
        torch.testing.assert_close(found[torch.from_numpy(order)], outcome.logits, rtol=1e-4, atol=1e-5)

    def test_relations_are_filled_in(self):
        graph, split = planted(0.8)
        one, two = self.run(split), self.run(split, replace(self.base, relations=0, links=0))
        first, second = train(graph, [one, two], threads=1)
        assert torch.equal(first.logits, second.logits)


def test_who_reports_is_told_how_far_the_graph_is():
    """Before the first epoch, and once for a graph."""
    graph = csbm(60, 0.5, seed=11)
    split = make_split(graph, "random-60-20-20", 0)

    class Heard:
        def __init__(self) -> None:
            self.stages: list[tuple[str, int]] = []
            self.done: Counter[str] = Counter()

        def stage(self, title: str, total: int) -> None:
            self.stages.append((title, total))

        def advance(self, units: int = 1) -> None:
            assert units >= 0
            self.done[self.stages[-1][0]] += units

    settings = WRGATSettings(hidden=4, rings=1)
    runs = [Run(settings, TrainingSettings(epochs=2), Targets.from_split(split), seed) for seed in range(2)]
    first, second = Heard(), Heard()
    train(graph, runs, threads=1, progress=first)
    assert [title for title, _ in first.stages] == ["looking at the graph", "training"]
    assert first.done == dict(first.stages)
    assert first.done["training"] == 4
    train(graph, runs, threads=1, progress=second)
    assert second.stages == [("training", 4)]
