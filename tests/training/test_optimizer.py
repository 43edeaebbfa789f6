"""The optimiser of many runs is torch's own, with rates for each run and group."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from pcnet import TrainingSettings
from pcnet.training._optimizer import RunOptimizer

SETTINGS = [
    TrainingSettings(lr={"all": 0.1}, wd={"all": 0.0}),
    TrainingSettings(lr={"a": 0.01, "b": 0.3}, wd={"a": 0.5, "all": 0.02}),
    TrainingSettings(lr={"a": 0.02, "all": 0.2}, wd={"all": 0.1}, optimizer="adamw"),
    TrainingSettings(lr={"all": 0.05, "b": 0.0}, wd={"a": 0.0, "b": 0.3}, optimizer="adamw"),
    TrainingSettings(lr={"a": 0.03, "all": 0.002}, wd={"a": 0.4, "all": 0.0}, optimizer="sgd"),
]
COUNT = len(SETTINGS)


def reference(settings: TrainingSettings, groups: dict[str, list[nn.Parameter]]) -> torch.optim.Optimizer:
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[settings.optimizer]
    rates = [
        {
            "params": members,
            "lr": settings.lr.get(name, settings.lr.get("all")),
            "weight_decay": settings.wd.get(name, settings.wd.get("all")),
        }
        for name, members in groups.items()
    ]
    return kind(rates, foreach=False)


def loss(groups: dict[str, list[torch.Tensor]], target: torch.Tensor) -> torch.Tensor:
    (w, bias), (v,) = groups["a"], groups["b"]
    return (((w.tanh() @ v) + bias.sum() - target) ** 2).sum()


@pytest.mark.parametrize("steps", [1, 2, 30])
def test_every_run_follows_torch(steps):
    torch.manual_seed(0)
    first, bias, second = torch.randn(COUNT, 5, 3), torch.randn(COUNT, 2), torch.randn(COUNT, 3)
    groups = {
        "a": [nn.Parameter(first.clone()), nn.Parameter(bias.clone())],
        "b": [nn.Parameter(second.clone())],
    }
    ours = RunOptimizer(groups, SETTINGS)
    singles = [
        {
            "a": [nn.Parameter(first[run].clone()), nn.Parameter(bias[run].clone())],
            "b": [nn.Parameter(second[run].clone())],
        }
        for run in range(COUNT)
    ]
    theirs = [reference(settings, single) for settings, single in zip(SETTINGS, singles, strict=True)]
    for step in range(steps):
        target = torch.randn(5, generator=torch.Generator().manual_seed(step))
        total = sum(
            loss({name: [p[run] for p in members] for name, members in groups.items()}, target) for run in range(COUNT)
        )
        total.backward()
        ours.step()
        for optimizer, single in zip(theirs, singles, strict=True):
            optimizer.zero_grad()
            loss(single, target).backward()
            optimizer.step()
    for run, single in enumerate(singles):
        for name, members in groups.items():
            for stacked, one in zip(members, single[name], strict=True):
                torch.testing.assert_close(stacked.detach()[run], one.detach(), rtol=2e-5, atol=2e-6)
    # A rate of zero moves nothing, decay or not; every other parameter has moved.
    assert torch.equal(groups["b"][0].detach()[3], second[3])
    assert not torch.equal(groups["b"][0].detach()[2], second[2])


def test_gradients_are_dropped_and_missing_ones_are_zero():
    groups = {"a": [nn.Parameter(torch.ones(1, 2))], "b": [nn.Parameter(torch.ones(1, 2))]}
    optimizer = RunOptimizer(groups, [TrainingSettings(lr={"all": 0.1}, wd={"all": 0.0})])
    groups["a"][0].sum().backward()
    optimizer.step()
    assert all(p.grad is None for members in groups.values() for p in members)
    torch.testing.assert_close(groups["a"][0].detach(), torch.full((1, 2), 0.9))
    assert torch.equal(groups["b"][0].detach(), torch.ones(1, 2))


def test_adopting_some_runs_continues_them_to_the_bit():
    torch.manual_seed(3)
    start, pulls = torch.randn(COUNT, 6), torch.randn(9, COUNT, 6)

    def follow(optimizer: RunOptimizer, parameter: nn.Parameter, pulls: torch.Tensor) -> None:
        for pull in pulls:
            parameter.grad = pull.clone()
            optimizer.step()

    whole = nn.Parameter(start.clone())
    reference = RunOptimizer({"a": [whole]}, SETTINGS)
    follow(reference, whole, pulls[:5])
    kept = [1, 3, 4]
    part = nn.Parameter(whole.detach()[kept].clone())
    rest = RunOptimizer({"a": [part]}, [SETTINGS[run] for run in kept])
    rest.adopt(reference.tensors(kept))
    follow(reference, whole, pulls[5:])
    follow(rest, part, pulls[5:, kept])
    assert torch.equal(part.detach(), whole.detach()[kept])
