"""PC-Conv, the Poisson–Charlier graph convolution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from pcnet._checks import FloatArray, finite_number, one_of, whole_number
from pcnet.errors import warn_once
from pcnet.graph import Operator
from pcnet.nn.conv._polynomial_conv import FilterBasis, PolynomialConv, combine
from pcnet.polynomial import (
    Basis,
    Mode,
    Powers,
    charlier_matrix,
    check_mode,
    filter_family,
    filter_warnings,
    limit_expansion,
    orthonormal_map,
    pc_response,
)


@dataclass(frozen=True)
class PCFilter:
    """The fixed part of g(λ̃) = θ_0 + Σ_{k=1..K} θ_k Σ_{n=0..N} C_n(k,t) (−λ̃)^n / n!."""

    K: int
    N: int
    t: float
    p: float
    identity: bool
    #: Whether φ = Rθ is learned instead of θ.
    orthonormal: bool = False

    @property
    def parameters(self) -> int:
        """How many θ_k there are."""
        return self.K + self.identity

    def maps(self, mode: Mode) -> tuple[FloatArray, FloatArray]:
        """R and R⁻¹ between θ and what is learned."""
        return _maps(self, mode) if self.orthonormal else (np.eye(self.parameters),) * 2


class PCConv(PolynomialConv):
    r"""Z = θ_0 X + Σ_{k=1..K} θ_k g_{k,t}(L̃) X, with L̃ = (p−1)I − (D+I)^-η (A+I) (D+I)^-η.

    `mode="truncated"` is the layer of the paper: g_{k,t} is cut off after its N-th term. `mode="limit"` is what the
    terms add up to, (I−L̃)^k e^{tL̃}, through a Chebyshev series on the true spectral interval; N plays no part there.
    Either way it is one polynomial, and θ enters through its coefficients alone. It has first derivatives by x, θ and
    edge weights that require them, and no second ones.

    Args:
        K: number of filters g_1 … g_K that are combined.
        N: true order of the sum (n = 0..N); N sparse products forward and N back.
        t: diffusion time of the heat kernel on the complementary graph; 0 removes it.
        p: weight of a node itself in the complementary graph; p ≥ 2 keeps the energy of the paper non-negative.
        eta: exponent of the degree normalisation; ½ is the usual one.
        identity: whether the θ_0 term is there.
        mode: "truncated" or "limit".
        init: initial value of every θ.
        basis: "plain" learns θ; "orthonormal" φ = Rθ, the weights of filters that span the same and are orthonormal for
            eigenvalues of S in [−1, 1]. The parameter is called theta either way.

    >>> conv = PCConv(K=4, N=6, t=0.5)
    >>> conv(torch.ones(3, 2), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])
    >>> conv.response([0.0, 1.0]).round(2)
    array([5.  , 0.99])
    """

    per_run: ClassVar[tuple[str, ...]] = ("filters",)
    common: ClassVar[tuple[str, ...]] = (*PolynomialConv.common, "mode")
    padded: ClassVar[tuple[str, ...]] = ("theta",)
    theta: nn.Parameter

    def __init__(
        self,
        K: int,
        N: int,
        t: float,
        p: float = 2.0,
        eta: float = 0.5,
        identity: bool = True,
        mode: Mode = "truncated",
        init: float = 1.0,
        basis: FilterBasis = "plain",
    ) -> None:
        super().__init__()
        K, N = whole_number("K", K, least=1), whole_number("N", N)
        t, p = finite_number("t", t), finite_number("p", p)
        check_mode(mode)
        one_of("basis", basis, get_args(FilterBasis))
        self.eta, self.mode, self.init = finite_number("eta", eta), mode, finite_number("init", init)
        self.filters: tuple[PCFilter, ...] = (PCFilter(K, N, t, p, identity, basis == "orthonormal"),)
        self.theta = nn.Parameter(torch.empty(self.filters[0].parameters))
        self.reset_parameters()
        warn_once(filter_warnings(K, N, t, p, identity, mode))

    def reset_parameters(self) -> None:
        """θ_k = init."""
        R, _ = self.filters[0].maps(self.mode)
        self.theta.data = torch.from_numpy(R @ np.full(len(R), self.init)).to(self.theta)

    def settings_changed(self) -> None:
        count = self.filters[0].parameters
        if self.runs is None and len(self.theta) != count:
            self.theta = nn.Parameter(self.theta.detach()[:count].clone())

    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        """Powers of −L̃, or in limit mode Chebyshev polynomials on the true interval, and c = Bθ."""
        interval = None if self.mode == "truncated" else operator.interval
        basis, matrix = _family(self.filters, interval, self.theta.shape[-1], self.theta.device)
        return basis, combine(matrix if self.runs is not None else matrix[0], self.theta)

    def frequency(self, s: ArrayLike) -> FloatArray:
        """L̃ = (p−1)I − S; of a stacked layer, the first run's."""
        return self.filters[0].p - 1 - np.asarray(s, dtype=np.float64)

    @property
    def laplacian(self) -> str:
        return f"L̃ = (p−1)I − Ã, p = {self.filters[0].p:g}"

    def response(self, lam: ArrayLike) -> FloatArray:
        """g(λ̃) at eigenvalues λ̃ of L̃; of a stacked layer, one row for each run."""
        theta = self.theta.detach().double().cpu().numpy()
        rows = theta[None] if self.runs is None else theta
        responses = [
            pc_response(lam, f.maps(self.mode)[1] @ row[: f.parameters], f.N, f.t, f.identity, self.mode)
            for row, f in zip(rows, self.filters, strict=True)
        ]
        return responses[0] if self.runs is None else np.stack(responses)

    def extra_repr(self) -> str:
        if self.runs is not None:
            return f"{self.runs} runs, eta={self.eta:g}, mode={self.mode!r}"
        f = self.filters[0]
        numbers = f"K={f.K}, N={f.N}, t={f.t:g}, p={f.p:g}, eta={self.eta:g}"
        return f"{numbers}, identity={f.identity}, mode={self.mode!r}" + ", basis='orthonormal'" * f.orthonormal


@lru_cache(maxsize=1024)
def _maps(f: PCFilter, mode: Mode) -> tuple[FloatArray, FloatArray]:
    return orthonormal_map(lambda s: filter_family(f.p - 1 - s, f.K, f.N, f.t, f.identity, mode))


@lru_cache(maxsize=64)
def _family(
    filters: tuple[PCFilter, ...], interval: tuple[float, float] | None, columns: int, device: torch.device
) -> tuple[Basis, Tensor]:
    """Basis and (R, N+1, columns) matrices of truncated filters, or with an interval of S of their limits.

    Missing rows and columns are terms that are not there. θ, which the columns meet, is as wide as in the widest run
    that was ever in the stack, also after that one has left.
    """
    basis: Basis
    if interval is None:
        shifts = tuple(f.p - 1 for f in filters)
        basis = Powers(shifts[0] if len(set(shifts)) == 1 else shifts)
        matrices = [charlier_matrix(f.K, f.N, f.t) for f in filters]
    else:
        expansions = [limit_expansion(f.K, f.t, f.p, interval) for f in filters]
        basis, matrices = expansions[0][0], [matrix for _, matrix in expansions]
    padded = np.zeros((len(filters), max(map(len, matrices)), columns))
    for into, f, matrix in zip(padded, filters, matrices, strict=True):
        of_theta = matrix if f.identity else matrix[:, 1:]
        if f.orthonormal:
            of_theta = of_theta @ f.maps("truncated" if interval is None else "limit")[1]
        into[: len(of_theta), : of_theta.shape[1]] = of_theta
    return basis, torch.from_numpy(padded).to(device)
