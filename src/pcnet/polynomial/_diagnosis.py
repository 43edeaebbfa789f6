"""What a choice of K, N, t and p can and cannot do, in numbers and in words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pcnet._checks import FloatArray, finite_interval, finite_number, whole_number
from pcnet.errors import PcnetWarning
from pcnet.polynomial._charlier import charlier_matrix
from pcnet.polynomial._filter import Mode, check_mode, filter_family

_GRID_POINTS = 2001
_already_said: set[str] = set()


@dataclass(frozen=True)
class Identifiability:
    """How well the polynomial determines θ.

    Attributes:
        rank, parameters: dimension of the family of filters, and number of θ's.
        condition: largest over smallest singular value of B; infinite when several θ give the same filter.
    """

    rank: int
    parameters: int
    condition: float

    @property
    def identifiable(self) -> bool:
        """Whether different θ always give different filters."""
        return self.rank == self.parameters


def identifiability(K: int, N: int, t: float, identity: bool = True) -> Identifiability:
    """Rank and condition number of B = [e_0 | C_n(k, t)/n!], the map from θ to the polynomial's coefficients.

        >>> from pcnet import identifiability
        >>> found = identifiability(K=4, N=2, t=0.5)
        >>> found.rank, found.parameters, found.identifiable
        (3, 5, False)

    θ has K + 1 entries and the polynomial N + 1, so N < K leaves θ undetermined and K < N leaves most
    polynomials of order N out of reach (the paper's Theorem 2 needs K = N). For K = N, with the Taylor
    polynomial E_K of the exponential,

        det B = E_K(−t) = Σ_{j=0..K} (−t)^j / j!

    which has no zero for even K and a single one, at some t > 0, for odd K (K = 3: t ≈ 1.596). For N > K the
    columns are always independent. Without `identity` (no e_0) they are so as soon as N ≥ K − 1.
    """
    K, N, t = whole_number("K", K, least=0 if identity else 1), whole_number("N", N), finite_number("t", t)
    B = charlier_matrix(K, N, t)[:, 0 if identity else 1 :]
    singular = np.linalg.svd(B, compute_uv=False)
    rank = int((singular > singular[0] * max(B.shape) * np.finfo(np.float64).eps).sum())
    parameters = B.shape[1]
    condition = float(singular[0] / singular[-1]) if rank == parameters else math.inf
    return Identifiability(rank, parameters, condition)


def truncation_error(K: int, N: int, t: float, interval: Sequence[float]) -> FloatArray:
    """max|truncated − limit| / max|limit| over λ̃ in the interval, for each k = 1..K."""
    lam = np.linspace(*finite_interval("interval", interval), _GRID_POINTS)
    limit = filter_family(lam, K, None, t, identity=False, mode="limit")
    truncated = filter_family(lam, K, N, t, identity=False)
    error: FloatArray = np.abs(truncated - limit).max(axis=0) / np.abs(limit).max(axis=0)
    return error


def filter_warnings(
    K: int,
    N: int,
    t: float,
    p: float,
    identity: bool = True,
    mode: Mode = "truncated",
) -> list[str]:
    """Sentences about settings that are legal but probably not what was meant; none for good ones.

    They name a θ that is not identifiable (truncated mode only), a missing heat kernel (t = 0), and a p below the
    range of `admissible_p`.
    """
    t, p = finite_number("t", t), finite_number("p", p)
    sentences = []
    if check_mode(mode) == "truncated":
        found = identifiability(K, N, t, identity)
        if not found.identifiable:
            sentences.append(
                f"θ is not identifiable: its {found.parameters} entries span only {found.rank} dimensions at "
                f"K = {K}, N = {N}, t = {t:g}. Take N above K, a smaller K, or mode='limit'."
            )
    if t == 0:
        sentences.append(
            "t = 0 leaves no heat kernel: e^(tλ̃) is 1 and the filters are plain powers (1 − λ̃)^k. Take t > 0."
        )
    if p < 2:
        sentences.append(
            f"p = {p:g} (b = p − 1 = {p - 1:g}) is below 2, so the homophilic energy λ̃ = p − 2 + λ is "
            "negative at low frequencies. Take p of at least 2."
        )
    return sentences


def warn_once(messages: Iterable[str], stacklevel: int = 2) -> None:
    """Issue each sentence as a `PcnetWarning`, but never the same one twice in a process.

    `stacklevel` counts from the line that calls `warn_once`, as in `warnings.warn`.
    """
    for message in messages:
        if message not in _already_said:
            _already_said.add(message)
            warnings.warn(message, PcnetWarning, stacklevel=stacklevel + 1)
