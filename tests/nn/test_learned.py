"""The spectrum behind the pictures: exact where that is cheap, good enough to draw where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from pcnet import PCConv, csbm
from pcnet.graph import Operator
from pcnet.nn import learned
from pcnet.nn.conv import _polynomial_conv
from pcnet.show import describe_response

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.mark.parametrize("eta", [0.3, 0.5, 0.8])
def test_large_graphs_are_drawn_like_small_ones(monkeypatch, eta):
    graph = csbm(600, 0.5, features=5, seed=3)
    conv = PCConv(4, 6, 0.5, 2.0, eta)
    exact = learned([conv], Operator.from_graph(graph, eta=eta))
    monkeypatch.setattr(_polynomial_conv, "EXACT", 0)
    rough = learned([conv], Operator.from_graph(graph, eta=eta))
    assert rough.lam.min() <= exact.lam.min() + 1e-5
    assert rough.lam.max() >= exact.lam.max() - 1e-5
    first, second = (describe_response(each.lam, each.mean, each.density) for each in (exact, rough))
    assert first.kind == second.kind
    np.testing.assert_allclose(first.gains, second.gains, atol=0.05)


@pytest.mark.parametrize("eta", [0.3, 0.5])
def test_the_density_is_one_of_all_eigenvalues(eta):
    """Its mean and its variance are those of the dense matrix's eigenvalues."""
    operator = Operator.from_graph(csbm(300, 0.5, features=5, seed=3), eta=eta)
    found = learned([PCConv(2, 3, 0.5, 2.0, eta)], operator)
    eigenvalues = 1 - np.linalg.eigvalsh(operator.matrix.to_scipy().toarray())
    weights = found.density / found.density.sum()
    mean = weights @ found.lam
    assert mean == pytest.approx(eigenvalues.mean(), abs=0.03)
    assert weights @ (found.lam - mean) ** 2 == pytest.approx(eigenvalues.var(), rel=0.1)
