"""Random bits that belong to a run: how often they keep, and what they do not depend on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from pcnet.nn import Draws
from pcnet.nn._dropout import draws_from_torch, drop

CPU = torch.device("cpu")
N = 400_000


@pytest.mark.parametrize("rate", [0.05, 0.25, 0.5, 0.9, 0.999])
def test_keep_rate_within_binomial_bounds(rate):
    kept = Draws([3], 0).keep(0, (N,), rate).mean()
    # Five standard deviations, and the rounding of the rate to 1/65,536.
    assert abs(kept - (1 - rate)) < 5 * math.sqrt(rate * (1 - rate) / N) + 1 / 65536


def test_rate_zero_keeps_everything():
    assert Draws([0], 0).keep(0, (1001,), 0.0).all()


@pytest.mark.parametrize("shape", [(1,), (2, 3), (7, 5), (64, 64), (0, 4)])
def test_shape(shape):
    keep = Draws([0], 0).keep(0, shape, 0.5)
    assert keep.shape == shape
    assert keep.dtype == np.bool_


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return abs(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def test_elements_are_independent_of_their_neighbours():
    keep = Draws([1], 2).keep(0, (N,), 0.4)
    for lag in (1, 2, 3, 4, 5, 8, 64):
        assert correlation(keep[lag:], keep[:-lag]) < 5 / math.sqrt(N)


def test_seeds_epochs_and_calls_are_independent():
    draws = Draws([0, 1, 2**31 - 1], 0)
    masks = [draws.keep(run, (N,), 0.5) for run in range(3)]
    masks += [draws.keep(0, (N,), 0.5), Draws([0], 1).keep(0, (N,), 0.5), Draws([1], 0).keep(0, (2 * N,), 0.5)[N:]]
    for a, b in itertools.combinations(masks, 2):
        assert correlation(a, b) < 5 / math.sqrt(N)


def test_a_run_draws_the_same_whoever_stands_beside_it():
    alone = Draws([7], 3)
    expected = [alone.keep(0, (10, 3), 0.5), alone.keep(0, (4,), 0.2)]
    beside = Draws([1, 7, 5], 3)
    beside.keep(0, (100,), 0.3)
    first = beside.keep(1, (10, 3), 0.5)
    beside.keep(2, (9,), 0.5)
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(beside.keep(1, (4,), 0.2), expected[1])


def test_an_epoch_does_not_depend_on_those_before():
    """A resumed training needs no generator state."""
    np.testing.assert_array_equal(Draws([7], 41).keep(0, (50,), 0.5), Draws([7], 41).keep(0, (50,), 0.5))
    assert not np.array_equal(Draws([7], 41).keep(0, (50,), 0.5), Draws([7], 42).keep(0, (50,), 0.5))


def test_torch_governs_draws_by_hand():
    def mask(seed: int) -> np.ndarray:
        torch.manual_seed(seed)
        return draws_from_torch(2, CPU).keep(1, (100,), 0.5)

    np.testing.assert_array_equal(mask(5), mask(5))
    assert not np.array_equal(mask(5), mask(6))
    torch.manual_seed(5)
    first, second = draws_from_torch(1, CPU), draws_from_torch(1, CPU)
    assert not np.array_equal(first.keep(0, (100,), 0.5), second.keep(0, (100,), 0.5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dropout_is_unbiased(dtype):
    x = torch.rand(2, 30, 4, dtype=dtype) + 0.5
    rates = (0.3, 0.8)
    mean = sum(drop(x, rates, Draws([0, 1], epoch), 0) for epoch in range(4000)) / 4000
    for run, rate in enumerate(rates):
        deviation = math.sqrt(rate / (1 - rate) / 4000)
        assert ((mean[run] / x[run] - 1).abs() < 5 * deviation).all()


def test_dropout_is_keep_over_the_rate():
    x = torch.randn(3, 20, 5, requires_grad=True)
    rates = (0.5, 0.0, 0.75)
    z = drop(x, rates, Draws([4, 5, 6], 1), 0)
    draws = Draws([4, 5, 6], 1)
    for run, rate in enumerate(rates):
        keep = torch.from_numpy(draws.keep(run, (20, 5), rate))
        assert torch.equal(z[run], x[run] * keep / (1 - rate))
    [dx] = torch.autograd.grad(z.sum(), x)
    torch.testing.assert_close(dx * x, z)


def test_no_dropout_is_no_copy():
    x = torch.randn(2, 3, 4)
    assert drop(x, (0.0, 0.0), Draws([0, 1], 0), 0) is x
