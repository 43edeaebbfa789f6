"""EvenNet, ChebNetII and BernNet: their filters by the formulas of their papers, and their models by the contract."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.filter_contract import FilterContract, columns
from contracts.model_contract import ModelContract
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import BernConv, BernNetSettings, Cheb2Conv, ChebNetIISettings, EvenConv, EvenNetSettings, ModelSettings
from pcnet.nn.conv._fixed_basis_conv import bernstein_matrix, interpolation_matrix
from strategies import NAMED, Edges, dense_operator

LAM = np.linspace(0, 2, 41)


class WithoutLoops(FilterContract):
    """Filters of L = I − S, S without self loops."""

    def dense(self, graph: Edges) -> np.ndarray:
        return dense_operator(graph, 0.5, self_loops="remove")

    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="remove", dtype=dtype)

    def said(self, layer, s):
        return layer.response(1 - s)


@pytest.mark.slow
class TestEvenConv(WithoutLoops):
    def make(self) -> EvenConv:
        return EvenConv(7, 0.3)

    def make_others(self) -> list[EvenConv]:
        return [EvenConv(7, 0.9)]

    def response(self, layer: EvenConv, s: np.ndarray) -> np.ndarray:
        return sum(weight * s ** (2 * k) for k, weight in enumerate(layer.theta.tolist()))


@pytest.mark.slow
class TestCheb2Conv(WithoutLoops):
    def make(self) -> Cheb2Conv:
        return Cheb2Conv(6)

    def make_others(self) -> list[Cheb2Conv]:
        return [Cheb2Conv(6)]

    def response(self, layer: Cheb2Conv, s: np.ndarray) -> np.ndarray:
        """The paper's sums, node by node and term by term."""
        K, values = layer.K, layer.theta.detach().clamp_min(0).numpy()
        x = [math.cos((K - j + 0.5) * math.pi / (K + 1)) for j in range(K + 1)]

        def T(k: int, at: float | np.ndarray) -> np.ndarray:
            return np.cos(k * np.arccos(np.clip(at, -1, 1)))

        w = [2 / (K + 1) * sum(value * T(k, node) for value, node in zip(values, x, strict=True)) for k in range(K + 1)]
        return w[0] / 2 + sum(w[k] * T(k, -s) for k in range(1, K + 1))


class TestBernConv(WithoutLoops):
    def make(self) -> BernConv:
        return BernConv(6)

    def make_others(self) -> list[BernConv]:
        return [BernConv(6)]

    def response(self, layer: BernConv, s: np.ndarray) -> np.ndarray:
        K, values, lam = layer.K, layer.theta.detach().clamp_min(0).tolist(), 1 - s
        terms = [math.comb(K, k) / 2**K * (2 - lam) ** (K - k) * lam**k for k in range(K + 1)]
        return sum(value * term for value, term in zip(values, terms, strict=True))


@pytest.mark.parametrize("kind", [TestEvenConv, TestCheb2Conv])
@pytest.mark.parametrize("name", ["isolated nodes", "self loops", "weighted"])
def test_each_filter_on_some_graphs(kind, name):
    """Their whole contract is slow, and the same code as BernNet's but for the matrix."""
    kind().check_response(NAMED[name], seed=3)


@pytest.mark.parametrize("K", [0, 1, 4, 5, 10])
def test_even_powers_begin_as_published(K):
    theta = EvenConv(K, 0.1).theta
    assert len(theta) == K // 2 + 1
    np.testing.assert_allclose(theta.tolist(), [0.1 * 0.9 ** (2 * k) for k in range(K // 2 + 1)], rtol=1e-6)
    conv = EvenConv(K, 0.1).double()
    np.testing.assert_allclose(conv.response(LAM), conv.response(2 - LAM), atol=1e-15)


def test_a_node_without_neighbours_keeps_the_first_term_of_evennet():
    conv, graph = EvenConv(10, 0.5).double(), NAMED["isolated nodes"]
    x = columns(graph.num_nodes, 2, 0)
    torch.testing.assert_close(conv(x, graph.edge_index)[0], 0.5 * x[0])


@pytest.mark.parametrize("layer", [Cheb2Conv(10), BernConv(10)], ids=repr)
def test_the_filter_begins_as_the_identity(layer):
    np.testing.assert_allclose(layer.double().response(LAM), 1.0, atol=1e-14)


@given(st.integers(0, 16), st.integers(0, 2**16))
def test_chebnetii_interpolates(K, seed):
    """h(1 + x_j) = θ_j, low frequencies first."""
    layer, theta = Cheb2Conv(K).double(), np.random.default_rng(seed).uniform(0, 3, K + 1)
    layer.theta.data = torch.from_numpy(theta)
    nodes = np.array([math.cos((K - j + 0.5) * math.pi / (K + 1)) for j in range(K + 1)])
    np.testing.assert_allclose(layer.response(1 + nodes), theta, atol=1e-13)


@pytest.mark.parametrize("K", [0, 1, 2, 10, 20])
def test_bernstein_polynomials_add_up_to_one(K):
    """In Chebyshev coefficients: 1 is T_0 and nothing else. And each is positive on the interval, as φ assumes."""
    M = bernstein_matrix(K)
    np.testing.assert_allclose(M.sum(axis=1), np.eye(K + 1)[0], atol=1e-14)
    values = np.polynomial.chebyshev.chebval(np.linspace(-1, 1, 101), M)
    assert values.min() > -1e-14
    assert np.abs(M).max() <= 1


@pytest.mark.parametrize("K", [0, 3, 10])
def test_interpolation_reproduces_polynomials(K):
    s = np.cos((np.arange(K + 1) + 0.5) * np.pi / (K + 1))
    coefficients = np.random.default_rng(K).normal(size=K + 1)
    values = np.polynomial.chebyshev.chebval(s, coefficients)
    np.testing.assert_allclose(interpolation_matrix(K) @ values, coefficients, atol=1e-13)


@pytest.mark.parametrize("name", NAMED)
def test_k_products_are_bernnets_many(name):
    """As its authors evaluate it: powers of 2I − L, and then k products with L for the k-th of them."""
    graph, K = NAMED[name], 10
    layer = BernConv(K).double()
    theta = np.random.default_rng(1).normal(size=K + 1)
    layer.theta.data = torch.from_numpy(theta)
    x = columns(graph.num_nodes, 3, 0)
    L = torch.from_numpy(np.eye(graph.num_nodes) - dense_operator(graph, 0.5, self_loops="remove"))
    powers = [x]
    for _ in range(K):
        powers.append(2 * powers[-1] - L @ powers[-1])
    expected = torch.zeros_like(x)
    for k, weight in enumerate(np.maximum(theta, 0)):
        term = powers[K - k]
        for _ in range(k):
            term = L @ term
        expected += weight * math.comb(K, k) / 2**K * term
    torch.testing.assert_close(layer(x, graph.edge_index, graph.weight), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("layer", [Cheb2Conv(4), BernConv(4)], ids=repr)
def test_a_closed_relu_has_no_gradient(layer):
    graph = NAMED["triangle"]
    layer.theta.data = torch.tensor([1.0, -0.1, 2.0, -3.0, 0.5])
    layer(torch.ones(3, 1), graph.edge_index).sum().backward()
    assert (layer.theta.grad[[1, 3]] == 0).all()
    assert layer.theta.grad.any()


@pytest.mark.parametrize("kind", [EvenConv, Cheb2Conv, BernConv])
def test_bad_orders(kind):
    with pytest.raises(PcnetError, match="K must be at least 0, not -1"):
        kind(-1)
    with pytest.raises(PcnetError, match="must agree in K"):
        kind.stack([kind(2), kind(4)])


class FilterNetContract(ModelContract):
    kind: ClassVar[type[ModelSettings]]

    def settings(self) -> ModelSettings:
        return self.kind(hidden=16, K=5, drop_in=0.1, drop_hidden=0.3, drop_prop=0.2)

    def others(self) -> list[ModelSettings]:
        return [self.kind(hidden=16, K=5, drop_in=0.4, drop_prop=0.0)]


@pytest.mark.slow
class TestEvenNet(FilterNetContract):
    kind: ClassVar = EvenNetSettings

    def others(self) -> list[ModelSettings]:
        return [*super().others(), EvenNetSettings(hidden=16, K=5, alpha=0.9)]


@pytest.mark.slow
class TestChebNetII(FilterNetContract):
    kind: ClassVar = ChebNetIISettings


class TestBernNet(FilterNetContract):
    kind: ClassVar = BernNetSettings
