"""PC-Conv keeps the contract of filters, in both modes, and is what the paper's formula says."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.filter_contract import FilterContract, columns, quiet
from pcnet.graph import Operator
from pcnet.nn import PCConv
from strategies import Edges, dense_operator, graphs, seeds


def charlier(n: int, k: int, t: float) -> float:
    """C_n(k, t) by the explicit sum of Theorem 1."""
    falling = [math.prod(k - i for i in range(m)) for m in range(n + 1)]
    return math.fsum(math.comb(n, j) * (-t) ** j * falling[n - j] for j in range(n + 1))


class PCConvContract(FilterContract):
    arguments: ClassVar[dict[str, Any]]

    def make(self) -> PCConv:
        return PCConv(**self.arguments)

    def make_others(self) -> list[PCConv]:
        mine = self.arguments
        changes = ({"K": mine["K"] + 2, "t": 0.9}, {"N": mine["N"] + 3, "p": 2.7}, {"K": 1, "N": 1, "t": 0.1, "p": 1.4})
        with quiet():
            return [PCConv(**(mine | change)) for change in changes]

    def dense(self, graph: Edges) -> np.ndarray:
        return dense_operator(graph, self.arguments.get("eta", 0.5))

    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        eta = self.arguments.get("eta", 0.5)
        return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, eta=eta, dtype=dtype)

    def response(self, layer: PCConv, s: np.ndarray) -> np.ndarray:
        f, theta = layer.filters[0], layer.theta.detach().double().numpy()
        lam = f.p - 1 - s
        constant = theta[0] if f.identity else 0.0
        if layer.mode == "limit":
            family = [(1 - lam) ** k * np.exp(f.t * lam) for k in range(1, f.K + 1)]
        else:
            family = [
                sum(charlier(n, k, f.t) / math.factorial(n) * (-lam) ** n for n in range(f.N + 1))
                for k in range(1, f.K + 1)
            ]
        return constant + sum(weight * g for weight, g in zip(theta[int(f.identity) :], family, strict=True))

    def said(self, layer: PCConv, s: np.ndarray) -> np.ndarray:
        return layer.response(layer.filters[0].p - 1 - s)


class TestTruncated(PCConvContract):
    arguments: ClassVar = {"K": 4, "N": 6, "t": 0.5, "p": 2.3}


class TestTruncatedAsPublished(PCConvContract):
    """Table 1's Actor: fewer terms than filters."""

    arguments: ClassVar = {"K": 6, "N": 3, "t": 1.5, "p": 2.2, "eta": 0.65}


class TestTruncatedWithoutHeat(PCConvContract):
    """η below ½ moves the spectrum out of [−1, 1]."""

    arguments: ClassVar = {"K": 6, "N": 9, "t": 0.0, "p": 1.3, "eta": 0.3}


class TestWithoutIdentity(PCConvContract):
    arguments: ClassVar = {"K": 3, "N": 4, "t": 0.7, "p": 2.0, "identity": False}


class TestLimit(PCConvContract):
    arguments: ClassVar = {"K": 4, "N": 4, "t": 0.8, "p": 2.3, "mode": "limit"}


class TestLimitOnAWideSpectrum(PCConvContract):
    arguments: ClassVar = {"K": 3, "N": 4, "t": 1.6, "p": 2.0, "eta": 0.35, "mode": "limit"}


class TestLimitWithoutIdentity(PCConvContract):
    arguments: ClassVar = {"K": 5, "N": 4, "t": 0.0, "p": 1.7, "eta": 0.8, "identity": False, "mode": "limit"}


@settings(max_examples=100)
@given(graphs(), st.floats(0, 3), st.floats(1, 4), st.sampled_from([0.3, 0.5, 0.75]), seeds())
def test_limit_mode_equals_dense_expm(graph, t, p, eta, seed):
    """(I − L̃)^k e^{tL̃} x, one k at a time."""
    S = dense_operator(graph, eta)
    L = (p - 1) * np.eye(len(S)) - S
    x = columns(len(S), 2, seed)
    with quiet():
        layer = PCConv(4, 4, t, p, eta, mode="limit").double()
    for k in range(5):
        layer.theta.data = torch.eye(5, dtype=torch.float64)[k]
        exact = x.numpy()
        if k:
            exact = np.linalg.matrix_power(np.eye(len(S)) - L, k) @ scipy.linalg.expm(t * L) @ exact
        norm = 1.0 if k == 0 else np.abs((1 - np.linalg.eigvalsh(L)) ** k * np.exp(t * np.linalg.eigvalsh(L))).max()
        got = layer(x, graph.edge_index, graph.weight).detach().numpy()
        assert np.abs(got - exact).max() <= 1e-10 * max(norm, 1.0) * max(1.0, float(x.abs().max()))


@settings(max_examples=40)
@given(graphs(), st.floats(0.05, 1.5), st.floats(1, 2.5), seeds())
def test_truncated_mode_converges_to_the_limit(graph, t, p, seed):
    x = columns(graph.num_nodes, 2, seed)

    def output(N: int, mode: str) -> torch.Tensor:
        with quiet():
            layer = PCConv(3, N, t, p, mode=mode).double()
        return layer(x, graph.edge_index, graph.weight).detach()

    limit = output(3, "limit")
    scale = max(1.0, float(limit.abs().max()))
    errors = [float((output(N, "truncated") - limit).abs().max()) / scale for N in (4, 10, 20, 40)]
    assert errors[1] <= max(errors[0], 1e-10)
    assert errors[2] < 1e-3
    assert errors[3] < 1e-10


@pytest.mark.parametrize("N", [3, 8])
def test_the_order_is_the_number_of_products(N, monkeypatch):
    """N sparse products forward and N back, whatever K is."""
    from pcnet.propagate import _sweep

    calls = []
    product = _sweep.product
    monkeypatch.setattr(_sweep, "product", lambda *a: calls.append(1) or product(*a))
    with quiet():
        layer = PCConv(7, N, 0.5)
    z = layer(torch.randn(3, 2, requires_grad=True), torch.tensor([[0, 1], [1, 0]]))
    assert len(calls) == N
    z.sum().backward()
    assert len(calls) == 2 * N


class Orthonormal(PCConvContract):
    """What is learned weighs orthonormal filters: θ = R⁻¹φ, with R from the Cholesky factor of their inner products."""

    def response(self, layer: PCConv, s: np.ndarray) -> np.ndarray:
        points, weights = np.polynomial.legendre.leggauss(40)
        family = filters_of(layer, points)
        gram = (weights / 2 * family) @ family.T
        # R has a positive diagonal here, and whatever signs the layer's has: compare what they span one by one.
        R, _ = layer.filters[0].maps(layer.mode)
        np.testing.assert_allclose(R.T @ R, gram, rtol=1e-7, atol=1e-9 * np.abs(gram).max())
        return scipy.linalg.solve(R, layer.theta.detach().double().numpy()) @ filters_of(layer, s)


def filters_of(layer: PCConv, s: np.ndarray) -> np.ndarray:
    """1, g_1, …, g_K at eigenvalues of S, by Theorem 1."""
    f = layer.filters[0]
    lam = f.p - 1 - s
    if layer.mode == "limit":
        family = [(1 - lam) ** k * np.exp(f.t * lam) for k in range(1, f.K + 1)]
    else:
        coefficients = [[charlier(n, k, f.t) / math.factorial(n) for n in range(f.N + 1)] for k in range(1, f.K + 1)]
        family = [sum(c * (-lam) ** n for n, c in enumerate(own)) for own in coefficients]
    return np.stack(([np.ones_like(lam)] if f.identity else []) + family)


class TestOrthonormal(Orthonormal):
    arguments: ClassVar = {"K": 4, "N": 6, "t": 0.5, "p": 2.3, "basis": "orthonormal"}


class TestOrthonormalLimit(Orthonormal):
    arguments: ClassVar = {"K": 3, "N": 0, "t": 0.8, "mode": "limit", "identity": False, "basis": "orthonormal"}


@pytest.mark.parametrize("N", [2, 6])
@pytest.mark.parametrize("K", [1, 4, 8])
def test_another_way_to_learn_the_same_filters(K, N):
    """It begins as the plain one, and its filters are at right angles; R R⁺ projects where they are dependent."""
    with quiet():
        plain, other = (PCConv(K, N, 0.5, init=0.3, basis=basis).double() for basis in ("plain", "orthonormal"))
    lam = np.linspace(0, 2, 30)
    np.testing.assert_allclose(other.response(lam), plain.response(lam), rtol=1e-5, atol=1e-5)
    points, weights = np.polynomial.legendre.leggauss(40)
    rows = []
    for place in range(len(other.theta)):
        other.theta.data = torch.eye(len(other.theta), dtype=torch.float64)[place]
        rows.append(other.response(1 - points))
    gram = (weights / 2 * np.array(rows)) @ np.array(rows).T
    # A projection: of full rank it is the identity.
    np.testing.assert_allclose(gram @ gram, gram, atol=1e-6)
    assert np.trace(gram) == pytest.approx(min(K, N) + 1, abs=1e-6)
