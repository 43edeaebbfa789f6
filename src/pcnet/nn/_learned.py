"""What filters do at the frequencies that a graph has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from pcnet._checks import FloatArray
from pcnet.graph import Operator, spectral_density
from pcnet.nn.conv import PCConv, PolynomialConv

POINTS = 600
#: Entries of an operator up to which its spectral interval is found exactly.
EXACT = 2_000_000
#: Moments of the density up to there and beyond.
FINE, COARSE = 120, 60


@dataclass(frozen=True, eq=False)
class Learned:
    """Each run's g(λ), one row a run, on the true interval of the Laplacian, and the density of its eigenvalues."""

    lam: FloatArray
    responses: FloatArray
    density: FloatArray
    #: The Laplacian as a formula.
    laplacian: str

    @property
    def mean(self) -> FloatArray:
        """The mean of the runs."""
        return self.responses.mean(axis=0)


def learned(convs: Sequence[PolynomialConv], operator: Operator) -> Learned:
    """The Laplacian is L = I − S, or PC-Conv's L̃ = (p−1)I − S, and then all runs must share p.

    Filters with a response for each class are represented by their mean over the classes.

    >>> from pcnet import PCConv, csbm
    >>> operator = Operator.from_graph(csbm(40, 0.5, features=3, seed=0), eta=0.5)
    >>> learned([PCConv(K=2, N=4, t=0.5, p=2.0, eta=0.5)], operator).responses.shape
    (1, 600)
    """
    first = convs[0]
    matrix = operator.matrix.to_scipy()
    small = operator.matrix.nnz <= EXACT
    low, high = operator.interval if small else _rough_interval(matrix, operator.eta)
    # All eigenvalues are one where no edge joins two nodes.
    room = max(0.0, 0.01 - (high - low))
    s = np.linspace(low - room, high + room, POINTS)
    density = spectral_density(matrix, (s[0], s[-1]), s, moments=FINE if small else COARSE)
    lam = first.frequency(s)
    responses = np.array([conv.response(lam).reshape(-1, len(lam)).mean(axis=0) for conv in convs])
    laplacian = f"L̃ = (p−1)I − Ã, p = {first.filters[0].p:g}" if isinstance(first, PCConv) else "L = I − S"
    return Learned(lam, responses, density, f"{laplacian}, η = {operator.eta:g}")


def _rough_interval(matrix: scipy.sparse.csr_matrix, eta: float) -> tuple[float, float]:
    """Good enough to draw: [−1, 1] holds for η = ½; else both ends by Lanczos to a hundredth, and as much room."""
    # Imported here: most commands need no eigenvalues.
    import scipy.sparse.linalg

    if eta == 0.5:
        return -1.0, 1.0
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    low, high = sorted(scipy.sparse.linalg.eigsh(matrix, 2, which="BE", v0=start, tol=1e-2, return_eigenvectors=False))
    room = 0.02 * (high - low)
    return float(low - room), float(high + room)
