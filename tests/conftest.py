"""What all tests share: graphs of hypothesis that are the same in every run, and contracts that explain failures."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

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
