"""A sweep in pieces, by any plan and any number of threads, has the bits of the sweep in one piece."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pcnet.graph import CSR, Operator
from pcnet.polynomial import Chebyshev, Jacobi, Powers
from pcnet.propagate import _sweep, _threads, apply_polynomial
from pcnet.propagate._apply import _recurrence
from pcnet.propagate._sweep import BAG, column_sums, cut, planned_sweep, sweep, sweep_by, sweep_in_parts
from pcnet.propagate._threads import Plan

JACOBI = Jacobi(1.0, 0.0)
PLANS = [
    Plan(share, columns, threads)
    for share in ("columns", "rows")
    for columns in (None, 16, 32)
    for threads in (1, 2, 3)
]


def matrix(rows: int, density: float, seed: int, dtype: torch.dtype = torch.float32) -> CSR:
    """A square matrix with a long row, a long column and, with luck, some empty ones."""
    rng = np.random.default_rng(seed)
    M = scipy.sparse.random(rows, rows, density, "lil", random_state=rng, data_rvs=rng.standard_normal)
    M[rows // 2] = rng.standard_normal(rows)
    M[:, rows // 3] = rng.standard_normal((rows, 1))
    return CSR.from_scipy(M.tocsr(), dtype)


def problem(rows: int, width: int, order: int, basis: str, shared: bool, seed: int) -> tuple[list, Tensor]:
    """x, coefficients, recurrence and what the terms are multiplied with."""
    generator = torch.Generator().manual_seed(seed)
    x, against = (torch.randn(rows, width, generator=generator) for _ in range(2))
    coefficients = torch.randn(order + 1, 1 if shared else width, generator=generator)
    shifts = tuple(np.linspace(0.5, 2.0, width)) if width > 1 else 1.3
    bases = {
        "powers": Powers(0.7),
        "each its own": Powers(shifts),
        "Chebyshev": Chebyshev(-2, 3),
        "Jacobi": Jacobi(1, 0),
    }
    recurrence = _recurrence(bases[basis], order, max(1, width), 1, torch.float32, torch.device("cpu"))
    return [x, coefficients, recurrence], against


def same(one: tuple[Tensor, Tensor | None], other: tuple[Tensor, Tensor | None]) -> bool:
    (z, dots), (w, products) = one, other
    return torch.equal(z, w) and (dots is products is None or torch.equal(dots, products))


@settings(max_examples=300)
@given(
    st.sampled_from([1, 2, BAG - 1, BAG, BAG + 1, 2 * BAG, 300, 700]),
    st.sampled_from([1, 3, 16, 17, 40, 70]),
    st.integers(0, 4),
    st.sampled_from(["powers", "each its own", "Chebyshev", "Jacobi"]),
    st.sampled_from([0.0, 0.02]),
    st.sampled_from(PLANS),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_every_plan_has_the_same_bits(rows, width, order, basis, density, plan, shared, gradient, seed):
    M = matrix(rows, density, seed)
    arguments, against = problem(rows, width, order, basis, shared, seed)
    against = against if gradient else None
    assert same(sweep_by(plan, M, *arguments, against), sweep(M, *arguments, against))


@pytest.mark.parametrize("part_bytes", [1, 2**14, 2**17, 2**20])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_size_of_parts_changes_a_bit(part_bytes, threads, monkeypatch):
    monkeypatch.setattr(_sweep, "PART", part_bytes)
    M = matrix(1500, 0.01, 1)
    arguments, against = problem(1500, 40, 3, "Chebyshev", False, 1)
    parts = cut(M, 40, threads)
    assert len(parts) > 1
    assert same(sweep_in_parts(threads, parts, *arguments, against), sweep(M, *arguments, against))


def test_parts_are_the_matrix():
    M = matrix(1000, 0.01, 2)
    parts = cut(M, 8, 2)
    assert torch.equal(torch.cat([part.matrix.to_dense() for part in parts]), M.to_dense())
    assert [part.rows.start for part in parts] == list(range(0, 1000, BAG))
    assert parts[-1].rows.stop == 1000


@pytest.mark.parametrize("width", [0, 1, 33])
@pytest.mark.parametrize("columns", [None, 16, 256])
def test_tiles_are_all_columns(width, columns):
    tiles = Plan("columns", columns).tiles(width)
    assert [column for tile in tiles for column in range(width)[tile]] == list(range(width))
    assert all(tile.start % 16 == 0 for tile in tiles)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 5, 300])
def test_whatever_is_chosen(threads, width, monkeypatch):
    """The choice itself, timed, for a sweep that is declared large."""
    monkeypatch.setattr(_sweep, "SMALL", 0)
    monkeypatch.setattr(_sweep, "SAMPLE", 2**12)
    monkeypatch.setattr(_threads, "SHARED", 0)
    M = matrix(400, 0.02, 3)
    arguments, against = problem(400, width, 2, "powers", True, 3)
    expected = sweep(M, *arguments, against)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert same(planned_sweep(M, *arguments, against), expected)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_no_columns_are_a_small_sweep():
    M = matrix(400, 0.02, 3)
    x = torch.empty(400, 0)
    z, dots = planned_sweep(M, x, torch.ones(3, 1), [(1.0, -1.0, 0.0)] * 2, x)
    assert z.shape == (400, 0)
    assert dots.shape == (3, 0)


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, torch.enable_grad])
def test_threads_and_the_modes_of_torch(mode):
    M = matrix(700, 0.02, 4)
    arguments, _ = problem(700, 20, 3, "Jacobi", False, 4)
    with mode():
        x = arguments[0].clone()
        for share in ("columns", "rows"):
            assert same(sweep_by(Plan(share, 16, 2), M, x, *arguments[1:]), sweep(M, *arguments))


@pytest.mark.parametrize("share", ["columns", "rows"])
@pytest.mark.parametrize("direction", ["symmetrise", "keep"])
def test_gradients_of_a_sweep_in_sweep(direction, share, monkeypatch):
    """In single precision in pieces, against double precision in one."""
    monkeypatch.setattr(_sweep, "SMALL", 0)
    monkeypatch.setattr(_sweep.PLANS, "find", lambda *_: Plan(share, 16, 2))
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(500, (2, 3000), generator=generator)
    if direction == "symmetrise":
        edges = torch.cat([edges, edges.flip(0)], dim=1)
    x, g = (torch.randn(500, 40, generator=generator, dtype=torch.float64) for _ in range(2))
    c = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    results = []
    for dtype in (torch.float32, torch.float64):
        op = Operator.from_edges(edges, 500, direction=direction, dtype=dtype)
        xd, cd = (part.to(dtype, copy=True).requires_grad_() for part in (x, c))
        z = apply_polynomial(op, xd, cd, Powers(0.5))
        results.append((z, *torch.autograd.grad(z, (xd, cd), g.to(dtype))))
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-5 * float(double.detach().abs().max()))


def test_double_precision_is_one_piece(monkeypatch):
    """Where rounding would depend on the pieces."""
    monkeypatch.setattr(_sweep, "SMALL", 0)
    monkeypatch.setattr(_sweep, "sweep_by", None)
    M = matrix(50, 0.1, 5, torch.float64)
    x, c = torch.randn(50, 3, dtype=torch.float64), torch.randn(3, 1, dtype=torch.float64)
    steps = [(1.0, -0.5, 0.0)] * 2
    z, dots = planned_sweep(M, x, c, steps, x)
    P1 = M.to_dense() @ x - 0.5 * x
    P2 = M.to_dense() @ P1 - 0.5 * P1
    torch.testing.assert_close(z, c[0] * x + c[1] * P1 + c[2] * P2)
    torch.testing.assert_close(dots, torch.stack([(x * P).sum(0) for P in (x, P1, P2)]))


@pytest.mark.parametrize("rows", [1, 2, BAG, BAG + 1, BAG**2, BAG**2 + 1])
def test_column_sums(rows):
    x = torch.randn(rows, 3, generator=torch.Generator().manual_seed(rows))
    torch.testing.assert_close(column_sums(x), x.double().sum(0).float(), rtol=1e-5, atol=1e-5)
    assert torch.equal(column_sums(x)[1:2], column_sums(x[:, 1:2].contiguous()))
