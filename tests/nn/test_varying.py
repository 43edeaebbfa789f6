"""Layered methods side by side, with settings of their own as on a GPU: every run computes what it would alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from pcnet.data import csbm
from pcnet.nn import EGNNSettings, GCNIISettings, Model, ModelSettings, PDEGCNSettings

OTHER: dict[str, float] = {"alpha": 0.7, "lam": 2.0, "h": 0.2, "c_min": 0.9}
KINDS: list[Any] = [
    GCNIISettings(hidden=8, layers=3),
    GCNIISettings(hidden=8, layers=3, variant=True),
    GCNIISettings(hidden=8, layers=3, variant=True, formula="paper"),
    *(PDEGCNSettings(hidden=8, layers=3, equation=equation) for equation in ("diffusion", "wave", "mixed")),
    EGNNSettings(hidden=8, layers=3),
]


def gradients(model: Model, logits: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(logits.square().sum(), list(model.parameters()), allow_unused=True))


@pytest.mark.parametrize("settings", KINDS, ids=lambda kind: f"{kind.method}-{getattr(kind, 'equation', '')}")
def test_logits_and_gradients_of_each_run(settings: ModelSettings):
    graph = csbm(n=40, phi=0.5, classes=3, features=10, seed=0)
    assert settings.varying
    kinds = [settings, *(replace(settings, **{name: OTHER[name]}) for name in settings.varying)]
    assert len({kind.batch_key for kind in kinds}) == 1
    singles = [kind.build(10, 3, seed=seed).double().eval() for seed, kind in enumerate(kinds)]
    x, operator = graph.x.double(), settings.operator(graph).to(torch.float64)
    together = type(singles[0]).stack(singles)
    logits = together(x, operator)
    beside = gradients(together, logits)
    for run, single in enumerate(singles):
        alone = single(x, operator)
        torch.testing.assert_close(logits[run], alone, rtol=1e-10, atol=1e-12)
        for found, expected in zip(beside, gradients(single, alone), strict=True):
            torch.testing.assert_close(found[run], expected, rtol=1e-8, atol=1e-10)
    # The settings matter: the same weights compute something else with them.
    same = [kind.build(10, 3, seed=0).double().eval()(x, operator) for kind in kinds]
    assert all(not torch.allclose(other, same[0]) for other in same[1:])
