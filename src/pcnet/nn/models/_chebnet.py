"""ChebNet (Defferrard, Bresson & Vandergheynst, NeurIPS 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._products import over_nodes
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, glorot, zeros
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class ChebNetSettings(LayeredNetSettings):
    hidden: int = 32
    terms: int = setting(2, "number of polynomials, PyG's K; the order is one less", least=1)

    def memory(self, classes: int) -> Memory:
        """Both layers' products and what Clenshaw makes of them, there and back."""
        return Memory((6 * self.terms + 6) * (self.hidden + classes), self.terms * max(self.hidden, classes))


@method("chebnet", title="ChebNet")
class ChebNet(LayeredNet[ChebNetSettings]):
    """Z = f_2(δ(relu(f_1(X)))), f(H) = Σ_{k=0..terms−1} T_k(−S) H W_k + b; the features are not dropped.

    S = D^-½ A D^-½ has no self loops, and −S is the Laplacian moved to [−1, 1]. A product with [W_0 | W_1 | …] comes
    before the propagations, which then are of as many columns as come out, however many features go in.
    """

    self_loops: SelfLoops = "remove"

    def setup(self, s: ChebNetSettings) -> None:
        self.first = self.opening(s.terms * s.hidden)
        self.second = empty(s.hidden, s.terms * self.out_channels)
        self.biases = nn.ParameterList([empty(s.hidden), empty(self.out_channels)])

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Every W_k by Glorot, biases zero."""
        glorot([*self.first.weights, self.second], generator, blocks=self.settings.terms)
        zeros(self.biases)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        terms = self.settings.terms
        h = chebyshev_sum(operator, h, terms) + over_nodes(self.biases[0], h.shape[-2])
        return chebyshev_sum(operator, self.drop(h.relu()) @ self.second, terms) + over_nodes(
            self.biases[1], h.shape[-2]
        )


def chebyshev_sum(operator: Operator, y: Tensor, terms: int) -> Tensor:
    """Σ_k T_k(−S) Y_k for y = [Y_0 | … | Y_{terms−1}], with terms − 1 propagations as wide as one of them.

    Clenshaw's b_k = Y_k − 2S b_{k+1} − b_{k+2}, and at the end Y_0 − S b_1 − b_2.
    """
    first, *others = y.chunk(terms, dim=-1)
    if not others:
        return y
    b, later = others.pop(), torch.zeros_like(first)
    for part in reversed(others):
        b, later = torch.sub(part, apply_operator(operator, b), alpha=2) - later, b
    return first - apply_operator(operator, b) - later
