"""GCNII and GCNII* (Chen et al., ICML 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from pcnet._checks import positive_number, whole_number
from pcnet.errors import PcnetError
from pcnet.graph import Operator, SelfLoops
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, over_nodes, uniform_by_inputs
from pcnet.propagate import apply_operator

Formula = Literal["official", "paper"]


class GCNII(LayeredNet):
    """H_l = relu(U ((1−β_l) I + β_l W_l)), U = (1−α) P + α H_0, P = S δ(H_{l−1}); β_l = ln(λ/l + 1).

    A linear layer and a ReLU come before, H_0, and dropout and a linear layer after. S = (D+I)^-½ (A+I) (D+I)^-½, with
    I on top of the self loops that the graph has. GCNII* has two matrices a layer, by one of two formulas:

        paper      H_l = relu((1−α) P ((1−β) I + β W_l) + α H_0 ((1−β) I + β W'_l))
        official   H_l = relu((1−β) U + β (P W_l + H_0 W'_l))     as in the authors' code

    Args:
        in_channels: number of features.
        hidden_channels: width of all hidden layers.
        out_channels: number of classes.
        depth: number of layers l = 1, 2, …
        alpha: α, the share of H_0 in each layer.
        lam: λ, by which the identity loses to W_l.
        variant: whether it is GCNII*.
        formula: which one of GCNII*.
        dropout: dropout rate before every layer, and of the features.
    """

    per_run: ClassVar[tuple[str, ...]] = ("dropout", "alpha", "lam")
    common: ClassVar[tuple[str, ...]] = ("variant", "formula")
    self_loops: SelfLoops = "add"

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        depth: int = 64,
        alpha: float = 0.1,
        lam: float = 0.5,
        variant: bool = False,
        formula: Formula = "official",
        dropout: float = 0.5,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, drop_in=dropout, dropout=dropout, bias=True)
        if not 0 <= alpha <= 1:
            raise PcnetError(f"alpha = {alpha} is not a share; it must lie between 0 and 1.")
        if formula not in get_args(Formula):
            raise PcnetError(f"formula can be {' or '.join(get_args(Formula))}, not {formula!r}.")
        self.depth, self.variant, self.formula = whole_number("depth", depth, least=1), variant, formula
        self.alpha: tuple[float, ...] = (alpha,)
        self.lam: tuple[float, ...] = (positive_number("lam", lam),)
        #: All W_l, and all W'_l, in one parameter: an optimiser's step is a call for each.
        self.weights = nn.ParameterList(
            [torch.empty(depth, hidden_channels, hidden_channels) for _ in range(1 + variant)]
        )
        self.last = nn.Parameter(torch.empty(hidden_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform in ±1/√d, d the number of inputs."""
        self.first.reset_parameters(generator)
        uniform_by_inputs([*self.weights, self.last, self.bias], self.last.shape[0], generator)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        start = h = h.relu()
        alpha = self.each(self.alpha)
        for maps in zip(*self._maps(), strict=True):
            p = apply_operator(operator, self.drop(h))
            if self.variant:
                h = (p @ maps[0] + start @ maps[1]).relu_()
            else:
                h = (torch.lerp(p, start, alpha) @ maps[0]).relu_()
        return self.drop(h) @ self.last + over_nodes(self.bias)

    def _maps(self) -> list[tuple[Tensor, ...]]:
        """What each layer multiplies P and H_0 with, identity included: so no block of nodes is scaled and added."""
        layer = torch.arange(1, self.depth + 1, device=self.last.device, dtype=self.last.dtype).view(-1, 1, 1)
        beta = torch.log1p(self.each(self.lam).unsqueeze(-1) / layer)
        alpha = self.each(self.alpha).unsqueeze(-1)
        shares: tuple[Tensor | float, ...] = (1 - alpha, alpha) if self.variant else (1.0,)
        maps = []
        for weight, share in zip(self.weights, shares, strict=True):
            both = (beta if self.formula == "official" else share * beta) * weight
            both.diagonal(dim1=-2, dim2=-1).add_((share * (1 - beta)).squeeze(-1))
            maps.append(both.unbind(-3))
        return maps

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"conv": list(self.weights), "linear": [*self.first.parameters(), self.last, self.bias]}


@dataclass(frozen=True)
class GCNIISettings(LayeredNetSettings):
    """The arguments of `GCNII`; with `directed`, a page hears from the pages it links to, as in the published code."""

    method: ClassVar[str] = "gcnii"
    self_loops: ClassVar[SelfLoops] = "add"
    varying: ClassVar[tuple[str, ...]] = ("alpha", "lam")

    layers: int = 64
    alpha: float = 0.1
    lam: float = 0.5
    variant: bool = False
    formula: Formula = "official"
    directed: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        return ("conv", "linear")

    def make(self, in_channels: int, out_channels: int) -> GCNII:
        names = ("alpha", "lam", "variant", "formula", "dropout")
        rest = {name: getattr(self, name) for name in names}
        return GCNII(in_channels, self.hidden, out_channels, depth=self.layers, **rest)

    def node_floats(self, classes: int) -> int:
        """Of every layer the mask, what is multiplied and what comes out."""
        return (4 * self.layers + 16) * self.hidden + 12 * classes
