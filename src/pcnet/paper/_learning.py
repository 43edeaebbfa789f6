"""Learning a response through PC-Conv: gradient steps on θ, or on coordinates in which they get somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.graph import Operator
from pcnet.nn import PCConv
from pcnet.polynomial import filter_family

#: Diffusion time and self-loop weight for every K. Of t = 0.1, ½ and 1 the first gives the best conditioned filters,
#: and with p = 2, λ̃ is λ.
T, P = 0.1, 2.0
#: Points on [0, 2], where the spectrum of every graph lies.
POINTS = np.linspace(0.0, 2.0, 2001)
#: The weight of a grid's edge is drawn from this interval; loops weigh 1.
WEIGHTS = (20.0, 30.0)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """I − Ã = U Λ Uᵀ, `lam` the diagonal of Λ, ascending."""

    operator: Operator
    lam: FloatArray
    U: FloatArray

    @staticmethod
    def of_grid(side: int) -> Spectrum:
        """A square grid with edges of random weight, whose eigenvalues fill [0, 2).

        The loops that Ã adds are light compared with the edges: with edges of weight 1 the largest eigenvalue would be
        1.6 instead of almost 2. And no two weights are the same, nor any two eigenvalues.
        """
        nodes = torch.arange(side * side).view(side, side)
        starts = torch.cat([nodes[:, :-1].flatten(), nodes[:-1].flatten()])
        ends = torch.cat([nodes[:, 1:].flatten(), nodes[1:].flatten()])
        weight = torch.from_numpy(np.random.default_rng(0).uniform(*WEIGHTS, size=len(starts)))
        edge_index = torch.stack([torch.cat([starts, ends]), torch.cat([ends, starts])])
        operator = Operator.from_edges(edge_index, side * side, weight.repeat(2), dtype=torch.float64)
        laplacian = torch.eye(side * side, dtype=torch.float64) - operator.matrix.to_dense()
        lam, U = torch.linalg.eigh(laplacian)
        # The smallest is 0; round-off may take it for less, where a target need not be defined.
        return Spectrum(operator, lam.clamp(min=0).numpy(), U.numpy())

    def filtered(self, response: Callable[[Any], FloatArray], x: Tensor) -> Tensor:
        """U G(Λ) Uᵀ x."""
        return torch.from_numpy((self.U * response(self.lam)) @ (self.U.T @ x.numpy()))


@dataclass(frozen=True)
class Way:
    """Adam on φ, where θ = Mφ: M is `matrix(K)`, and `lr` the learning rate at first."""

    words: str
    lr: float
    matrix: Callable[[int], FloatArray]


def orthonormal(K: int) -> FloatArray:
    """R⁻¹ of the factors [1, g_1, …, g_K] = QR on [0, 2]: φ weighs filters of length one, at right angles."""
    R = np.linalg.qr(filter_family(POINTS, K, K, T) / np.sqrt(len(POINTS)), mode="r")
    inverse: FloatArray = np.linalg.inv(R)
    return inverse


#: Each with the best of the learning rates 0.1, 0.3 and 1.
WAYS = {
    "Adam on θ": Way("the layer's own parameters", 1.0, lambda K: np.eye(K + 1)),
    "Adam on φ": Way("θ = R⁻¹φ, which makes the filters orthonormal on [0, 2]", 0.1, orthonormal),
}


def learn(K: int, way: Way, x: Tensor, y: Tensor, operator: Operator, seeds: Sequence[int], steps: int) -> FloatArray:
    """argmin_θ mean (PCConv_θ(x) − y)² by Adam, for R trainings side by side that do not see each other.

    The layer has N = K and the gradient is the one of its own backward. φ begins where the seed says, and the learning
    rate falls to zero along a cosine. `x` are signals, (R, n, d), `y` the same signals filtered as wanted; there is a
    seed for each training. Returns θ, (R, K+1).
    """
    stack = PCConv.stack([PCConv(K, K, T, P) for _ in seeds]).double()
    matrix = torch.from_numpy(way.matrix(K))
    phi = torch.stack([torch.randn(K + 1, generator=torch.Generator().manual_seed(seed)) for seed in seeds]).double()
    optimiser = torch.optim.Adam([phi], lr=way.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        with torch.no_grad():
            stack.theta.copy_(_times(matrix, phi))
        loss = (stack(x, operator) - y).square().mean(dim=(1, 2)).sum()
        (gradient,) = torch.autograd.grad(loss, [stack.theta])
        phi.grad = _times(matrix.T, gradient)
        optimiser.step()
        schedule.step()
    theta: FloatArray = _times(matrix, phi).numpy()
    return theta


def _times(matrix: Tensor, vectors: Tensor) -> Tensor:
    """Mv for each row v, by itself: BLAS would round by how many rows there are."""
    return (matrix * vectors.unsqueeze(1)).sum(dim=-1)
