"""Gradients by the weights of edges, of every method; with PyG's explainer as somebody who asks for them."""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import given, settings
from test_every_method import small
from torch import Tensor, nn
from torch.autograd import gradcheck

from pcnet import PCConv
from pcnet.data import csbm
from pcnet.errors import PcnetWarning
from pcnet.graph import Graph, Operator
from pcnet.nn import METHODS, Model
from strategies import Edges, graphs

#: Methods whose edges have no weight: attention to neighbours, links between nodes that are alike, and no edges at all.
UNWEIGHTED = {"gat", "wrgat", "mlp"}


@pytest.fixture(autouse=True)
def _quiet():
    """Without the sentences about directed edges and unusual settings, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PcnetWarning)
        yield


def tiny() -> tuple[Graph, Tensor]:
    """A graph and weights of its edges, the same for both directions."""
    graph = csbm(12, 0.5, features=4, average_degree=4, seed=3)
    low, high = graph.edge_index.sort(dim=0).values
    return graph, 0.5 + torch.cos(low * 12.0 + high).square().double()


def model_of(method: str, graph: Graph) -> Model:
    return small(method).for_graph(graph).build(4, graph.num_classes, seed=0).double().eval()


@pytest.mark.parametrize("self_loops", ["add", "fill", "keep", "remove"])
@pytest.mark.parametrize("direction", ["symmetrise", "keep", "out"])
@settings(max_examples=10)
@given(graph=graphs(max_nodes=9, weighted=True, directed=True))
def test_an_operator_of_learned_weights_is_that_of_fixed_ones(self_loops: str, direction: str, graph: Edges):
    weight, how = graph.weight.double(), {"self_loops": self_loops, "direction": direction, "dtype": torch.float64}
    for eta in (0.0, 0.5):
        fixed = Operator.from_edges(graph.edge_index, graph.num_nodes, weight, eta=eta, **how)
        learned = Operator.from_edges(graph.edge_index, graph.num_nodes, weight.requires_grad_(), eta=eta, **how)
        torch.testing.assert_close(learned.matrix.to_dense(), fixed.matrix.to_dense(), rtol=1e-12, atol=1e-12)
        assert learned.symmetric == fixed.symmetric
        weight = weight.detach()


@pytest.mark.parametrize("method", METHODS)
def test_gradient_by_edge_weights(method: str):
    """Against differences of outputs; the logits are those of fixed weights.

    Differences are taken where weights differ by direction: a maximum has a kink where both are equal.
    """
    graph, weight = tiny()
    model, x = model_of(method, graph), graph.x.double()
    with torch.no_grad():
        fixed = model(x, graph.edge_index, weight)
    learned = model(x, graph.edge_index, weight.clone().requires_grad_())
    torch.testing.assert_close(learned, fixed, rtol=1e-9, atol=1e-9)
    if method in UNWEIGHTED:
        return
    one_way = weight + 0.1 * (graph.edge_index[0] < graph.edge_index[1])
    assert gradcheck(lambda w: model(x, graph.edge_index, w), one_way.requires_grad_(), fast_mode=True)
    model.zero_grad()
    model(x, graph.edge_index, weight.requires_grad_()).square().sum().backward()
    assert weight.grad.abs().sum() > 0
    assert all(each.grad is not None for each in model.parameters() if each.numel() and each.requires_grad)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
def test_what_is_derived_without_a_gradient_does_not_hide_it(mode: str):
    """An operator is evaluated first, and trained with afterwards; runs side by side get what each gets alone."""
    graph, weight = tiny()
    weight.requires_grad_()
    operator = Operator.from_edges(
        graph.edge_index, 12, weight, direction="keep" if mode == "truncated" else "symmetrise", dtype=torch.float64
    )
    stack = PCConv.stack([PCConv(2, 4, t, mode=mode).double() for t in (0.3, 0.8)])
    x = graph.x.double().expand(2, -1, -1)
    with torch.no_grad():
        stack(x, operator)
        _ = operator.adjoint
    (ours,) = torch.autograd.grad(stack(x, operator).square().sum(), weight, retain_graph=True)
    alone = [stack.one(run)(x[run], operator).square().sum() for run in range(2)]
    torch.testing.assert_close(ours, torch.autograd.grad(sum(alone), weight)[0])


def test_weights_of_zero_may_grow():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weight = torch.tensor([1.0, 1.0, 0.0, 0.0], requires_grad=True)
    PCConv(2, 3, 0.5)(torch.eye(3), edges, weight)[2, 0].backward()
    assert (weight.grad[2:] != 0).all()


def test_gnn_explainer_finds_the_edge_that_counts():
    """PyG's explainer masks messages of its own layers; one that hands its mask on as weights explains any model."""
    explain = pytest.importorskip("torch_geometric.explain")
    from torch_geometric.nn import MessagePassing

    class Masked(MessagePassing):
        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.model(x, edge_index, self._edge_mask.sigmoid() if self.explain else None)

    torch.manual_seed(0)
    # Node 0 is linked to 1, which says much, and to 2 and 3, which say nothing.
    one_way = torch.tensor([[1, 2, 3], [0, 0, 0]])
    edges = torch.cat([one_way, one_way.flip(0)], dim=1)
    x = torch.tensor([[0.0, 0.0], [0.0, 5.0], [0.0, 0.0], [0.0, 0.0]])
    explainer = explain.Explainer(
        Masked(PCConv(1, 2, 0.5)),
        explain.GNNExplainer(epochs=60, lr=0.1),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    mask = explainer(x, edges, index=0).edge_mask
    into = torch.maximum(mask[:3], mask[3:])
    assert into.argmax() == 0
