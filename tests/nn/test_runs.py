"""Runs side by side: stacked, selected, taken out again."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from pcnet.data import csbm
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.nn import Draws, PCConv, PCNet, PCNetSettings, Perceptron, RunModule

GRAPH = csbm(150, 0.5, classes=7, features=33, average_degree=40, seed=1)
SPARSE = CSR.from_torch(GRAPH.x.relu().to_sparse())
OPERATOR = Operator.from_graph(GRAPH)

#: Other K, N, t, p, θ and dropout in every run.
SETTINGS = [
    PCNetSettings(hidden=16, K=2 + i % 3, N=4 + i, t=0.2 + 0.3 * i, p=2 + 0.4 * i, init=0.5 + i, **drops)
    for i, drops in enumerate(
        [
            {},
            {"drop_in": 0.3, "drop_hidden": 0.5},
            {"drop_prop": 0.4},
            {"drop_in": 0.1, "drop_hidden": 0.2, "drop_prop": 0.3},
        ]
    )
]


def models(**more) -> list[PCNet]:
    built = [PCNetSettings(**(vars(settings) | more)).build(33, 7, seed) for seed, settings in enumerate(SETTINGS)]
    for seed, model in enumerate(built):
        nn.init.normal_(model.conv.theta, generator=torch.Generator().manual_seed(seed))
    return built


def equal(a: nn.Module, b: nn.Module) -> bool:
    """Same names, shapes, bits, and the same per-run settings."""
    mine, theirs = a.state_dict(), b.state_dict()
    same = mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)
    parts = zip(a.modules(), b.modules(), strict=True)
    return same and all(
        one.runs == two.runs and all(getattr(one, name) == getattr(two, name) for name in one.per_run)
        for one, two in parts
        if isinstance(one, RunModule)
    )


def test_stacked_and_taken_out_again():
    singles = models()
    stacked = PCNet.stack(singles)
    assert stacked.runs == 4
    assert {parameter.shape[0] for parameter in stacked.parameters()} == {4}
    for run, single in enumerate(singles):
        assert equal(stacked.one(run), single)


def test_selected():
    singles = models()
    stacked = PCNet.stack(singles)
    some = stacked.select([2, 0])
    assert some.runs == 2
    assert equal(some.one(0), singles[2])
    assert equal(some.one(1), singles[0])
    assert equal(some.select([1]).one(0), singles[0])
    assert equal(stacked.select([0, 1, 2, 3]), stacked)


def test_what_is_taken_is_a_copy():
    singles = models()
    stacked = PCNet.stack(singles)
    one, some = stacked.one(1), stacked.select([1])
    for parameter in stacked.parameters():
        nn.init.zeros_(parameter)
    assert equal(one, singles[1])
    assert equal(some.one(0), singles[1])


def test_shorter_thetas_are_padded_with_zeros():
    stacked = PCConv.stack([PCConv(1, 4, 0.5), PCConv(3, 4, 0.5)])
    assert stacked.theta.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert stacked.one(0).theta.shape == (2,)


def test_padding_learns_nothing():
    stacked = PCNet.stack(models())
    stacked(GRAPH.x, OPERATOR).square().sum().backward()
    for run, settings in enumerate(SETTINGS):
        assert (stacked.conv.theta.grad[run, settings.K + 1 :] == 0).all()
        assert (stacked.conv.theta.grad[run, : settings.K + 1] != 0).all()


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("hidden", [16, 5, 13, None])
@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("x", [GRAPH.x, SPARSE], ids=["dense", "sparse"])
def test_loop_equals_stack_to_the_bit(mode, hidden, activation, x):
    """Training output, all gradients and evaluation of every run, beside the others and alone."""
    singles = models(mode=mode, hidden=hidden, activation=activation)
    stacked = PCNet.stack(singles)

    def step(model: PCNet, seeds: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        model.draws = Draws(seeds, 11)
        z = model.train()(x, OPERATOR)
        z.square().sum().backward()
        with torch.no_grad():
            return z.detach(), model.eval()(x, OPERATOR)

    together = step(stacked, [0, 1, 2, 3])
    for run, single in enumerate(singles):
        beside_none = PCNet.stack([single])
        first, second = step(single, [run]), step(beside_none, [run])
        for many, one, alone in zip(together, first, second, strict=True):
            assert torch.equal(many[run], one)
            assert torch.equal(many[run], alone[0])
        for many, one, alone in zip(*(m.parameters() for m in (stacked, single, beside_none)), strict=True):
            inside = tuple(slice(size) for size in one.shape)
            assert torch.equal(many.grad[run][inside], alone.grad[0])
            torch.testing.assert_close(one.grad, alone.grad[0])


def test_responses_of_a_stack():
    singles = [model.conv for model in models()]
    stacked = PCConv.stack(singles)
    for run, single in enumerate(singles):
        assert stacked.response([0.1, 1.7])[run].tolist() == single.response([0.1, 1.7]).tolist()


def test_groups_of_parameters_cover_all():
    for hidden, names in ((16, {"theta", "first", "second"}), (None, {"theta", "first"})):
        model = PCNet(33, hidden, 7)
        groups = model.parameter_groups()
        assert {*groups} == names == {*PCNetSettings(hidden=hidden).groups}
        assert sorted(map(id, model.parameters())) == sorted(id(p) for group in groups.values() for p in group)


def test_a_stack_is_not_stacked_again():
    stacked = Perceptron.stack([Perceptron([3, 2])] * 2)
    with pytest.raises(PcnetError, match=r"Only single modules can be stacked; take the runs out with one\(\) first"):
        Perceptron.stack([stacked])


@pytest.mark.parametrize("take", [lambda m: m.one(0), lambda m: m.select([0])])
def test_a_single_run_has_no_runs(take):
    with pytest.raises(PcnetError, match="This module is a single run already"):
        take(Perceptron([3, 2]))


STACKS = {
    "eta": partial(PCConv.stack, [PCConv(2, 4, 0.5, eta=0.3), PCConv(2, 4, 0.5, eta=0.7)]),
    "mode": partial(PCConv.stack, [PCConv(2, 4, 0.5), PCConv(2, 4, 0.5, mode="limit")]),
    "activation": partial(Perceptron.stack, [Perceptron([3, 2, 2]), Perceptron([3, 2, 2], activation="relu")]),
    "widths": partial(Perceptron.stack, [Perceptron([3, 4, 2]), Perceptron([3, 5, 2])]),
}


@pytest.mark.parametrize("case", STACKS)
def test_modules_that_differ_in_what_must_agree_are_not_stacked(case):
    with pytest.raises(PcnetError):
        STACKS[case]()
