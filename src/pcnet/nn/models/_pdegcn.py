"""PDE-GCN (Eliasof et al., NeurIPS 2021): layers that are time steps of a diffusion, of a wave, or of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._edges import gradient, half_laplacian
from pcnet.nn._module import Groups
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings, empty, glorot
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import Memory, setting
from pcnet.propagate import apply_matrix


@dataclass(frozen=True)
class PDEGCNSettings(LayeredNetSettings):
    dropout: float = setting(0.6, "the rate of every dropout")
    layers: int = setting(8, "number of time steps", least=1)
    equation: Literal["diffusion", "wave", "mixed"] = setting(
        "diffusion", '"diffusion", "wave" (the paper\'s hyperbolic) or "mixed", where every step learns its s'
    )
    h: float = setting(1.0, "length of a step", positive=True, varies=True)
    opening: Literal["glorot", "normal"] = setting("glorot", "how W and W' begin; normal with a deviation of 0.01")

    @property
    def groups(self) -> tuple[str, ...]:
        return ("conv", "linear", "mix") if self.equation == "mixed" else ("conv", "linear")

    def memory(self, classes: int) -> Memory:
        """Of every layer its mask and both factors of K; of the one at work, as much again and what comes of it."""
        nodes, widest, _ = super().memory(classes)
        return Memory(nodes + 4 * self.layers * self.hidden, widest, (3 * self.layers + 6) * self.hidden)


@method("pdegcn", title="PDE-GCN")
class PDEGCN(LayeredNet[PDEGCNSettings]):
    """X_{l+1} from X_l and X_{l−1} by F_l(X) = Gᵀ relu(δ(G X) K_lᵀ) K_l, (G X)_e = S_ij (x_i − x_j) on both directions.

        diffusion:  X_{l+1} = X_l − h F_l(X_l)
        wave:       X_{l+1} = 2 X_l − X_{l−1} − h² F_l(X_l)
        mixed:      (a/h + b/h²) X_{l+1} = (a/h + 2b/h²) X_l − b/h² X_{l−1} − F_l(X_l),  b = σ(s_l), a = 1 − b

    X_0 = X_{−1} = δ(relu(δ(X) W)), Z = δ(X_L) W'. S = (D+I)^-½ (A+I) (D+I)^-½.

    The two directions of an edge have opposite gradients, and relu(u) − relu(−u) = u: without dropout F_l is linear,
    F_l(X) = ½ GᵀG X K_lᵀ K_l, and is computed so, on nodes instead of edges. ReLU acts only through dropout, which
    draws for each direction.
    """

    self_loops: SelfLoops = "fill"
    groups: ClassVar[Groups] = {"conv": ("kernels",), "linear": ("first", "closing"), "mix": ("mix",)}

    def setup(self, s: PDEGCNSettings) -> None:
        self.first = self.opening(s.hidden, drop=s.dropout)
        # All layers in one parameter: an optimiser's step is as long as its list of parameters.
        self.kernels = empty(s.layers, s.hidden, s.hidden)
        self.closing = empty(s.hidden, self.out_channels)
        self.mix = empty(s.layers) if s.equation == "mixed" else None

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """K_l = I + 10⁻³ U(0, 1), s = 0."""
        weights = [*self.first.weights, self.closing]
        if self.settings.opening == "glorot":
            glorot(weights, generator)
        else:
            for weight in weights:
                nn.init.normal_(weight, std=0.01, generator=generator)
        with torch.no_grad():
            nn.init.uniform_(self.kernels, 0, 1e-3, generator=generator)
            self.kernels.add_(torch.eye(self.kernels.shape[-1], device=self.kernels.device))
            if self.mix is not None:
                self.mix.zero_()

    def layers(self, h: Tensor, operator: Operator) -> Tensor:
        x = before = self.drop(h.relu())
        for layer, kernel in enumerate(self.kernels.unbind(-3)):
            x, before = self._step(layer, x, before, self._force(kernel, x, operator)), x
        return self.drop(x) @ self.closing

    def _force(self, kernel: Tensor, x: Tensor, operator: Operator) -> Tensor:
        """F(X)."""
        dropped = self.training and self.draws is not None and any(self.rates("dropout"))
        if operator.symmetric and not dropped:
            return apply_matrix(half_laplacian(operator), x) @ (kernel.mT @ kernel)
        G = gradient(operator)
        return apply_matrix(G.transposed, (self.drop(apply_matrix(G, x)) @ kernel.mT).relu() @ kernel)

    def _step(self, layer: int, x: Tensor, before: Tensor, force: Tensor) -> Tensor:
        h = self.each("h")
        if self.settings.equation == "diffusion":
            return x - h * force
        if self.mix is None:
            return 2 * x - before - h**2 * force
        b = self.mix[..., layer, None, None].sigmoid()
        first, second = (1 - b) / h, b / h**2
        return ((first + 2 * second) * x - second * before - force) / (first + second)
