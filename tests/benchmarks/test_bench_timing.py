"""Clocks, and the machine they tick on."""

import time

import pytest
import torch
from benchmarks.timing import Others, Spread, complaint, fastest, per_call, take_turns, torch_threads
from benchmarks.training import WARM_UP, Clock, Enough

from pcnet._machine import free_bytes


def test_spread():
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert Spread.of_ratio([4.0, 9.0], [2.0, 3.0]) == Spread(2.5, 2.0, 3.0)
    assert str(Spread(1.5, 1.0, 2.0)) == "1.5 (1–2)"
    assert str(Spread(1234.5, 999.4, 20_000)) == "1234 (999–20000)"


def test_measurements_take_turns_after_a_round_that_does_not_count():
    order = []
    taken = take_turns({name: lambda name=name: order.append(name) or len(order) for name in "ab"}, 2)
    assert order == list("ababab")
    assert taken == {"a": [3, 5], "b": [4, 6]}


def test_a_warm_up_of_several_rounds_or_none():
    calls = iter(range(10))
    assert take_turns({"a": lambda: next(calls)}, 2, warm_up=0) == {"a": [0, 1]}
    assert take_turns({"a": lambda: next(calls)}, 2, warm_up=3) == {"a": [5, 6]}


def test_a_long_call_is_made_once():
    calls = []
    per_call(lambda: calls.append(time.sleep(0.003)), 0.001, 1)
    assert len(calls) == 1
    per_call(lambda: calls.append(None), 1e-9, 1)
    assert len(calls) >= 2


def test_per_call_and_fastest():
    before = torch.get_num_threads()
    assert 2 <= per_call(lambda: time.sleep(0.002), 0.01, 1) < 20
    assert fastest({1: [5.0, 6.0], 2: [4.0, 9.0, 4.5]}) == (2, [4.0, 9.0, 4.5])
    with torch_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_clock_ends_a_training_and_leaves_the_warm_up_out(monkeypatch: pytest.MonkeyPatch):
    now = iter([0.0, 5.0, 6.0, 10.0, 11.0, 12.0, 13.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    clock = Clock(seconds=2.5)
    for _ in range(6):
        clock.advance(2)
    with pytest.raises(Enough):
        clock.advance(2)
    assert WARM_UP == 3
    assert clock.milliseconds == pytest.approx(500)


def test_who_else_computes():
    assert free_bytes() > 2**20
    others = Others().cores()
    assert others is None or others >= 0
    assert complaint(None) == complaint(0.1) == ""
    assert complaint(1.5) == "Other processes kept 1.5 cores busy meanwhile; repeat this."
