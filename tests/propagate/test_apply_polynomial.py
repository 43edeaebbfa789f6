"""Z = Σ_n c_n P_n(S) x against the same sum written out with dense matrices, and its gradients against autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.polynomial import Basis, Chebyshev, Jacobi, Powers, Recurrence
from pcnet.propagate import apply_polynomial
from strategies import NAMED, graphs, seeds

BASES: dict[str, Basis] = {
    "monomials": Powers(),
    "shifted powers": Powers(1.3),
    "Chebyshev": Chebyshev(),
    "Chebyshev on an interval": Chebyshev(-0.7, 2.4),
    "Jacobi": Jacobi(1.0, 0.5),
    "Legendre": Jacobi(0.0, 0.0),
    "a recurrence": Recurrence((0.5, 1.0, 2.0, -1.0, 0.3, 1.0), (0.0, 1.0, -0.5, 0.0, 0.2, 0.1), (0, 0, 1, 0.5, -1, 2)),
}


def dense(matrix: Tensor, x: Tensor, coefficients: Tensor, basis: Basis) -> Tensor:
    """One column block with coefficients (N+1,), by the recurrence of matrices; autograd sees every step."""
    a, b, c = (torch.from_numpy(np.array(step)).to(x) for step in basis.recurrence(len(coefficients) - 1))
    eye = torch.eye(len(matrix)).to(matrix)
    P = [eye]
    for n in range(len(a)):
        P.append((a[n] * matrix + b[n] * eye) @ P[n] - (c[n] * P[n - 1] if n else 0))
    return sum(coefficient * power @ x for coefficient, power in zip(coefficients, P, strict=True))


def operator(seed: int = 0, n: int = 12, dtype=torch.float64, direction: str = "symmetrise") -> Operator:
    edges = torch.randint(n, (2, 3 * n), generator=torch.Generator().manual_seed(seed))
    if direction == "symmetrise":
        edges = torch.cat([edges, edges.flip(0)], dim=1)
    return Operator.from_edges(edges, n, eta=0.4, dtype=dtype, direction=direction)


def randn(*shape: int, dtype=torch.float64, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()


@pytest.mark.parametrize("name", BASES)
@settings(max_examples=25)
@given(graphs(max_nodes=15), st.integers(0, 6), seeds())
def test_every_basis_on_any_graph(name, graph, order, seed):
    op = Operator.from_edges(graph.edge_index, graph.num_nodes, graph.weight, dtype=torch.float64)
    x, c = randn(graph.num_nodes, 3, seed=seed), randn(order + 1, seed=seed + 1)
    expected = dense(op.matrix.to_dense(), x, c, BASES[name])
    got = apply_polynomial(op, x, c, BASES[name])
    assert (got - expected).abs().max() <= 1e-11 * max(1.0, float(expected.detach().abs().max()))


SHAPES = {
    "one filter": ((12, 4), (6,)),
    "one for each column": ((12, 4), (4, 6)),
    "runs with one filter": ((3, 12, 4), (6,)),
    "one for each run": ((3, 12, 4), (3, 6)),
    "one for each run's columns": ((3, 12, 4), (3, 4, 6)),
    "one run": ((1, 12, 4), (1, 6)),
    "one column": ((12, 1), (1, 6)),
    "as many runs as columns": ((4, 12, 4), (4, 6)),
}


def by_column(shape_x: tuple[int, ...], c: Tensor) -> Tensor:
    """Coefficients as (R, d, N+1)."""
    if c.ndim == 1:
        return c.expand(shape_x[0] if len(shape_x) == 3 else 1, shape_x[-1], -1)
    if len(shape_x) == 2:
        return c.unsqueeze(0)
    return c if c.ndim == 3 else c.unsqueeze(1).expand(-1, shape_x[-1], -1)


@pytest.mark.parametrize("direction", ["symmetrise", "keep"])
@pytest.mark.parametrize("name", ["shifted powers", "Chebyshev on an interval", "Jacobi"])
@pytest.mark.parametrize("kind", SHAPES)
def test_every_shape_of_coefficients(kind, name, direction):
    """Values and gradients equal those of dense matrices, column by column; directed operators use their transpose."""
    op = operator(direction=direction)
    assert op.symmetric == (direction == "symmetrise")
    x, c = (randn(*shape, seed=i) for i, shape in enumerate(SHAPES[kind]))
    z = apply_polynomial(op, x, c, BASES[name])
    S, spread = op.matrix.to_dense(), by_column(x.shape, c)
    runs = x if x.ndim == 3 else x.unsqueeze(0)
    expected = torch.stack(
        [
            torch.cat([dense(S, xr[:, j : j + 1], spread[r, j], BASES[name]) for j in range(x.shape[-1])], dim=1)
            for r, xr in enumerate(runs)
        ]
    ).view_as(z)
    torch.testing.assert_close(z, expected, rtol=1e-11, atol=1e-11)
    g = randn(*z.shape, seed=9).detach()
    for ours, theirs in zip(torch.autograd.grad(z, (x, c), g), torch.autograd.grad(expected, (x, c), g), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(3, 12, 2), (12, 3)])
def test_a_basis_for_each_group(shape):
    """Three runs, or three columns, with shifts of their own."""
    op, x, c = operator(), randn(*shape), randn(3, 5, seed=1)
    shifts = (0.5, 1.0, 2.5)
    z = apply_polynomial(op, x, c, Powers(shifts))
    for group, shift in enumerate(shifts):
        part = x[group] if len(shape) == 3 else x[:, group : group + 1]
        got = z[group] if len(shape) == 3 else z[:, group : group + 1]
        expected = dense(op.matrix.to_dense(), part, c[group], Powers(shift))
        torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(lambda x, c: apply_polynomial(op, x, c, Powers(shifts)), (x, c))


@pytest.mark.parametrize("direction", ["symmetrise", "keep"])
@pytest.mark.parametrize("name", BASES)
def test_gradcheck(name, direction):
    op = operator(n=6, direction=direction)
    x, c = randn(6, 2), randn(5, seed=1)
    assert torch.autograd.gradcheck(lambda x, c: apply_polynomial(op, x, c, BASES[name]), (x, c))


@pytest.mark.parametrize("wanted", ["x", "coefficients"])
def test_only_the_gradient_that_is_asked_for(wanted):
    op, x, c = operator(), randn(12, 2), randn(4, seed=1)
    full = torch.autograd.grad(apply_polynomial(op, x, c, Powers(0.5)).sum(), (x, c))
    if wanted == "x":
        [alone] = torch.autograd.grad(apply_polynomial(op, x, c.detach(), Powers(0.5)).sum(), x)
        torch.testing.assert_close(alone, full[0])
    else:
        [alone] = torch.autograd.grad(apply_polynomial(op, x.detach(), c, Powers(0.5)).sum(), c)
        torch.testing.assert_close(alone, full[1])


@pytest.mark.parametrize("name", BASES)
def test_single_precision(name):
    x, c = randn(200, 5), randn(6, seed=1)
    results = []
    for dtype in (torch.float64, torch.float32):
        op = operator(n=200, dtype=dtype)
        xd, cd = (part.detach().to(dtype).requires_grad_() for part in (x, c))
        z = apply_polynomial(op, xd, cd, BASES[name])
        assert z.dtype == dtype
        results.append((z, *torch.autograd.grad(z.sum(), (xd, cd))))
    for exact, single in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), exact, rtol=1e-4, atol=1e-5 * float(exact.detach().abs().max()))


@pytest.mark.parametrize("name", ["shifted powers", "Chebyshev"])
def test_columns_do_not_see_each_other(name):
    """In single precision a column's output and gradients have the same bits whichever columns stand beside it."""
    op = operator(n=300, dtype=torch.float32)
    x, c, g = (randn(*shape, dtype=torch.float32, seed=i) for i, shape in enumerate([(300, 35), (35, 6), (300, 35)]))
    z = apply_polynomial(op, x, c, BASES[name])
    dx, dc = torch.autograd.grad(z, (x, c), g.detach())
    for start, stop in [(0, 1), (0, 7), (7, 14), (11, 34), (34, 35), (3, 35)]:
        xs, cs = (
            part.detach()[index].requires_grad_()
            for part, index in [(x, (slice(None), slice(start, stop))), (c, slice(start, stop))]
        )
        part = apply_polynomial(op, xs, cs, BASES[name])
        dxs, dcs = torch.autograd.grad(part, (xs, cs), g.detach()[:, start:stop])
        assert torch.equal(part, z[:, start:stop])
        assert torch.equal(dxs, dx[:, start:stop])
        assert torch.equal(dcs, dc[start:stop])


def saved_bytes(call) -> int:
    """Bytes of distinct storages that autograd keeps for the backward pass."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        call()
    return sum(kept.values())


@pytest.mark.parametrize("shape", [(500, 16), (4, 500, 8)])
def test_what_is_kept_for_backward_does_not_grow(shape):
    op, x = operator(n=500, dtype=torch.float32), randn(*shape, dtype=torch.float32)
    size = x.numel() * x.element_size()
    kept = {}
    for order in (1, 10, 40):
        c = randn(order + 1, dtype=torch.float32)
        kept[order] = saved_bytes(lambda c=c: apply_polynomial(op, x, c, Powers(1.0)))
    assert kept[10] <= 1.2 * size
    assert kept[40] - kept[1] <= 4 * 39  # the coefficients themselves
    assert kept[1] >= size


def test_differentiating_twice_is_refused_clearly():
    op, x, c = operator(), randn(12, 2), randn(4)
    [dx] = torch.autograd.grad(apply_polynomial(op, x, c, Powers()).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        dx.sum().backward()


def test_input_is_left_alone():
    """Even with P_0 = 1, where the first term is x itself."""
    for name, basis in BASES.items():
        x, c = randn(12, 3), randn(5, seed=1)
        before = x.detach().clone(), c.detach().clone()
        apply_polynomial(operator(), x, c, basis).sum().backward()
        assert torch.equal(x.detach(), before[0]), name
        assert torch.equal(c.detach(), before[1]), name


def test_order_zero_needs_no_product():
    x = randn(12, 3)
    assert torch.equal(apply_polynomial(operator(), x, torch.tensor([2.0], dtype=torch.float64), Powers(1.0)), 2 * x)


def test_runs_in_columns_come_back_without_a_copy():
    """Runs stand side by side in memory, (n, R, d), as the next propagation wants them."""
    op = operator()
    x = torch.randn(12, 3, 2, dtype=torch.float64).permute(1, 0, 2)
    z = apply_polynomial(op, x, torch.ones(2, dtype=torch.float64), Powers())
    assert z.shape == (3, 12, 2)
    assert z.stride() == x.stride()


@pytest.mark.parametrize(
    ("x", "c", "basis", "sentence"),
    [
        ((11, 2), (4,), Powers(), r"x has shape \(11, 2\); the graph needs \(12, d\)"),
        ((12, 0), (4,), Powers(), "x has no columns"),
        ((12,), (4,), Powers(), r"x has shape \(12,\)"),
        ((1, 1, 12, 2), (4,), Powers(), r"or \(R, 12, d\) for R runs"),
        ((12, 2), (3, 4), Powers(), r"Coefficients have shape \(3, 4\); this x needs \(N\+1,\), \(2, N\+1\)"),
        ((12, 2), (1, 2, 4), Powers(), r"Coefficients have shape \(1, 2, 4\)"),
        ((3, 12, 2), (2, 4), Powers(), r"this x needs \(N\+1,\), \(3, N\+1\) or \(3, 2, N\+1\)"),
        ((3, 12, 2), (3, 3, 4), Powers(), r"Coefficients have shape \(3, 3, 4\)"),
        ((12, 2), (), Powers(), r"Coefficients have shape \(\)"),
        ((12, 2), (0,), Powers(), "order must be at least 0"),
        ((3, 12, 2), (3, 4), Powers((1.0, 2.0)), "The basis has 2 groups, but x has 3"),
        ((12, 2), (4,), Powers((1.0, 2.0, 3.0)), "The basis has 3 groups, but x has 2"),
        ((12, 2), (4,), Recurrence((1,), (0,), (0,)), "1 steps, so its order cannot be 3"),
    ],
)
def test_wrong_shapes_get_a_sentence(x, c, basis, sentence):
    with pytest.raises(PcnetError, match=sentence):
        apply_polynomial(operator(), torch.ones(x, dtype=torch.float64), torch.ones(c, dtype=torch.float64), basis)


def test_no_edges_and_no_loops_leave_the_constant_term():
    graph = NAMED["no edges"]
    for dtype in (torch.float32, torch.float64):
        op = Operator.from_edges(graph.edge_index, graph.num_nodes, self_loops="keep", dtype=dtype)
        x = torch.randn(graph.num_nodes, 2, dtype=dtype, requires_grad=True)
        z = apply_polynomial(op, x, torch.tensor([3.0, 5.0, 7.0], dtype=dtype), Powers())
        assert torch.equal(z, 3 * x)
        assert torch.equal(torch.autograd.grad(z.sum(), x)[0], torch.full_like(x, 3.0))
