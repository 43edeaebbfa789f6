"""What all tests share: random graphs that are the same in every run, and contracts that explain their failures."""

from __future__ import annotations

import signal

import pytest
import torch
from hypothesis import HealthCheck, settings

# As the trainer does: workers side by side have one core each, and a run's bits are promised for that.
torch.set_num_threads(1)

# A runner in the background ignores Ctrl-C and hands that down to every process that tests want to interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest.register_assert_rewrite("contracts.filter_contract", "contracts.model_contract")

settings.register_profile(
    "pcnet",
    deadline=None,
    derandomize=True,
    # A contract's tests are inherited, so the same test runs in several classes.
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)
settings.load_profile("pcnet")


@pytest.fixture(autouse=True)
def seeded() -> None:
    """A test that draws numbers draws the same ones alone, in any order and on any worker."""
    torch.manual_seed(0)
