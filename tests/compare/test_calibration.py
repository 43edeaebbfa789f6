"""Temperatures and reliability, against their definitions and a planted answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import reliability, temperature


def drawn(scale: float, n: int = 20_000, classes: int = 4, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, and labels drawn from softmax(logits / scale): the right temperature is `scale`."""
    random = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(n, classes, generator=random)
    labels = torch.multinomial(torch.softmax(logits / scale, dim=1), 1, generator=random)[:, 0]
    return logits, labels


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
def test_a_planted_temperature_is_found(scale):
    logits, labels = drawn(scale)
    found = temperature(logits, labels)
    assert found == pytest.approx(scale, rel=0.05)
    honest = reliability(torch.softmax(logits / found, dim=1), labels)
    assert honest.error < 0.02
    if scale != 1.0:
        assert reliability(torch.softmax(logits, dim=1), labels).error > 3 * honest.error


@pytest.mark.parametrize("right", [True, False])
def test_a_few_nodes_do_not_make_certain(right):
    """Ten answers that are all right, or all wrong, allow no temperature near 0, or without bound."""
    logits = torch.tensor([[2.0, -2.0]]).expand(10, 2)
    found = temperature(logits, torch.full((10,), 0 if right else 1))
    assert 0.3 < found < 0.9 if right else 2 < found < 20


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(2, 5))
def test_reliability_is_its_definition(seed, n, classes):
    random = np.random.default_rng(seed)
    probabilities = random.dirichlet(np.ones(classes), n)
    labels = random.integers(0, classes, n)
    found = reliability(torch.from_numpy(probabilities), torch.from_numpy(labels))
    expected = 0.0
    for place in range(15):
        top = probabilities.max(1)
        inside = (top >= place / 15) & ((top < (place + 1) / 15) | (place == 14))
        assert found.count[place] == inside.sum()
        if inside.any():
            right = (probabilities.argmax(1) == labels)[inside].mean()
            expected += inside.mean() * abs(right - top[inside].mean())
    assert found.error == pytest.approx(expected)


def test_nothing_to_calibrate_on():
    with pytest.raises(PcnetError, match="no nodes to calibrate on"):
        temperature(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long))
    with pytest.raises(PcnetError, match="no nodes to compare"):
        reliability(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long))
