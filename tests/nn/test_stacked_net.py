"""Stacks of GCN, GraphSAGE, GAT and PC-Conv are those of PyG's layers, norms and linear maps, written plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from test_models_contract import MethodContract
from torch import Tensor
from torch.nn.functional import batch_norm, elu, layer_norm

from contracts.filter_contract import columns
from contracts.model_contract import check_stack
from pcnet import PcnetError, csbm
from pcnet.graph import CSR, Operator
from pcnet.nn import GAT, GCN, SAGE, GATSettings, GCNSettings, Model, PCConv, PCNet, PCNetSettings, SAGESettings
from strategies import NAMED, Edges

UNWEIGHTED = [name for name, graph in NAMED.items() if graph.weight is None and graph.num_nodes > 1]
SHAPES: list[dict[str, Any]] = [
    {"layers": 1, "norm": "layer"},
    {"layers": 2, "residual": True},
    {"layers": 3, "norm": "layer", "residual": True, "jumping": True},
    {"layers": 3, "norm": "batch"},
    {"layers": 4, "jumping": True},
]
GATHERS: dict[type[Model[Any]], dict[str, Any]] = {GCN: {}, SAGE: {}, GAT: {"heads": 2, "hidden": 3}}


def both_ways(graph: Edges) -> Tensor:
    return torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)


def gather(model: Any, layer: int, x: Tensor, weight: Tensor, edges: Tensor) -> Tensor:
    """g_l(x W) by PyG's layer."""
    if isinstance(model, GCN):
        conv: Any = pyg.GCNConv(x.shape[1], weight.shape[1], bias=False)
        conv.lin.weight.copy_(weight.t())
    elif isinstance(model, SAGE):
        conv = pyg.SAGEConv(x.shape[1], weight.shape[1], bias=False, root_weight=False)
        conv.lin_l.weight.copy_(weight.t())
        edges = edges[:, edges[0] != edges[1]]
    else:
        _, heads, width = model.attention[layer].shape
        conv = pyg.GATConv(x.shape[1], width, heads, bias=False, negative_slope=model.settings.slope)
        conv.lin.weight.copy_(weight.t())
        conv.att_dst[0], conv.att_src[0] = model.attention[layer]
    return conv(x, edges)


@torch.no_grad()
def plainly(model: Any, x: Tensor, passed: Callable[[int, Tensor, Tensor], Tensor], norm: str, jumping: bool) -> Tensor:
    """The stack with our weights: `passed` gives g_l(x W)."""
    total = torch.zeros(())
    for layer, both in enumerate([*model.first.weights, *model.weights]):
        weight, skip = both.chunk(2, dim=1) if model.skip else (both, None)
        h = passed(layer, x, weight)
        h = h if skip is None else h + x @ skip
        if norm == "layer":
            h = layer_norm(h, h.shape[-1:], model.scales[layer], model.biases[layer])
        elif norm == "batch":
            h = batch_norm(h, None, None, model.scales[layer], model.biases[layer], training=True)
        elif len(model.biases):
            h = h + model.biases[layer]
        x = elu(h) if isinstance(model, GAT) else h.relu()
        total = total + x
    return (total if jumping else x) @ model.last + model.bias


def shaken(model: Model[Any]) -> Model[Any]:
    """In evaluation mode, biases and factors random, too."""
    with torch.no_grad():
        for parameter in [*model.biases, *model.scales]:  # type: ignore[union-attr]
            parameter.normal_()
    return model.eval()


@pytest.mark.parametrize("name", UNWEIGHTED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", GATHERS, ids=lambda kind: kind.__name__)
def test_a_stack_of_pygs_layers(kind, shape, name):
    graph, x = NAMED[name], columns(NAMED[name].num_nodes, 5, 0).float()
    model = shaken(kind(5, out_channels=4, **{"hidden": 6, **GATHERS[kind], **shape}))
    edges = both_ways(graph)
    norm, jumping = shape.get("norm", "none"), shape.get("jumping", False)
    expected = plainly(model, x, lambda *of: gather(model, *of, edges), norm, jumping)
    for given in (x, CSR.from_torch(x.to_sparse())):
        torch.testing.assert_close(model(given, graph.edge_index), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("name", ["weighted with loops and duplicates", "disconnected"])
def test_a_stack_of_pc_convs(name, norm):
    graph, x = NAMED[name], columns(NAMED[name].num_nodes, 5, 0).float()
    model = shaken(PCNetSettings(hidden=6, layers=3, K=2, N=3, norm=norm).build(5, 4, seed=0))
    with torch.no_grad():
        for conv in model.convs:
            conv.theta.normal_()

    def passed(layer: int, h: Tensor, weight: Tensor) -> Tensor:
        conv = PCConv(K=2, N=3, t=0.5)
        conv.load_state_dict(model.convs[layer].state_dict())
        return conv(h @ weight, graph.edge_index, graph.weight)

    expected = plainly(model, x, passed, norm, False)
    torch.testing.assert_close(model(x, graph.edge_index, graph.weight), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("kind", GATHERS, ids=lambda kind: kind.__name__)
def test_runs_side_by_side(kind, norm):
    """Stacked models compute what each computes alone, and so do their gradients."""
    graph = NAMED["disconnected"]
    options = {"hidden": 6, **GATHERS[kind], "layers": 3, "norm": norm, "residual": True, "jumping": True}
    models = [shaken(kind(4, out_channels=3, **options)).double() for _ in range(3)]
    operator = Operator.from_edges(
        graph.edge_index, graph.num_nodes, None, eta=kind.eta, self_loops=kind.self_loops, dtype=torch.float64
    )
    check_stack(models, columns(graph.num_nodes, 4, 2), operator)


def test_stacked_pcnets_side_by_side():
    settings = [PCNetSettings(hidden=6, layers=2, K=K, N=4, t=t) for K, t in ((3, 0.5), (3, 1.0))]
    models = [own.build(4, 3, seed=0).double().eval() for own in settings]
    graph = NAMED["disconnected"]
    operator = Operator.from_edges(graph.edge_index, graph.num_nodes, None, eta=0.5, dtype=torch.float64)
    check_stack(models, columns(graph.num_nodes, 4, 2), operator)


def test_one_layer_is_the_published_model():
    """Its class, its parameters and its bits, whatever `norm` says."""
    graph = csbm(60, 0.5, features=4, seed=0)
    one, other = (PCNetSettings(hidden=8, norm=norm).build(4, 2, seed=1).eval() for norm in ("layer", "batch"))
    assert type(one) is type(other) is PCNet
    assert torch.equal(one(graph.x, graph.edge_index), other(graph.x, graph.edge_index))


@pytest.mark.parametrize("kind", [GCN, GAT])
def test_files_of_earlier_versions_are_read(kind):
    """Their second layer had a name of its own."""
    model, other = (kind(5, 6, 3) for _ in range(2))
    state = {"second" if name == "weights.0" else name: each for name, each in model.state_dict().items()}
    other.load_state_dict(state)
    assert all(torch.equal(*pair) for pair in zip(model.parameters(), other.parameters(), strict=True))


def test_a_node_without_neighbours_hears_nothing():
    """The mean over no neighbour is zero, not a division by it."""
    model = shaken(SAGE(3, 4, 2, residual=False))
    x = columns(3, 3, 0).float()
    logits = model(x, torch.tensor([[0, 1], [1, 0]]))
    # Without residual and norm the last layer gives the logits: there is nothing in them but its bias.
    torch.testing.assert_close(logits[2], model.biases[-1])
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GCNSettings(layers=16), "layers must be at most 15, not 16"),
        (lambda: GCNSettings(layers=0), "layers must be at least 1, not 0"),
        (lambda: SAGESettings(norm="group"), "norm cannot be 'group'; choose from none, layer, batch"),
        (lambda: PCNetSettings(layers=2, hidden=None), "2 layers need a hidden width; set hidden, or layers to 1"),
        (lambda: PCNetSettings(layers=99), "layers must be at most 15"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(PcnetError, match=words):
        make()


class TestDeepGCN(MethodContract):
    base: ClassVar = GCNSettings(hidden=16, layers=3, norm="layer", residual=True, dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.5})


class TestSAGE(MethodContract):
    base: ClassVar = SAGESettings(hidden=16, norm="batch", dropout=0.2)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.5})


class TestDeepGAT(MethodContract):
    base: ClassVar = GATSettings(
        hidden=4, heads=2, layers=2, norm="layer", residual=True, dropout=0.2, drop_attention=0.2
    )
    changes: ClassVar = ({"dropout": 0.0}, {"drop_attention": 0.0})


class TestStackedPCNet(MethodContract):
    base: ClassVar = PCNetSettings(hidden=16, layers=3, K=2, N=2, drop_in=0.1, drop_hidden=0.2)
    changes: ClassVar = ({"drop_in": 0.4}, {"K": 3, "N": 4, "t": 1.0})


def test_means_over_neighbours_by_hand():
    """Node 0 has the neighbours 1 and 2, node 1 has 0, node 2 has 0."""
    x = torch.tensor([[1.0], [2.0], [4.0]])
    model = SAGE(1, 1, 2, layers=1, norm="none", residual=True).eval()
    with torch.no_grad():
        model.first.weights[0].copy_(torch.tensor([[1.0, 10.0]]))
        model.last.copy_(torch.tensor([[1.0, -1.0]]))
        model.bias.zero_()
    logits = model(x, torch.tensor([[0, 1, 0, 2], [1, 0, 2, 0]]))
    np.testing.assert_allclose(logits[:, 0].detach(), [3 + 10, 1 + 20, 1 + 40])
