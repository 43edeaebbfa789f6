"""What tests and the examples in docstrings share: one core, seeded draws, and names that examples take for granted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pcnet

# As the trainer does: workers side by side have one core each, and a run's bits are promised for that.
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """A test that draws numbers draws the same ones alone, in any order and on any worker."""
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def imported(doctest_namespace: dict[str, Any]) -> None:
    """Examples begin after `import pcnet, torch` and `import numpy as np`."""
    doctest_namespace.update(pcnet=pcnet, torch=torch, np=np)
