"""Filters whose basis does not depend on the graph: of GPRGNN, APPNP, EvenNet, ChebNetII, BernNet and JacobiConv."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.special
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._checks import FloatArray, finite_number, one_of, positive_number, whole_number
from pcnet.graph import Operator, SelfLoops
from pcnet.nn._module import Groups, device_vector, held
from pcnet.nn.conv._polynomial_conv import FilterBasis, PolynomialConv, combine
from pcnet.polynomial import Basis, Chebyshev, Jacobi, Powers, Recurrence, evaluate_polynomial, orthonormal_map

#: How θ of GPRConv begins.
Start = Literal["ppr", "nppr"]
#: JacobiConv's bases, and the sign in the recurrence of its own.
BasisName = Literal["jacobi", "monomial", "chebyshev", "bernstein"]
Sign = Literal["published", "paper"]


class FixedBasisConv(PolynomialConv):
    """A filter of degree K whose basis and coefficients do not depend on the graph."""

    common: ClassVar[tuple[str, ...]] = (*PolynomialConv.common, "K")
    #: P_n, as polynomials of s = 1 − λ.
    basis: Basis = Powers()

    def __init__(self, K: int) -> None:
        super().__init__()
        self.K = whole_number("K", K)

    @abstractmethod
    def coefficients(self) -> Tensor:
        """c, (N+1,) or (d, N+1); of a stacked layer with the run as first axis."""

    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        return self.basis, self.coefficients()

    def response(self, lam: ArrayLike) -> FloatArray:
        """g at eigenvalues λ of L = I − S, with a leading axis for runs and then columns that have their own."""
        c = self.coefficients().detach().double().cpu().numpy()
        s = self.frequency(lam)
        values = evaluate_polynomial(c.reshape(-1, c.shape[-1]), self.basis, s)
        return values.reshape(*c.shape[:-1], *s.shape)

    def extra_repr(self) -> str:
        return f"K={self.K}"


class MatrixConv(FixedBasisConv):
    """Z = Σ_n c_n P_n(S) X, c = M σ(θ), S = D^-½ A D^-½ without self loops; σ is the ReLU or nothing.

    A ReLU that is closed stays closed: its θ has no gradient, and only a weight decay moves it. With
    `basis="orthonormal"` the parameter is φ = Rθ, as PCConv's.
    """

    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "orthonormal")

    self_loops: SelfLoops = "remove"
    #: M for a degree K, with K + 1 rows, or None for the identity; and whether σ is the ReLU.
    matrix: ClassVar[staticmethod[[int], FloatArray] | None] = None
    positive: ClassVar[bool] = False
    theta: nn.Parameter

    def __init__(self, K: int = 10, basis: FilterBasis = "plain") -> None:
        super().__init__(K)
        one_of("basis", basis, get_args(FilterBasis))
        self.orthonormal = basis == "orthonormal"
        self.theta = nn.Parameter(torch.empty(_family(type(self), self.K).shape[1]))
        if type(self).beginning is MatrixConv.beginning:
            self.reset_parameters()

    def beginning(self) -> FloatArray:
        """θ at first."""
        return np.ones(len(self.theta))

    def reset_parameters(self) -> None:
        beginning = self.beginning()
        if self.orthonormal:
            beginning = _maps(type(self), self.K)[0] @ beginning
        self.theta.data = torch.from_numpy(beginning).to(self.theta)

    def coefficients(self) -> Tensor:
        kind = type(self)
        theta: Tensor = transformed(partial(_inverse, kind), self.theta, self.K) if self.orthonormal else self.theta
        theta = theta.relu() if self.positive else theta
        return theta if kind.matrix is None else transformed(kind.matrix, theta, self.K)

    def extra_repr(self) -> str:
        return f"K={self.K}" + ", basis='orthonormal'" * self.orthonormal


def _family(kind: type[MatrixConv], K: int) -> FloatArray:
    """M."""
    return np.eye(K + 1) if kind.matrix is None else kind.matrix(K)


@lru_cache(maxsize=64)
def _maps(kind: type[MatrixConv], K: int) -> tuple[FloatArray, FloatArray]:
    """R and R⁻¹ of the filters that θ weighs."""
    return orthonormal_map(lambda s: kind.basis.evaluate(s, K).T @ _family(kind, K))


def _inverse(kind: type[MatrixConv], K: int) -> FloatArray:
    return _maps(kind, K)[1]


def transformed(matrix: Callable[[int], FloatArray], theta: Tensor, K: int) -> Tensor:
    """M θ for every θ along the last axis."""
    rows = theta.reshape(-1, theta.shape[-1])
    return combine(held(_copies, matrix, K, len(rows), device=theta.device), rows).reshape(*theta.shape[:-1], -1)


def _copies(matrix: Callable[[int], FloatArray], K: int, count: int) -> Tensor:
    """M once for each θ."""
    return torch.from_numpy(matrix(K)).expand(count, -1, -1).contiguous()


class GPRConv(MatrixConv):
    """Z = Σ_{k=0..K} θ_k S^k X, S = (D+I)^-½ (A+I) (D+I)^-½ (a native self loop is not doubled).

    θ starts as personalised PageRank, θ_k = α(1−α)^k and θ_K = (1−α)^K: all of it on X for α = 1 and on S^K X for
    α = 0; or with `start="nppr"` as α^k divided by its sum, which does not fall off for α near 1.
    """

    self_loops: SelfLoops = "fill"

    def __init__(self, K: int = 10, alpha: float = 0.1, start: Start = "ppr", basis: FilterBasis = "plain") -> None:
        super().__init__(K, basis)
        one_of("start", start, get_args(Start))
        self.alpha, self.start = finite_number("alpha", alpha), start
        self.reset_parameters()

    def beginning(self) -> FloatArray:
        if self.start == "ppr":
            return _page_ranks(self.K, (self.alpha,))[0]
        weights = self.alpha ** np.arange(self.K + 1.0)
        return weights / np.abs(weights).sum()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, alpha={self.alpha:g}, start={self.start!r}"


class PPRConv(FixedBasisConv):
    """Z_{k+1} = (1−α) S Z_k + α X, K times from Z_0 = X: GPRConv with a θ that stays as it begins."""

    groups: ClassVar[Groups] = {}
    per_run: ClassVar[tuple[str, ...]] = ("alpha",)
    self_loops: SelfLoops = "fill"

    def __init__(self, K: int = 10, alpha: float = 0.1) -> None:
        super().__init__(K)
        self.alpha: tuple[float, ...] = (finite_number("alpha", alpha),)

    def coefficients(self, device: torch.device | str = "cpu") -> Tensor:
        rows = held(_page_ranks, self.K, self.alpha, device=device)
        return rows if self.runs is not None else rows[0]

    def expansion(self, operator: Operator) -> tuple[Basis, Tensor]:
        return self.basis, self.coefficients(operator.matrix.device)

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={', '.join(f'{alpha:g}' for alpha in self.alpha)}"


def _page_ranks(K: int, alphas: tuple[float, ...]) -> FloatArray:
    """α(1−α)^k for k < K, and (1−α)^K, a row for each α: what K steps of APPNP weigh the powers of S with."""
    rows = np.stack([alpha * (1 - alpha) ** np.arange(K + 1.0) for alpha in alphas])
    rows[:, K] = [(1 - alpha) ** K for alpha in alphas]
    return rows


def even_columns(K: int) -> FloatArray:
    """θ_k is the coefficient of S^{2k}."""
    return np.eye(K + 1)[:, ::2].copy()


class EvenConv(MatrixConv):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} X: neighbours of neighbours, who are alike whether or not neighbours are.

    θ starts as θ_k = α(1−α)^{2k}, which does not add up to 1.
    """

    matrix = staticmethod(even_columns)

    def __init__(self, K: int = 10, alpha: float = 0.1, basis: FilterBasis = "plain") -> None:
        super().__init__(K, basis)
        self.alpha = finite_number("alpha", alpha)
        self.reset_parameters()

    def beginning(self) -> FloatArray:
        beginning: FloatArray = self.alpha * (1 - self.alpha) ** np.arange(0.0, self.K + 1, 2)
        return beginning

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, alpha={self.alpha:g}"


def chebyshev_nodes(K: int) -> FloatArray:
    """s_j = cos((j+½)π/(K+1)), j = 0..K, the zeros of T_{K+1}: low frequencies λ = 1 − s first."""
    nodes: FloatArray = np.cos((np.arange(K + 1) + 0.5) * np.pi / (K + 1))
    return nodes


def interpolation_matrix(K: int) -> FloatArray:
    """M[n, j] = (2 − [n=0])/(K+1) T_n(s_j): from a polynomial's values at the nodes to its Chebyshev coefficients."""
    M = 2 / (K + 1) * Chebyshev().evaluate(chebyshev_nodes(K), K)
    M[0] /= 2
    return M


def bernstein_matrix(K: int) -> FloatArray:
    """Chebyshev coefficients of C(K,k) ((1+s)/2)^{K−k} ((1−s)/2)^k, k = 0..K, in columns.

    Of degree K, each is known exactly by its values at K + 1 nodes.
    """
    k, s = np.arange(K + 1), chebyshev_nodes(K)[:, None]
    values: FloatArray = scipy.special.binom(K, k) * ((1 + s) / 2) ** (K - k) * ((1 - s) / 2) ** k
    return interpolation_matrix(K) @ values


class Cheb2Conv(MatrixConv):
    """Z = h(L) X, L = I − S, h the polynomial of degree K with h(1 + x_j) = relu(θ_j), x_j = −cos((j+½)π/(K+1)).

    In the paper Z = w_0/2 X + Σ_{k=1..K} w_k T_k(L − I) X with w_k = 2/(K+1) Σ_j relu(θ_j) T_k(x_j). Here L − I = −S
    and x_j change their signs together, which changes no product T_k(L − I) T_k(x_j). θ = 1 is the identity.
    """

    matrix, basis, positive = staticmethod(interpolation_matrix), Chebyshev(), True


class BernConv(MatrixConv):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k X, L = I − S. θ = 1 is the identity.

    Term by term that takes K + K(K+1)/2 products; as one polynomial, expanded in Chebyshev's of S, it takes K.
    """

    matrix, basis, positive = staticmethod(bernstein_matrix), Chebyshev(), True


class JacobiConv(FixedBasisConv):
    """Z_{:,c} = Σ_{k=0..K} θ_{c,k} (Π_{l<k} γ_l) P_k(S) X_{:,c}, γ_l = α tanh(e_l), S = D^-½ A D^-½.

    No self loops are added and native ones stay. θ starts at 1 and every e_l at min(1/α, 1).

    Args:
        K: degree.
        a, b: of the Jacobi polynomials; other bases ignore them.
        alpha: bound of the damping factors γ.
        channels: number of columns, each with a filter of its own; None for one filter that all columns share.
        basis: P_k is "jacobi", "monomial", "chebyshev" (of the second kind, as in the paper's comparison of bases), or
            "bernstein": C(K,k)/2^K (I+S)^{K−k} (I−S)^k, which are not damped.
        sign: "paper" takes the Jacobi polynomials; "published" what the authors' code computes, whose recurrence has
            (a²−b²) with the other sign from k = 2 on. The settings that they published belong to the latter.
        frozen: whether e stays as it begins.
    """

    groups: ClassVar[Groups] = {"theta": ("theta",), "alpha": ("e",)}
    per_run: ClassVar[tuple[str, ...]] = ("alpha",)
    common: ClassVar[tuple[str, ...]] = (*FixedBasisConv.common, "a", "b", "basis_name", "sign", "frozen")
    self_loops: SelfLoops = "keep"
    theta: nn.Parameter

    def __init__(
        self,
        K: int = 10,
        a: float = 1.0,
        b: float = 1.0,
        alpha: float = 1.0,
        channels: int | None = None,
        *,
        basis: BasisName = "jacobi",
        sign: Sign = "published",
        frozen: bool = False,
    ) -> None:
        super().__init__(K)
        one_of("basis", basis, get_args(BasisName))
        one_of("sign", sign, get_args(Sign))
        self.a, self.b = finite_number("a", a), finite_number("b", b)
        self.alpha: tuple[float, ...] = (positive_number("alpha", alpha),)
        self.basis_name, self.sign, self.frozen = basis, sign, frozen
        self.basis = _basis(basis, self.K, self.a, self.b, sign)
        columns = () if channels is None else (whole_number("channels", channels, least=1),)
        self.theta = nn.Parameter(torch.empty(*columns, self.K + 1))
        self.e = nn.Parameter(torch.empty(self.K)) if damping_is_learned(basis, frozen) else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """θ = 1 and e = min(1/α, 1)."""
        nn.init.ones_(self.theta)
        if self.e is not None:
            nn.init.constant_(self.e, start_of(self.alpha[0]))

    def coefficients(self) -> Tensor:
        if self.basis_name == "bernstein":
            return transformed(bernstein_matrix, self.theta, self.K)
        # Π_{l<k} γ_l for k = 0..K, a row for each run.
        if self.e is None:
            rows = held(_fixed_damping, self.K, self.alpha, device=self.theta.device)
        else:
            alpha = device_vector(self.alpha, self.theta.device, torch.float64).unsqueeze(-1)
            rows = _Products.apply(alpha * self.e.double().tanh())
        damping = rows if self.runs is not None else rows[0]
        damping = damping.unsqueeze(-2) if self.theta.ndim > damping.ndim else damping
        return (self.theta.double() * damping).to(self.theta.dtype)

    def extra_repr(self) -> str:
        alpha = ", ".join(f"{alpha:g}" for alpha in self.alpha)
        return f"K={self.K}, a={self.a:g}, b={self.b:g}, alpha={alpha}, basis={self.basis_name!r}, sign={self.sign!r}"


def damping_is_learned(basis: BasisName, frozen: bool) -> bool:
    """Whether there are e_l that training changes."""
    return basis != "bernstein" and not frozen


def start_of(alpha: float) -> float:
    """Where every e_l begins."""
    return min(1 / alpha, 1.0)


def _basis(name: BasisName, K: int, a: float, b: float, sign: Sign) -> Basis:
    if name == "monomial":
        return Powers()
    if name == "bernstein":
        return Chebyshev()
    if name == "chebyshev":
        # U_1 = 2s and U_{k+1} = 2s U_k − U_{k−1}.
        return Recurrence((2.0,) * K, (0.0,) * K, (0.0, *(1.0,) * K)[:K])
    if sign == "paper":
        return Jacobi(a, b)
    slope, offset, back = Jacobi(a, b).recurrence(K)
    offset[1:] *= -1
    return Recurrence(tuple(slope), tuple(offset), tuple(back))


class _Products(torch.autograd.Function):
    """Π_{l<k} γ_l, k = 0..K. Torch's own derivative of cumprod asks for zeros, which a captured step cannot."""

    @staticmethod
    def forward(ctx: Any, gamma: Tensor) -> Tensor:
        ctx.save_for_backward(gamma)
        return torch.cat([gamma.new_ones(*gamma.shape[:-1], 1), gamma.cumprod(-1)], dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        """∂/∂γ_l = Σ_{k>l} g_k Π_{m<k, m≠l} γ_m."""
        (gamma,) = ctx.saved_tensors
        K = gamma.shape[-1]
        own = torch.eye(K, dtype=torch.bool, device=gamma.device)
        without = gamma.unsqueeze(-2).masked_fill(own, 1.0).cumprod(-1)
        return (without * grads[0][..., 1:].unsqueeze(-2)).triu().sum(-1)


def _fixed_damping(K: int, alpha: tuple[float, ...]) -> Tensor:
    """(α tanh(min(1/α, 1)))^k of each run, with the tanh that e_l would have gone through."""
    factors = [each * math.tanh(start_of(each)) for each in alpha]
    return torch.tensor([[factor**k for k in range(K + 1)] for factor in factors], dtype=torch.float64)
