"""Θ(X) against torch's own layers, with dense and sparse features, with and without dropout."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pcnet.graph import CSR
from pcnet.nn import Draws, Perceptron

WIDTHS = {1: [12, 3], 2: [12, 8, 3], 3: [12, 8, 6, 3]}
ACTIVATIONS = [None, "relu", "elu"]


def features(n: int = 20, width: int = 12, dtype=torch.float64, seed: int = 0) -> Tensor:
    """Mostly zeros; an empty row and an empty column too."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, width, generator=generator, dtype=torch.float64)
    x = x * (torch.rand(n, width, generator=generator) < 0.4)
    x[4], x[:, 5] = 0, 0
    return x.to(dtype)


def model(depth: int, activation=None, rates=(0.0, 0.0, 0.0), dtype=torch.float64, seed: int = 0) -> Perceptron:
    result = Perceptron(WIDTHS[depth], rates[:depth], activation).to(dtype)
    result.reset_parameters(torch.Generator().manual_seed(seed))
    return result


def reference(perceptron: Perceptron, x: Tensor, draws: Draws | None = None, sparse: Tensor | None = None) -> Tensor:
    """The same with torch's operations, in training mode; the masks are asked of `draws` in the order of the layers."""
    h = x
    depth = len(perceptron.weights)
    for layer, (weight, bias) in enumerate(zip(perceptron.weights, perceptron.biases, strict=True)):
        rate = perceptron.rates[0][layer]
        if rate and draws is not None:
            if layer == 0 and sparse is not None:
                mask = torch.zeros_like(x)
                stored = sparse != 0
                mask[stored] = torch.from_numpy(draws.keep(0, (int(stored.sum()),), rate)).to(x.dtype)
            else:
                mask = torch.from_numpy(draws.keep(0, tuple(h.shape), rate)).to(x.dtype)
            h = h * mask / (1 - rate)
        h = torch.nn.functional.linear(h, weight.t(), bias)
        if perceptron.activation and layer < depth - 1:
            h = getattr(torch.nn.functional, perceptron.activation)(h)
    return h


def gradients(perceptron: Perceptron, z: Tensor) -> list[Tensor]:
    g = torch.randn(z.shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64).to(z.dtype)
    return list(torch.autograd.grad(z, list(perceptron.parameters()), g))


@pytest.mark.parametrize("rates", [(0.0, 0.0, 0.0), (0.3, 0.5, 0.2), (0.0, 0.6, 0.0), (0.4, 0.0, 0.1)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("depth", WIDTHS)
@pytest.mark.parametrize("sparse", [False, True])
def test_equals_torch(depth, activation, rates, sparse):
    """Outputs and every gradient, with the very same bits dropped."""
    perceptron, x = model(depth, activation, rates), features()
    given = CSR.from_torch(x.to_sparse()) if sparse else x
    z = perceptron(given, Draws([3], 5))
    expected = reference(perceptron, x, Draws([3], 5), x if sparse else None)
    torch.testing.assert_close(z, expected, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(gradients(perceptron, z), gradients(perceptron, expected), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.3, 0.5)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_of_dense_features(activation, rates):
    perceptron, x = model(2, activation, rates), features().requires_grad_()
    z, expected = perceptron(x, Draws([3], 5)), reference(perceptron, x, Draws([3], 5))
    g = torch.randn(z.shape, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad(out, x, g)[0] for out in (z, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("depth", WIDTHS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sparse", [False, True])
def test_gradcheck(depth, activation, sparse):
    perceptron, x = model(depth, activation, (0.2, 0.3, 0.1)), features(n=6)
    names, parameters = zip(*perceptron.named_parameters(), strict=True)
    given = CSR.from_torch(x.to_sparse()) if sparse else x.requires_grad_()

    def call(*values: Tensor) -> Tensor:
        values, features = (values[:-1], values[-1]) if not sparse else (values, given)
        replaced = dict(zip(names, values, strict=True))
        return torch.func.functional_call(perceptron, replaced, (features, Draws([1], 0)))

    assert torch.autograd.gradcheck(call, (*parameters, *([] if sparse else [given])))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dense_and_sparse_features_agree(activation, dtype):
    perceptron, x = model(2, activation, dtype=dtype), features(dtype=dtype)
    csr = CSR.from_torch(x.to_sparse())
    for training in (True, False):
        perceptron.train(training)
        dense, sparse = perceptron(x), perceptron(csr)
        torch.testing.assert_close(dense, sparse)
        for ours, theirs in zip(gradients(perceptron, dense), gradients(perceptron, sparse), strict=True):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("depth", WIDTHS)
@pytest.mark.parametrize("runs", [None, 3])
def test_evaluation_collapses_to_the_same_numbers(depth, activation, sparse, runs):
    """Without gradients and ReLU the layers are one matrix; dropout is off either way."""
    x = features()
    given = CSR.from_torch(x.to_sparse()) if sparse else x
    singles = [model(depth, activation, (0.5, 0.5, 0.5), seed=seed) for seed in range(runs or 1)]
    perceptron = (Perceptron.stack(singles) if runs else singles[0]).eval()
    with torch.no_grad():
        collapsed = perceptron(given)
    layered = perceptron(given)
    torch.testing.assert_close(collapsed, layered.detach(), rtol=1e-12, atol=1e-12)
    for run, single in enumerate(singles):
        torch.testing.assert_close(layered[run] if runs else layered, reference(single, x))


def test_dropout_only_while_training():
    perceptron, x = model(2, rates=(0.5, 0.5)), features()
    assert not torch.equal(perceptron(x), perceptron(x))
    perceptron.eval()
    assert torch.equal(perceptron(x), perceptron(x))


def test_torch_seed_governs_dropout_by_hand():
    perceptron, x = model(2, rates=(0.5, 0.5)), features()
    torch.manual_seed(1)
    first = perceptron(x)
    torch.manual_seed(1)
    assert torch.equal(perceptron(x), first)


def test_features_are_left_alone():
    x = features()
    csr = CSR.from_torch(x.to_sparse())
    before = x.clone(), csr.values.clone()
    for activation in ACTIVATIONS:
        perceptron = model(2, activation, (0.5, 0.5))
        for given in (x, csr):
            perceptron(given).sum().backward()
    assert torch.equal(x, before[0])
    assert torch.equal(csr.values, before[1])


@pytest.mark.parametrize("activation", ["relu", "elu"])
def test_a_stacked_perceptron_equals_its_runs_to_the_bit(activation):
    x = features(n=150, dtype=torch.float32)
    singles = [model(2, activation, (0.1 * seed, 0.5), torch.float32, seed) for seed in range(4)]
    stacked = Perceptron.stack(singles)
    for given in (x, CSR.from_torch(x.to_sparse())):
        z = stacked(given, Draws(range(4), 2))
        assert z.shape == (4, 150, 3)
        z.square().sum().backward()
        for run, single in enumerate(singles):
            out = single(given, Draws([run], 2))
            assert torch.equal(out, z[run])
            out.square().sum().backward()
            for many, one in zip(stacked.parameters(), single.parameters(), strict=True):
                assert torch.equal(many.grad[run], one.grad)
                one.grad = None
        stacked.zero_grad()


def test_initial_weights_are_those_of_linear():
    perceptron = Perceptron([400, 300, 7])
    for weight, bias, width in zip(perceptron.weights, perceptron.biases, (400, 300), strict=True):
        bound = width**-0.5
        assert weight.abs().max() <= bound
        assert bias.abs().max() <= bound
        assert float(weight.detach().std()) == pytest.approx(bound / 3**0.5, rel=0.05)
        assert abs(float(weight.detach().mean())) < bound / 20


def test_reset_is_seeded():
    def weights(seed: int) -> list[Tensor]:
        return [parameter.clone() for parameter in model(2, seed=seed).parameters()]

    assert all(torch.equal(a, b) for a, b in zip(weights(1), weights(1), strict=True))
    assert not torch.equal(weights(1)[0], weights(2)[0])
