"""GCNII is PyG's, and GCNII* that or the authors'; both keep the contract of models."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import pytest
import torch
import torch_geometric.nn as pyg
from torch import Tensor

from contracts.model_contract import ModelContract, planted
from pcnet import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.nn import GCNII, GCNIISettings
from strategies import NAMED, Edges

SIZES = (5, 6, 3)


class TestGCNIIStar(ModelContract):
    base: ClassVar = GCNIISettings(hidden=16, layers=4, alpha=0.2, dropout=0.2, variant=True)

    def settings(self) -> GCNIISettings:
        return self.base

    def others(self) -> list[GCNIISettings]:
        return [replace(self.base, dropout=0.0), replace(self.base, alpha=0.5, lam=1.5)]


class TestGCNII(TestGCNIIStar):
    base: ClassVar = GCNIISettings(hidden=16, layers=4, alpha=0.2, dropout=0.2)

    @pytest.mark.parametrize("phi", [0.5])
    def test_learns_a_planted_partition(self, phi):
        """Near the identity its layers are averages, which are no help where unlike nodes are linked."""
        super().test_learns_a_planted_partition(phi)


def features(graph: Edges) -> Tensor:
    return torch.randn(graph.num_nodes, SIZES[0], generator=torch.Generator().manual_seed(0))


def ends(model: GCNII, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """H_0, and the last layer."""
    return (x @ model.first.weights[0] + model.first.biases[0]).relu(), model.last, model.bias


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("variant", [False, True])
@pytest.mark.parametrize("sparse", [True, False])
@torch.no_grad()
def test_layers_of_pyg(name, variant, sparse):
    graph, alpha, lam = NAMED[name], 0.3, 1.5
    model = GCNII(*SIZES, layers=3, alpha=alpha, lam=lam, variant=variant, formula="paper").eval()
    x = features(graph)
    # PyG gives a loop only to nodes that have none: it gets our operator, entry for entry.
    operator = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="add")
    matrix = operator.matrix.to_dense().to_sparse()
    start, last, bias = ends(model, x)
    h = start
    for layer in range(3):
        conv = pyg.GCN2Conv(6, alpha, lam, layer + 1, shared_weights=not variant, normalize=False)
        conv.weight1.copy_(model.weights[0][layer])
        if variant:
            conv.weight2.copy_(model.weights[1][layer])
        h = conv(h, start, matrix.indices().flip(0), matrix.values()).relu()
    found = model(CSR.from_torch(x.to_sparse()) if sparse else x, graph.edge_index, graph.weight)
    torch.testing.assert_close(found, h @ last + bias, rtol=1e-5, atol=1e-5)


def by_the_paper(model: GCNII) -> GCNII:
    """The same weights in the other formula."""
    other = replace(model.settings, formula="paper").build(model.in_channels, model.out_channels).eval()
    other.load_state_dict(model.state_dict())
    return other


@torch.no_grad()
def test_the_official_star_learns_without_the_shares():
    """β (P W + H_0 W') + (1−β) U, where the paper and PyG have β ((1−α) P W + α H_0 W') + (1−β) U."""
    graph, alpha, lam = NAMED["weighted with loops and duplicates"], 0.3, 1.5
    model = GCNII(*SIZES, layers=2, alpha=alpha, lam=lam, variant=True).eval()
    x = features(graph)
    S = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="add").matrix.to_dense()
    start, last, bias = ends(model, x)
    h = start
    for layer in range(2):
        beta, P = math.log(lam / (layer + 1) + 1), S @ h
        learned = P @ model.weights[0][layer] + start @ model.weights[1][layer]
        h = (beta * learned + (1 - beta) * ((1 - alpha) * P + alpha * start)).relu()
    found = model(x, graph.edge_index, graph.weight)
    torch.testing.assert_close(found, h @ last + bias, rtol=1e-5, atol=1e-5)
    paper = by_the_paper(model)
    assert (paper(x, graph.edge_index, graph.weight) - found).abs().max() > 0.01


def test_one_formula_without_the_star():
    graph = NAMED["weighted with loops and duplicates"]
    torch.manual_seed(0)
    model = GCNII(*SIZES, layers=2).eval()
    official = model(features(graph), graph.edge_index, graph.weight)
    assert torch.equal(official, by_the_paper(model)(features(graph), graph.edge_index, graph.weight))


@pytest.mark.parametrize("variant", [False, True])
def test_side_by_side(variant):
    """Stacked models compute what each computes alone, and so do their gradients."""
    graph, _ = planted(0.8)
    models = [GCNII(30, 8, 3, layers=3, variant=variant).eval() for _ in range(3)]
    stacked = GCNII.stack(models)
    stacked(graph.x, graph.edge_index).square().sum().backward()
    for run, model in enumerate(models):
        model(graph.x, graph.edge_index).square().sum().backward()
        for ours, alone in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], alone.grad, rtol=1e-4, atol=1e-4)


def test_groups():
    model = GCNIISettings(hidden=8, layers=5, variant=True).build(30, 3)
    groups = model.parameter_groups()
    assert tuple(groups) == GCNIISettings().groups
    assert [tuple(weight.shape) for weight in groups["conv"]] == [(5, 8, 8)] * 2
    assert {id(p) for group in groups.values() for p in group} == {id(p) for p in model.parameters()}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"layers": 0}, "must be at least 1, not 0"),
        ({"alpha": 1.5}, "alpha must be at most 1, not 1.5"),
        ({"lam": 0.0}, "lam must be above 0"),
        ({"formula": "mine"}, "formula cannot be 'mine'; choose from official, paper"),
    ],
)
def test_refused(wrong, words):
    with pytest.raises(PcnetError, match=words):
        GCNII(*SIZES, **wrong)
