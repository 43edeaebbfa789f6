"""TWIRLS (Yang et al., ICML 2021): unfolded descent on an energy, whose edge weights it may choose again on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops, made_once
from pcnet.nn._edges import entries, in_full, like
from pcnet.nn._perceptron import Perceptron
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_matrix, apply_operator


@dataclass(frozen=True)
class TWIRLSSettings(LayeredNetSettings):
    """The settings of `TWIRLS`; p, tau and T are the shape of attention."""

    hidden: int = setting(64, "width of f's hidden layer, where `depth` = 2 gives it one")
    dropout: float = setting(0.0, "dropout rate between the two layers of f")
    drop_in: float = setting(0.5, "dropout rate on the features")
    depth: int = setting(1, "linear layers of f, with a ReLU and `dropout` between two", least=1, most=2)
    K: int = setting(16, "number of steps")
    alpha: float = setting(1.0, "length of a step", positive=True)
    lam: float = setting(1.0, "weight of the graph, λ", positive=True)
    attention: Literal["never", "halfway", "twice"] = setting(
        "never", "when edges are weighed again: halfway is after K//2 steps, twice at the start, too"
    )
    p: float = setting(1.0, "shape of z: the exponent of ‖y_i − y_j‖² is 1 − p/2")
    tau: float = setting(0.1, "the least z", positive=True)
    T: float = setting(0.0, "z above which an edge is cut; 0 cuts none")

    def memory(self, classes: int) -> Memory:
        """Nothing of a step; but with attention every entry's weight, and in each step what it is multiplied by."""
        edges = 0 if self.attention == "never" else (self.K + 6) * classes + 16
        return Memory(5 * self.hidden * (self.depth - 1) + 12 * classes, max(self.hidden, classes), edges)


@method("twirls", title="TWIRLS")
class TWIRLS(LayeredNet[TWIRLSSettings]):
    """Y ← (1−α) Y + αλ D̃^-½ W D̃^-½ Y + α D̃^-1 f(X), K times from Y = f(X), D̃ = λ diag(W·1) + (1−λ) I.

    Steps like these, preconditioned by D̃, descend an energy ‖Y − f(X)‖² + λ Σ_ij w_ij ‖y_i − y_j‖². W is the adjacency
    with self loops, f a perceptron from features to classes. Attention lets unlike neighbours weigh less,

        w_ij = W_ij (1/z_ij + 10⁻⁹),  z_ij = max(τ, (‖y_i − y_j‖² + 10⁻⁷)^{1−p/2}),  1/z_ij = 0 where T > 0 and z_ij > T

    from the Y of the moment on; derivatives are taken through w as well.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "fill"

    def setup(self, s: TWIRLSSettings) -> None:
        inner, rates = (s.hidden,) * (s.depth - 1), (s.drop_in, s.dropout)[: s.depth]
        self.first = Perceptron([self.in_channels, *inner, self.out_channels], dropout=rates, activation="relu")

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Weights normal by Glorot, biases zero."""
        for weight, bias in zip(self.first.weights, self.first.biases, strict=True):
            nn.init.xavier_normal_(weight, generator=generator)
            nn.init.zeros_(bias)

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        s, halfway = self.settings, self.settings.K // 2
        moments = {"never": (), "halfway": (halfway or None,), "twice": (0, halfway)}[s.attention]
        scaled, inverse = _scaled(operator, s.lam)
        propagated: Callable[[Tensor], Tensor] = partial(apply_operator, scaled)
        y = h
        for step in range(s.K):
            if step in moments:
                propagated, inverse = self._attended(y, operator)
            y = (1 - s.alpha) * y + s.alpha * (s.lam * propagated(y) + inverse * h)
        return y

    def _attended(self, y: Tensor, operator: Operator) -> tuple[Callable[[Tensor], Tensor], Tensor]:
        """D̃^-½ W D̃^-½ as a function, and D̃^-1, with the weights that follow from y."""
        s, edges = self.settings, entries(operator)
        z = apply_matrix(edges.differences, y).square().sum(-1, keepdim=True)
        z = (z + 1e-7).pow(1 - s.p / 2).clamp_min(s.tau)
        inverse = z.reciprocal()
        if s.T > 0:
            inverse = inverse.masked_fill(z > s.T, 0.0)
        w = operator.matrix.values.unsqueeze(-1) * (inverse + 1e-9)
        scale = (s.lam * apply_matrix(edges.row_sums, w) + 1 - s.lam).rsqrt()
        w = w * apply_matrix(edges.row_sums.transposed, scale) * apply_matrix(edges.sources, scale)
        return lambda y: apply_matrix(edges.row_sums, w * apply_matrix(edges.sources, y)), scale.square()


@made_once
def _scaled(operator: Operator, lam: float) -> tuple[Operator, Tensor]:
    """D̃^-½ W D̃^-½ and D̃^-1 as a column, for the weights that the graph has."""
    W = in_full(operator)
    inverse = 1 / (lam * W.sums_of_rows + 1 - lam)
    root = inverse.sqrt()
    scaled = replace(operator, matrix=like(operator, W, root[W.rows] * W.values * root[W.col]))
    return scaled, inverse.to(operator.matrix.values).unsqueeze(-1)
