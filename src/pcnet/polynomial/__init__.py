"""Mathematics on a line: polynomial bases, Poisson–Charlier filters, their limit, their fit and their limits.

Everything here is NumPy in float64 and knows of no graph. S is the graph operator with eigenvalues s, and
L̃ = (p−1)I − S has the eigenvalues λ̃ = p − 1 − s.
"""

from pcnet.polynomial._basis import Basis, Chebyshev, Jacobi, Powers, Recurrence, evaluate_polynomial
from pcnet.polynomial._charlier import charlier_matrix, charlier_series, poisson_charlier
from pcnet.polynomial._diagnosis import (
    Identifiability,
    filter_warnings,
    identifiability,
    truncation_error,
    warn_once,
)
from pcnet.polynomial._filter import (
    Mode,
    check_mode,
    filter_family,
    limit_filter,
    pc_response,
    truncated_filter,
)
from pcnet.polynomial._fit import Fit, comb, fit_response, low_band_pass
from pcnet.polynomial._limit import limit_expansion
from pcnet.polynomial._two_fold import (
    admissible_p,
    heat_kernel,
    heterophilic_energy,
    heterophilic_step,
    homophilic_energy,
    homophilic_step,
    two_fold_filter,
)

__all__ = [
    "Basis",
    "Chebyshev",
    "Fit",
    "Identifiability",
    "Jacobi",
    "Mode",
    "Powers",
    "Recurrence",
    "admissible_p",
    "charlier_matrix",
    "charlier_series",
    "check_mode",
    "comb",
    "evaluate_polynomial",
    "filter_family",
    "filter_warnings",
    "fit_response",
    "heat_kernel",
    "heterophilic_energy",
    "heterophilic_step",
    "homophilic_energy",
    "homophilic_step",
    "identifiability",
    "limit_expansion",
    "limit_filter",
    "low_band_pass",
    "pc_response",
    "poisson_charlier",
    "truncated_filter",
    "truncation_error",
    "two_fold_filter",
    "warn_once",
]
