"""H2GCN (Zhu et al., NeurIPS 2020): a node, its neighbours and theirs, kept apart from each other."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pcnet.graph import Graph, Operator, SelfLoops, two_hop
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, glorot
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class H2GCNSettings(LayeredNetSettings):
    hidden: int = setting(64, "width of R_0; R_k is 2^k times as wide")
    dropout: float = setting(0.5, "dropout rate before the classifier")
    K: int = setting(2, "number of rounds")
    relu: bool = setting(True, "whether φ is the ReLU; else it is the identity")

    @property
    def widths(self) -> list[int]:
        """Columns of each R_k."""
        return [self.hidden * 2**k for k in range(self.K + 1)]

    def operator(self, graph: Graph, *, device: torch.device | str = "cpu") -> Operator:
        """N_1. N_2 is made along with it: where it does not fit, that is said before any run begins."""
        operator = super().operator(graph, device=device)
        two_hop(operator)
        return operator

    def memory(self, classes: int) -> Memory:
        """All rounds, their concatenation, its mask, and as much on the way back."""
        widest = max(sum(self.widths), 2**self.K * classes)
        return Memory(6 * widest + 8 * self.hidden + 12 * classes, widest)


@method("h2gcn", title="H₂GCN")
class H2GCN(LayeredNet[H2GCNSettings]):
    """Z = δ([R_0 ‖ R_1 ‖ … ‖ R_K]) W', R_k = [N_1 R_{k−1} ‖ N_2 R_{k−1}], R_0 = φ(X W).

    N_i = D_i^-½ A_i D_i^-½, A_1 the adjacency without self loops and A_2 the pairs at distance exactly 2. Rounds have
    neither weights nor non-linearities: without dropout W' is applied first, and what is propagated is as wide as the
    classes, not as R_k.
    """

    self_loops: SelfLoops = "remove"

    def setup(self, s: H2GCNSettings) -> None:
        self.first = self.opening(s.hidden)
        self.last = empty(sum(s.widths), self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights by Glorot."""
        glorot([*self.first.weights, self.last], generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        near, far = operator, two_hop(operator)
        s, r = self.settings, h.relu() if self.settings.relu else h
        if not (self.training and any(self.rates("dropout"))):
            maps = self.last.split(s.widths, dim=-2)
            return torch.stack([_mapped(r, weight, k, near, far) for k, weight in enumerate(maps)]).sum(0)
        rounds = [r]
        for _ in range(s.K):
            rounds.append(torch.cat([apply_operator(each, rounds[-1]) for each in (near, far)], dim=-1))
        return self.drop(torch.cat(rounds, dim=-1)) @ self.last


def _mapped(r: Tensor, weight: Tensor, k: int, near: Operator, far: Operator) -> Tensor:
    """R_k W from r = R_0: with the halves of W, R_k W = N_1 (R_{k−1} W_1) + N_2 (R_{k−1} W_2)."""
    if k == 0:
        return r @ weight
    halves = torch.cat(weight.chunk(2, dim=-2), dim=-1)
    first, second = _mapped(r, halves, k - 1, near, far).chunk(2, dim=-1)
    return apply_operator(near, first) + apply_operator(far, second)
