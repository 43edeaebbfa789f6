"""What every graph filter must do, whatever its polynomial."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from torch import Tensor

from pcnet.errors import PcnetWarning
from pcnet.graph import Operator
from pcnet.nn import RunModule
from strategies import NAMED, Edges, graphs, seeds


@contextmanager
def quiet() -> Iterator[None]:
    """Without the sentences about unusual settings, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PcnetWarning)
        yield


class FilterContract(ABC):
    """Subclass it as `Test…` for each filter layer and each of its modes."""

    #: Largest error, relative to the largest response and the largest entry of x.
    tolerance = 1e-10

    @abstractmethod
    def make(self) -> RunModule:
        """A fresh layer, called as layer(x, edge_index, edge_weight) or layer(x, operator)."""

    @abstractmethod
    def make_others(self) -> list[RunModule]:
        """Layers with other settings that can stand beside `make()` in a stack."""

    @abstractmethod
    def response(self, layer: RunModule, s: np.ndarray) -> np.ndarray:
        """g at eigenvalues s of the operator, from the filter's formula and its parameters, not from its code."""

    @abstractmethod
    def said(self, layer: RunModule, s: np.ndarray) -> np.ndarray:
        """What the layer itself says its response at s is."""

    @abstractmethod
    def dense(self, graph: Edges) -> np.ndarray:
        """The operator that the layer is a polynomial of."""

    @abstractmethod
    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        """The same as an `Operator`."""

    def layer(self, seed: int = 0, dtype: torch.dtype = torch.float64, which: int = 0) -> RunModule:
        """A layer with random parameters."""
        with quiet():
            layer = [self.make, *(lambda other=other: other for other in self.make_others())][which]().to(dtype)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        return layer

    def check_response(self, graph: Edges, seed: int) -> None:
        layer, x = self.layer(seed), columns(graph.num_nodes, 3, seed)
        s, U = np.linalg.eigh(self.dense(graph))
        g = self.response(layer, s)
        expected = U @ (g[:, None] * (U.T @ x.numpy()))
        scale = max(1.0, np.abs(g).max()) * max(1.0, float(x.abs().max()))
        got = layer(x, graph.edge_index, graph.weight).detach().numpy()
        assert np.abs(got - expected).max() <= self.tolerance * scale
        np.testing.assert_allclose(self.said(layer, s), g, rtol=0, atol=self.tolerance * scale)

    @settings(max_examples=200)
    @given(graphs(), seeds())
    def test_output_is_the_dense_filter(self, graph, seed):
        """Z = U g(Λ) Uᵀ x on any graph."""
        self.check_response(graph, seed)

    @pytest.mark.parametrize("name", NAMED)
    def test_output_on_each_kind_of_graph(self, name):
        self.check_response(NAMED[name], seed=3)

    @settings(max_examples=30)
    @given(graphs(), seeds())
    def test_an_operator_serves_as_well_as_edges(self, graph, seed):
        layer, x = self.layer(seed), columns(graph.num_nodes, 2, seed)
        assert torch.equal(layer(x, graph.edge_index, graph.weight), layer(x, self.operator(graph)))

    @settings(max_examples=50)
    @given(graphs(), seeds())
    def test_permuting_nodes_permutes_the_output(self, graph, seed):
        layer, x = self.layer(seed), columns(graph.num_nodes, 2, seed)
        order = np.random.default_rng(seed).permutation(graph.num_nodes)
        permuted = graph.permuted(order)
        moved = torch.empty_like(x)
        moved[order] = x
        z = layer(x, graph.edge_index, graph.weight)
        close(layer(moved, permuted.edge_index, permuted.weight)[order], z, self.tolerance)

    @settings(max_examples=5)
    @given(graphs(max_nodes=6, min_nodes=2), seeds())
    def test_gradcheck(self, graph, seed):
        layer, x = self.layer(seed), columns(graph.num_nodes, 2, seed).requires_grad_()
        names, parameters = zip(*layer.named_parameters(), strict=True)

        def call(x: Tensor, *values: Tensor) -> Tensor:
            replaced = dict(zip(names, values, strict=True))
            return torch.func.functional_call(layer, replaced, (x, graph.edge_index, graph.weight))

        assert torch.autograd.gradcheck(call, (x, *parameters), atol=1e-6, rtol=1e-5)

    @settings(max_examples=20)
    @given(graphs(), seeds())
    def test_batched_equals_loop(self, graph, seed):
        """Side by side in double precision: outputs, input gradients and parameter gradients of every run."""
        self.check_batched(graph, seed, torch.float64, 1e-12)

    @settings(max_examples=20)
    @given(graphs(), seeds())
    def test_batched_equals_loop_to_the_bit(self, graph, seed):
        """In single precision, in which models are trained, no bit depends on the neighbours."""
        self.check_batched(graph, seed, torch.float32, 0.0)

    def check_batched(self, graph: Edges, seed: int, dtype: torch.dtype, tolerance: float) -> None:
        layers = [self.layer(seed + which, dtype, which) for which in range(1 + len(self.make_others()))]
        operator = self.operator(graph, dtype)
        stacked = type(layers[0]).stack(layers)
        x = columns(graph.num_nodes, 3 * len(layers), seed).reshape(graph.num_nodes, len(layers), 3)
        x = x.permute(1, 0, 2).to(dtype).requires_grad_()
        g = torch.randn(x.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)
        z = stacked(x, operator)
        z.backward(g)
        for run, layer in enumerate(layers):
            one = x[run].detach().requires_grad_()
            out = layer(one, operator)
            out.backward(g[run])
            close(z[run], out, tolerance)
            close(x.grad[run], one.grad, tolerance)
            assert torch.equal(stacked.one(run)(one, operator), out)
            for batched, single in zip(stacked.parameters(), layer.parameters(), strict=True):
                inside = tuple(slice(size) for size in single.shape)
                close(batched.grad[run][inside], single.grad, tolerance)

    def test_saved_and_loaded_is_the_same_layer(self, tmp_path):
        layer, graph = self.layer(1), NAMED["weighted with loops and duplicates"]
        x = columns(graph.num_nodes, 2, 0)
        z = layer(x, graph.edge_index, graph.weight)
        for state in (layer.state_dict(), reread(layer.state_dict(), tmp_path / "layer.safetensors")):
            with quiet():
                fresh = self.make().double()
            assert not torch.equal(fresh(x, graph.edge_index, graph.weight), z)
            fresh.load_state_dict(state)
            assert torch.equal(fresh(x, graph.edge_index, graph.weight), z)

    def test_state_holds_the_parameters_only(self):
        assert {*self.layer().state_dict()} == {name for name, _ in self.layer().named_parameters()}


def columns(n: int, width: int, seed: int) -> Tensor:
    """Random columns in double precision."""
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((n, width)))


def close(a: Tensor, b: Tensor, tolerance: float) -> None:
    """Equal up to `tolerance` of the largest entry; at 0, equal to the bit."""
    assert a.shape == b.shape
    if tolerance == 0:
        assert torch.equal(a, b)
    else:
        assert (a - b).abs().max() <= tolerance * max(1.0, float(b.detach().abs().max()))


def reread(state: dict[str, Tensor], path) -> dict[str, Tensor]:
    """A state that has been on disk."""
    safetensors.torch.save_file(state, path)
    return safetensors.torch.load_file(path)
