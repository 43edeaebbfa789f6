"""Mathematics on a line: polynomial bases, Poisson–Charlier filters, their limit, their fit and their limits.

Everything here is NumPy in float64 and knows of no graph. S is the graph operator with eigenvalues s, and
L̃ = (p−1)I − S has the eigenvalues λ̃ = p − 1 − s. Everywhere K is the largest smoothing power k, N the true order of a
truncated sum (n = 0..N; a limit ignores it), t the diffusion time, p the self-loop weight of the complementary graph,
and `identity` says whether θ_0 is there.
"""

from pcnet.polynomial._basis import (
    Basis,
    Chebyshev,
    Jacobi,
    Powers,
    Recurrence,
    charlier_matrix,
    charlier_series,
    evaluate_polynomial,
    poisson_charlier,
)
from pcnet.polynomial._filter import (
    Identifiability,
    Mode,
    admissible_p,
    check_mode,
    filter_family,
    filter_warnings,
    heat_kernel,
    heterophilic_energy,
    heterophilic_step,
    homophilic_energy,
    homophilic_step,
    identifiability,
    limit_expansion,
    limit_filter,
    orthonormal_map,
    pc_response,
    truncated_filter,
    truncation_error,
    two_fold_filter,
)
from pcnet.polynomial._fit import Fit, comb, fit_response, low_band_pass
