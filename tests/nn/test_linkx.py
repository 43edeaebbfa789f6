"""LINKX is PyG's where the two agree; each difference is here by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from test_models_contract import MethodContract
from torch import Tensor

from contracts.filter_contract import columns
from contracts.model_contract import planted
from pcnet.data import normalise_rows
from pcnet.errors import PcnetError
from pcnet.graph import CSR
from pcnet.nn import LINKX, LINKXSettings
from pcnet.training import train
from strategies import NAMED

DEPTHS = [(1, 1, 1), (2, 1, 3), (1, 2, 2), (2, 2, 1)]


class TestLINKX(MethodContract):
    base: ClassVar = LINKXSettings(hidden=16, layers=2, nodes=240, dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.6})

    def test_permuting_nodes_permutes_the_output(self):
        """Its weights belong to nodes and are permuted with them."""
        graph, split = planted(0.8)
        [outcome] = train(graph, [self.run(split)], threads=1)
        order = torch.from_numpy(np.random.default_rng(0).permutation(graph.num_nodes))
        x, model = torch.empty_like(graph.x), outcome.model.eval()
        x[order] = graph.x
        with torch.no_grad():
            model.links[order] = model.links.clone()
            moved = model(x, order[graph.edge_index])
        torch.testing.assert_close(moved[order], outcome.logits, rtol=1e-4, atol=1e-5)


class TestDeepLINKX(TestLINKX):
    base: ClassVar = LINKXSettings(
        hidden=16, edge_layers=2, node_layers=2, layers=3, unit_peaks=True, nodes=240, dropout=0.2
    )
    #: Six layers on 240 nodes fit them by heart.
    least_accuracy = 0.75


def pair(nodes: int, depths: tuple[int, int, int]) -> tuple[LINKX, pyg.LINKX]:
    """Ours, and PyG's with the same weights, both as while training."""
    edge_layers, node_layers, layers = depths
    ours = LINKX(5, 6, 3, nodes=nodes, edge_layers=edge_layers, node_layers=node_layers, layers=layers, dropout=0.0)
    theirs = pyg.LINKX(nodes, 5, 6, 3, layers, num_edge_layers=edge_layers, num_node_layers=node_layers)

    def fill(linear: torch.nn.Module, weight: Tensor, bias: Tensor) -> None:
        linear.weight.copy_(weight.t())
        linear.bias.copy_(bias)

    def fill_norm(norm: torch.nn.Module, gain: Tensor, shift: Tensor) -> None:
        norm.weight.copy_(gain.normal_())
        norm.bias.copy_(shift.normal_())

    with torch.no_grad():
        theirs.edge_lin.weight.copy_(ours.links)
        theirs.edge_lin.bias.copy_(ours.links_bias)
        fill(theirs.cat_lin1, ours.joint[:6], ours.joint_bias)
        fill(theirs.cat_lin2, ours.joint[6:], torch.zeros(6))
        tails = [(ours.after_first, theirs.node_mlp, 1), (ours.after_last, theirs.final_mlp, 1)]
        if edge_layers > 1:
            fill_norm(theirs.edge_norm, ours.after_links.gains[0], ours.after_links.shifts[0])
            fill(theirs.edge_mlp.lins[0], ours.after_links.weights[0], ours.after_links.biases[0])
        for mine, mlp, start in tails:
            for layer, (weight, bias) in enumerate(zip(mine.weights, mine.biases, strict=True)):
                fill(mlp.lins[layer + start], weight, bias)
                fill_norm(mlp.norms[layer].module, mine.gains[layer], mine.shifts[layer])
        fill(theirs.node_mlp.lins[0], ours.first.weights[0], ours.first.biases[0])
        fill(theirs.final_mlp.lins[0], ours.last, ours.last_bias)
    return ours.train(), theirs.train()


@pytest.mark.parametrize("name", [name for name in NAMED if name != "one node"])
@pytest.mark.parametrize("depths", DEPTHS)
@pytest.mark.parametrize("sparse", [True, False])
@torch.no_grad()
def test_layers_of_pyg(name, depths, sparse):
    """While training; both see every edge once in each direction."""
    graph = NAMED[name]
    # In double precision: a column that hardly varies over the nodes is divided by next to nothing.
    x = columns(graph.num_nodes, 5, 1).double()
    ours, theirs = (model.double() for model in pair(graph.num_nodes, depths))
    edges, weight = graph.edge_index, None if graph.weight is None else graph.weight.double()
    if weight is None:
        edges = edges.unique(dim=1)
    found = ours(CSR.from_torch(x.to_sparse()) if sparse else x, graph.edge_index, weight)
    torch.testing.assert_close(found, theirs(x, edges, weight), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_evaluation_normalises_by_the_graph_and_pyg_by_running_averages():
    graph = NAMED["disconnected"]
    x = columns(graph.num_nodes, 5, 1).double()
    ours, theirs = (model.double() for model in pair(graph.num_nodes, (1, 1, 2)))
    training = theirs(x, graph.edge_index)
    torch.testing.assert_close(ours.eval()(x, graph.edge_index), training, rtol=1e-5, atol=1e-5)
    assert (theirs.eval()(x, graph.edge_index) - training).abs().max() > 0.01


@torch.no_grad()
def test_one_joint_layer_begins_with_twice_the_inputs():
    """[H_A ‖ H_X] W has 2d inputs, where PyG has two layers of d."""
    ours, theirs = LINKX(5, 512, 3, nodes=4), pyg.LINKX(4, 5, 512, 3, 1)
    assert 0.99 * 1024**-0.5 < ours.joint.abs().max() <= 1024**-0.5
    assert 0.99 * 512**-0.5 < theirs.cat_lin1.weight.abs().max() <= 512**-0.5


@pytest.mark.parametrize("depths", DEPTHS)
def test_side_by_side(depths):
    graph, _ = planted(0.8)
    edge_layers, node_layers, layers = depths
    settings = LINKXSettings(hidden=8, edge_layers=edge_layers, node_layers=node_layers, layers=layers)
    models = [settings.for_graph(graph).build(30, 3, seed).eval() for seed in range(3)]
    stacked = LINKX.stack(models)
    stacked(graph.x, graph.edge_index).square().sum().backward()
    for run, model in enumerate(models):
        model(graph.x, graph.edge_index).square().sum().backward()
        for ours, alone in zip(stacked.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad[run], alone.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("sparse", [True, False])
@torch.no_grad()
def test_unit_peaks_give_back_features_of_zeros_and_ones(sparse):
    graph = NAMED["star"]
    x = (columns(graph.num_nodes, 5, 1) > 0.3).float()
    x[3] = 0
    scaled = normalise_rows(x)

    def given(features: Tensor) -> Tensor | CSR:
        return CSR.from_torch(features.to_sparse()) if sparse else features

    model = LINKX(5, 6, 3, nodes=graph.num_nodes).eval()
    expected = model(given(x), graph.edge_index)
    assert (model(given(scaled), graph.edge_index) - expected).abs().max() > 0.01
    model.of_runs = (replace(model.settings, unit_peaks=True),)
    for features in (scaled, x):
        torch.testing.assert_close(model(given(features), graph.edge_index), expected, rtol=1e-6, atol=1e-6)


def test_settings_learn_the_number_of_nodes():
    graph, _ = planted(0.8)
    settings = LINKXSettings(hidden=8).for_graph(graph)
    assert settings == replace(LINKXSettings(hidden=8), nodes=240)
    assert settings.for_graph(graph) is settings
    model = settings.build(30, 3)
    assert tuple(model.links.shape) == (240, 8)
    assert tuple(model.parameter_groups()) == settings.groups
    assert len(model.parameter_groups()["all"]) == len(list(model.parameters()))


@pytest.mark.parametrize("nodes", [0, 10])
def test_another_graph_is_refused(nodes):
    graph, _ = planted(0.8)
    with pytest.raises(PcnetError, match=f"weights for {nodes} nodes, the graph has 240"):
        LINKXSettings(hidden=8, nodes=nodes).build(30, 3)(graph.x, graph.edge_index)


def test_depths_are_checked():
    with pytest.raises(PcnetError, match="edge_layers must be at least 1, not 0"):
        LINKX(5, 6, 3, nodes=4, edge_layers=0)
