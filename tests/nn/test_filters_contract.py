"""The filters of the compared methods keep the contract of filters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from contracts.filter_contract import FilterContract
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import BernConv, Cheb2Conv, EvenConv, GPRConv
from pcnet.nn.conv._fixed_basis_conv import _maps
from strategies import Edges, dense_operator


class TestGPR(FilterContract):
    def make(self) -> GPRConv:
        return GPRConv(5, 0.2)

    def make_others(self) -> list[GPRConv]:
        return [GPRConv(5, 0.9), GPRConv(5, 0.5, "nppr")]

    def dense(self, graph: Edges) -> np.ndarray:
        return dense_operator(graph, 0.5, self_loops="fill")

    def operator(self, graph: Edges, dtype: torch.dtype = torch.float64) -> Operator:
        return Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, self_loops="fill", dtype=dtype)

    def response(self, layer: GPRConv, s: np.ndarray) -> np.ndarray:
        return sum(weight * s**k for k, weight in enumerate(layer.theta.tolist()))

    def said(self, layer: GPRConv, s: np.ndarray) -> np.ndarray:
        return layer.response(1 - s)


class TestOrthonormalGPR(TestGPR):
    """φ weighs the orthonormal polynomials of Legendre: θ are the coefficients of their sum."""

    def make(self) -> GPRConv:
        return GPRConv(5, 0.2, basis="orthonormal")

    def make_others(self) -> list[GPRConv]:
        return [GPRConv(5, 0.9, basis="orthonormal"), GPRConv(5, 0.5, "nppr", basis="orthonormal")]

    def response(self, layer: GPRConv, s: np.ndarray) -> np.ndarray:
        signs = np.sign(np.diag(_maps(GPRConv, 5)[0]))
        legendre = np.polynomial.legendre.legvander(s, 5) * np.sqrt(2 * np.arange(6) + 1)
        return legendre @ (signs * layer.theta.detach().numpy())


@pytest.mark.parametrize("kind", [GPRConv, EvenConv, BernConv, Cheb2Conv])
def test_the_same_response_at_first(kind):
    lam = np.linspace(0, 2, 20)
    np.testing.assert_allclose(kind(8, basis="orthonormal").response(lam), kind(8).response(lam), atol=1e-5)
    assert "orthonormal" in repr(kind(8, basis="orthonormal"))
    with pytest.raises(PcnetError, match="basis cannot be 'legendre'; choose from plain, orthonormal"):
        kind(8, basis="legendre")
