"""A graph whose eigenvalues fill [0, 2), for learning responses on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import FloatArray
from pcnet.graph import Operator

#: The grid's edges weigh something between, beside loops of weight 1.
WEIGHTS = (20.0, 30.0)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """I − Ã = U Λ Uᵀ, `lam` the diagonal of Λ, ascending."""

    operator: Operator
    lam: FloatArray
    U: FloatArray

    @staticmethod
    def of_grid(side: int) -> Spectrum:
        """A square grid with edges of random weight.

        The loops that Ã adds are light beside the edges: with edges of weight 1 the largest eigenvalue would be 1.6
        instead of almost 2. And no two weights are the same, nor any two eigenvalues.
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
