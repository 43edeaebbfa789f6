"""GCNII and GCNII* (Chen et al., ICML 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._module import Groups
from pcnet.nn._products import times
from pcnet.nn.models._layered_net import DIRECTED, LayeredNet, LayeredNetSettings, empty, linear, uniform_by_inputs
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_operator


@dataclass(frozen=True)
class GCNIISettings(LayeredNetSettings):
    side_by_side: ClassVar[bool] = True

    dropout: float = setting(0.5, "dropout rate before every layer, and of the features")
    layers: int = setting(64, "number of layers l = 1, 2, …", least=1)
    alpha: float = setting(0.1, "α, the share of H_0 in each layer", least=0, most=1, varies=True)
    lam: float = setting(0.5, "λ, by which the identity loses to W_l", positive=True, varies=True)
    variant: bool = setting(False, "whether it is GCNII*")
    formula: Literal["official", "paper"] = setting("official", "which one of GCNII*")
    directed: bool = setting(False, DIRECTED)

    def memory(self, classes: int) -> Memory:
        """Of every layer the mask, what is multiplied and what comes out."""
        common = super().memory(classes)
        return common._replace(nodes=common.nodes + 4 * (self.layers + 1) * self.hidden)


@method("gcnii", title="GCNII")
class GCNII(LayeredNet[GCNIISettings]):
    """H_l = relu(U ((1−β_l) I + β_l W_l)), U = (1−α) P + α H_0, P = S δ(H_{l−1}); β_l = ln(λ/l + 1).

    A linear layer and a ReLU come before, H_0, and dropout and a linear layer after. S = (D+I)^-½ (A+I) (D+I)^-½, with
    I on top of the self loops that the graph has. GCNII* has two matrices a layer, by one of two formulas:

        paper      H_l = relu((1−α) P ((1−β) I + β W_l) + α H_0 ((1−β) I + β W'_l))
        official   H_l = relu((1−β) U + β (P W_l + H_0 W'_l))     as in the authors' code
    """

    self_loops: SelfLoops = "add"
    groups: ClassVar[Groups] = {"conv": ("weights",), "linear": ("first", "last", "bias")}

    def setup(self, s: GCNIISettings) -> None:
        self.first = self.opening(s.hidden, drop=s.dropout, bias=True)
        #: All W_l, and all W'_l, in one parameter: an optimiser's step is a call for each.
        self.weights = nn.ParameterList([empty(s.layers, s.hidden, s.hidden) for _ in range(1 + s.variant)])
        self.last, self.bias = empty(s.hidden, self.out_channels), empty(self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform in ±1/√d, d the number of inputs."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([*self.weights, self.last, self.bias], self.last.shape[0], generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        start = h = h.relu()
        alpha = self.each("alpha")
        for maps in zip(*self._maps(), strict=True):
            p = apply_operator(operator, self.drop(h))
            if self.settings.variant:
                h = times(start, maps[1], plus=times(p, maps[0])).relu_()
            else:
                h = times(torch.lerp(p, start, alpha), maps[0]).relu_()
        return linear(self.drop(h), self.last, self.bias)

    def _maps(self) -> list[tuple[Tensor, ...]]:
        """What each layer multiplies P and H_0 with, identity included: so no block of nodes is scaled and added."""
        s = self.settings
        layer = torch.arange(1, s.layers + 1, device=self.last.device, dtype=self.last.dtype).view(-1, 1, 1)
        beta = torch.log1p(self.each("lam").unsqueeze(-1) / layer)
        alpha = self.each("alpha").unsqueeze(-1)
        shares: tuple[Tensor | float, ...] = (1 - alpha, alpha) if s.variant else (1.0,)
        maps = []
        for weight, share in zip(self.weights, shares, strict=True):
            both = (beta if s.formula == "official" else share * beta) * weight
            both.diagonal(dim1=-2, dim2=-1).add_((share * (1 - beta)).squeeze(-1))
            maps.append(both.unbind(-3))
        return maps
