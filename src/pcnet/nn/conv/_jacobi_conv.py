"""JacobiConv's filters: one for each column, in a basis of orthogonal polynomials that is damped term by term."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._checks import finite_number, one_of, positive_number, whole_number
from pcnet.graph import SelfLoops
from pcnet.nn._module import device_vector, held
from pcnet.nn.conv._matrix_conv import bernstein_matrix, transformed
from pcnet.nn.conv._polynomial_conv import FixedBasisConv
from pcnet.polynomial import Basis, Chebyshev, Jacobi, Powers, Recurrence

BasisName = Literal["jacobi", "monomial", "chebyshev", "bernstein"]
Sign = Literal["published", "paper"]


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

    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"theta": ("theta",), "alpha": ("e",)}
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
        damping = self._damping()
        if self.theta.ndim > damping.ndim:
            damping = damping.unsqueeze(-2)
        return (self.theta.double() * damping).to(self.theta.dtype)

    def _damping(self) -> Tensor:
        """Π_{l<k} γ_l for k = 0..K, (K+1,) or (R, K+1)."""
        device = self.theta.device
        if self.e is None:
            rows = held(_fixed_damping, self.K, self.alpha, device=device)
            return rows if self.runs is not None else rows[0]
        alpha = device_vector(self.alpha, device, torch.float64)
        return _Products.apply((alpha.unsqueeze(-1) if self.runs is not None else alpha) * self.e.double().tanh())

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
