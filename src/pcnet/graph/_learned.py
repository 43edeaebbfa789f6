"""S as a differentiable function of the weights of the edges."""

from __future__ import annotations

import warnings
from typing import TypeGuard

import torch
from torch import Tensor

from pcnet.errors import PcnetWarning
from pcnet.graph._csr import CSR, starts

DIRECTED = "The edges are directed; both directions are used. Pass direction='keep' to use one only."


def takes_gradient(edge_weight: Tensor | None) -> TypeGuard[Tensor]:
    """Whether somebody will differentiate by weights of edges."""
    return edge_weight is not None and edge_weight.requires_grad and torch.is_grad_enabled()


def learned_matrix(
    edge_index: Tensor, n: int, edge_weight: Tensor, eta: float, self_loops: str, direction: str
) -> tuple[CSR, bool]:
    """The matrix of `Operator.from_edges` in double precision, and whether it is symmetric.

    Every edge has a place in it, also one of weight 0: its weight may grow.
    """
    row, column = edge_index if direction == "out" else edge_index.flip(0)
    if self_loops == "remove":
        proper = row != column
        row, column, edge_weight = row[proper], column[proper], edge_weight[proper]
    given = row.long() * n + column
    places = given.unique()
    if direction == "symmetrise":
        listed, places = len(places), torch.cat([given, column.long() * n + row]).unique()
        if listed < len(places):
            warnings.warn(DIRECTED, PcnetWarning, stacklevel=3)
    if self_loops in ("add", "fill"):
        places = torch.cat([places, torch.arange(n, device=places.device) * (n + 1)]).unique()
    rows, columns = places // n, places % n
    weight = edge_weight.new_zeros(len(places), dtype=torch.float64)
    weight = weight.index_add(0, torch.searchsorted(places, given), edge_weight.double())
    W = CSR(starts(rows, n), columns, weight, (n, n))
    if direction == "symmetrise":
        weight = torch.maximum(weight, weight[W.to_transposed])
    own = rows == columns
    if self_loops == "add":
        weight = weight + own.double()
    elif self_loops == "fill":
        weight = torch.where(own & (weight == 0), 1.0, weight)
    W = W.with_values(weight)
    symmetric = torch.equal(W.transposed.col, columns) and torch.equal(W.transposed.values, weight)
    left = _inverse_power(W.sums_of_rows, eta)
    right = _inverse_power(W.transposed.sums_of_rows, eta) if direction == "keep" else left
    return W.with_values(left[rows] * weight * right[columns]), symmetric


def _inverse_power(degree: Tensor, eta: float) -> Tensor:
    """D^-η, and 0 for a degree of 0."""
    return torch.where(degree > 0, degree.masked_fill(degree == 0, 1.0) ** -eta, 0.0)
