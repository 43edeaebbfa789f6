"""Row-normalised features."""

from __future__ import annotations

from typing import overload

import torch
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import CSR


@overload
def normalise_rows(x: CSR) -> CSR: ...
@overload
def normalise_rows(x: Tensor) -> Tensor: ...
def normalise_rows(x: CSR | Tensor) -> CSR | Tensor:
    """x_ij / Σ_j x_ij: every row sums to 1, rows of zeros stay zero.

    Sums and quotients are taken in float64 and rounded once to the type of `x`. Negative entries are refused:
    their row sum can be anything, zero included.
    """
    values = x.values if isinstance(x, CSR) else x
    if not values.is_floating_point():
        raise PcnetError(f"Features must be floating point to be normalised, not {values.dtype}; call .float() first.")
    if bool((values < 0).any()):
        raise PcnetError("Features hold negative values, so row sums are no scale; standardise the columns instead.")
    if isinstance(x, CSR):
        row = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), x.crow.diff().long())
        sums = torch.zeros(x.shape[0], dtype=torch.float64, device=x.device).index_add_(0, row, x.values.double())
        return CSR(x.crow, x.col, (x.values.double() / _divisor(sums)[row]).to(x.dtype), x.shape)
    return (x.double() / _divisor(x.sum(1, keepdim=True, dtype=torch.float64))).to(x.dtype)


def _divisor(sums: Tensor) -> Tensor:
    return torch.where(sums == 0, torch.ones_like(sums), sums)
