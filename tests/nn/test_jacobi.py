"""JacobiConv in all its bases: by the recurrences of its paper and of its authors' code, and by the contracts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.special
import torch

from contracts.filter_contract import FilterContract, columns
from contracts.model_contract import ModelContract
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import JacobiConv, JacobiConvSettings
from pcnet.nn.conv._fixed_basis_conv import _Products
from strategies import NAMED, Edges, dense_operator

S = np.linspace(-1, 1, 31)


def damping(layer: JacobiConv) -> np.ndarray:
    """γ_0, …, γ_{K−1} of a single layer."""
    alpha = layer.alpha[0]
    e = np.full(layer.K, min(1 / alpha, 1.0)) if layer.e is None else layer.e.detach().double().numpy()
    return alpha * np.tanh(e)


def published(layer: JacobiConv, s: np.ndarray) -> list[np.ndarray]:
    """The damped terms, one after the other as the authors' code computes them, with its sign or the paper's."""
    a, b, g = layer.a, layer.b, damping(layer)
    sign = -1 if layer.sign == "published" else 1
    terms = [np.ones_like(s)]
    for k in range(1, layer.K + 1):
        if layer.basis_name == "monomial":
            term = g[k - 1] * s * terms[-1]
        elif layer.basis_name == "chebyshev":
            term = 2 * g[k - 1] * s * terms[-1] - (g[k - 1] * g[k - 2] * terms[-2] if k > 1 else 0)
        elif k == 1:
            term = g[0] * ((a - b) / 2 + (a + b + 2) / 2 * s)
        else:
            den = 2 * k * (k + a + b) * (2 * k - 2 + a + b)
            t = (2 * k + a + b - 1) * (2 * k + a + b) * (2 * k + a + b - 2) / den
            t1 = (2 * k + a + b - 1) * (a**2 - b**2) / den
            t2 = 2 * (k - 1 + a) * (k - 1 + b) * (2 * k + a + b) / den
            term = g[k - 1] * (t * s + sign * t1) * terms[-1] - g[k - 1] * g[k - 2] * t2 * terms[-2]
        terms.append(term)
    return terms


class JacobiContract(FilterContract):
    """One filter for all columns; those with one for each are tested below."""

    arguments: ClassVar[dict[str, Any]]

    def make(self) -> JacobiConv:
        return JacobiConv(5, alpha=1.5, **self.arguments)

    def make_others(self) -> list[JacobiConv]:
        return [JacobiConv(5, alpha=alpha, **self.arguments) for alpha in (0.5, 2.0)]

    def dense(self, graph: Edges) -> np.ndarray:
        return dense_operator(graph, 0.5, self_loops="keep")

    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="keep", dtype=dtype)

    def response(self, layer: JacobiConv, s: np.ndarray) -> np.ndarray:
        return sum(weight * term for weight, term in zip(layer.theta.tolist(), published(layer, s), strict=True))

    def said(self, layer: JacobiConv, s: np.ndarray) -> np.ndarray:
        return layer.response(1 - s)


class TestPublishedSign(JacobiContract):
    arguments: ClassVar = {"a": 2.0, "b": -0.25}


@pytest.mark.slow
class TestPaperSign(JacobiContract):
    arguments: ClassVar = {"a": 1.5, "b": 0.25, "sign": "paper"}


@pytest.mark.slow
class TestActor(JacobiContract):
    """a = −1, as published for Actor, with the damping frozen."""

    arguments: ClassVar = {"a": -1.0, "b": 0.5, "frozen": True}


@pytest.mark.slow
class TestMonomial(JacobiContract):
    arguments: ClassVar = {"basis": "monomial", "frozen": True}


@pytest.mark.slow
class TestChebyshev(JacobiContract):
    arguments: ClassVar = {"basis": "chebyshev"}


@pytest.mark.slow
class TestBernstein(JacobiContract):
    arguments: ClassVar = {"basis": "bernstein"}

    def response(self, layer: JacobiConv, s: np.ndarray) -> np.ndarray:
        """Neither damped nor kept positive."""
        K = layer.K
        terms = [math.comb(K, k) / 2**K * (1 + s) ** (K - k) * (1 - s) ** k for k in range(K + 1)]
        return sum(weight * term for weight, term in zip(layer.theta.tolist(), terms, strict=True))


@pytest.mark.parametrize("kind", [TestPaperSign, TestActor, TestMonomial, TestChebyshev, TestBernstein])
def test_each_basis_on_one_graph(kind):
    """Their whole contract is slow, and the same code."""
    kind().check_response(NAMED["weighted with loops and duplicates"], seed=3)


@pytest.mark.parametrize(("a", "b"), [(2.0, -0.25), (-0.5, -0.5), (0.0, 0.0), (-0.75, 0.25)])
def test_the_papers_sign_gives_jacobi_polynomials(a, b):
    """And the published one gives others as soon as a ≠ b, from k = 2 on."""
    paper, code = (JacobiConv(6, a, b, sign=sign).basis.evaluate(S, 6) for sign in ("paper", "published"))
    np.testing.assert_allclose(paper, [scipy.special.eval_jacobi(k, a, b, S) for k in range(7)], atol=1e-11)
    np.testing.assert_allclose(code[:2], paper[:2], atol=1e-12)
    assert all(np.allclose(code[k], paper[k]) == (a == b) for k in range(2, 7))


def test_the_other_bases():
    chebyshev, monomial = (JacobiConv(6, basis=basis).basis for basis in ("chebyshev", "monomial"))
    np.testing.assert_allclose(
        chebyshev.evaluate(S, 6), [scipy.special.eval_chebyu(k, S) for k in range(7)], atol=1e-12
    )
    np.testing.assert_allclose(monomial.evaluate(S, 6), [S**k for k in range(7)], atol=1e-14)


@pytest.mark.parametrize(("alpha", "start"), [(0.5, 0.381), (1.0, 0.762), (1.5, 0.874), (2.0, 0.924)])
@pytest.mark.parametrize("frozen", [True, False])
def test_the_damping_begins_as_published(alpha, start, frozen):
    """Frozen or not: freezing keeps the tanh."""
    layer = JacobiConv(4, alpha=alpha, basis="monomial", frozen=frozen)
    np.testing.assert_allclose(layer.coefficients().tolist(), [start**k for k in range(5)], atol=2e-3)
    assert (layer.e is None) == frozen


@pytest.mark.parametrize("shape", [(6,), (1,), (0,), (3, 5)])
def test_the_derivative_of_the_products(shape):
    gamma = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    if gamma.numel() > 1:
        # A product does not care for a zero, and its derivative must not either.
        gamma.view(-1)[1] = 0.0
    torch.autograd.gradcheck(_Products.apply, gamma.requires_grad_())
    expected = [gamma[..., :k].prod(-1) for k in range(shape[-1] + 1)]
    torch.testing.assert_close(_Products.apply(gamma), torch.stack(expected, dim=-1))


def layer_with_columns(seed: int, channels: int | None = 3, **arguments: Any) -> JacobiConv:
    layer = JacobiConv(4, 0.75, -0.5, channels=channels, **arguments)
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    return layer


@pytest.mark.parametrize("basis", ["jacobi", "monomial", "chebyshev", "bernstein"])
@pytest.mark.parametrize("frozen", [True, False])
def test_every_column_has_its_own_filter(basis, frozen):
    graph, layer = NAMED["weighted"], layer_with_columns(0, basis=basis, frozen=frozen).double()
    x = columns(graph.num_nodes, 3, 1)
    z = layer(x, graph.edge_index, graph.weight)
    said = layer.response(1 - S)
    assert said.shape == (3, len(S))
    for column in range(3):
        own = layer_with_columns(0, None, basis=basis, frozen=frozen).double()
        own.theta.data = layer.theta.data[column]
        if own.e is not None:
            own.e.data = layer.e.data
        torch.testing.assert_close(z[:, [column]], own(x[:, [column]], graph.edge_index, graph.weight))
        np.testing.assert_allclose(said[column], own.response(1 - S), atol=1e-13)


@pytest.mark.parametrize("basis", ["jacobi", "bernstein"])
@pytest.mark.parametrize("frozen", [True, False])
def test_columns_of_many_runs(basis, frozen):
    """To the bit in single precision, outputs and gradients."""
    graph, alphas = NAMED["disconnected"], (0.5, 1.0, 2.0)
    layers = [layer_with_columns(run, alpha=alpha, basis=basis, frozen=frozen) for run, alpha in enumerate(alphas)]
    stacked = JacobiConv.stack(layers)
    x = columns(graph.num_nodes, 9, 1).reshape(-1, 3, 3).permute(1, 0, 2).float()
    z = stacked(x, graph.edge_index)
    z.square().sum().backward()
    for run, layer in enumerate(layers):
        own = layer(x[run], graph.edge_index)
        own.square().sum().backward()
        assert torch.equal(z[run], own)
        for batched, single in zip(stacked.parameters(), layer.parameters(), strict=True):
            assert torch.equal(batched.grad[run], single.grad)


def test_refusals():
    for arguments, sentence in (
        ({"basis": "jacoby"}, "basis cannot be 'jacoby'; .*Did you mean 'jacobi'"),
        ({"sign": "minus"}, "sign cannot be 'minus'; choose from published, paper"),
        ({"alpha": 0.0}, "alpha must be above 0"),
        ({"a": -1.5}, "a of Jacobi must be at least -1"),
        ({"a": -1.0, "b": -1.0}, "cannot both be -1"),
        ({"channels": 0}, "channels must be at least 1"),
    ):
        with pytest.raises(PcnetError, match=sentence):
            JacobiConv(**arguments)
    with pytest.raises(PcnetError, match="must agree in a"):
        JacobiConv.stack([JacobiConv(a=1.0), JacobiConv(a=0.5)])


class TestJacobiConvModel(ModelContract):
    base: ClassVar = JacobiConvSettings(K=5, a=1.0, b=0.5, drop_in=0.1, drop_prop=0.2)

    def settings(self) -> JacobiConvSettings:
        return self.base

    def others(self) -> list[JacobiConvSettings]:
        return [replace(self.base, alpha=2.0), replace(self.base, drop_in=0.4, drop_prop=0.0)]


@pytest.mark.slow
class TestFrozenBernsteinModel(TestJacobiConvModel):
    base: ClassVar = replace(TestJacobiConvModel.base, basis="bernstein", frozen=True)


@pytest.mark.slow
class TestPerceptronModel(TestJacobiConvModel):
    base: ClassVar = replace(TestJacobiConvModel.base, basis="jacobi", hidden=3)


@pytest.mark.parametrize(
    ("changes", "groups"),
    [
        ({}, {"first", "theta", "alpha"}),
        ({"frozen": True}, {"first", "theta"}),
        ({"basis": "bernstein"}, {"first", "theta"}),
        ({"hidden": 4}, {"first", "second", "theta", "alpha"}),
    ],
)
def test_groups_are_those_of_the_model(changes, groups):
    settings = JacobiConvSettings(**changes)
    assert {*settings.groups} == groups
    assert {*settings.build(6, 3).parameter_groups()} == groups
