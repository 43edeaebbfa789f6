"""What is chosen when the times are known, and how the user's own number of threads prevails."""

from __future__ import annotations

import threading

import pytest
import torch

from pcnet.errors import PcnetError
from pcnet.propagate import available_threads
from pcnet.propagate._plan import CLEARLY, TILES, Plan, Plans
from pcnet.propagate._threads import one_core, team


class Times(dict):
    """Seconds of a column by plan, and the plans that were asked for."""

    def __init__(self, columns: dict[int | None, float], by_thread: float = 1.0) -> None:
        self.columns, self.by_thread, self.asked = columns, by_thread, []

    def __call__(self, plan: Plan) -> float:
        self.asked.append(plan)
        return self.columns.get(plan.columns, 1.0) / plan.threads**self.by_thread


@pytest.fixture(autouse=True)
def no_setting(monkeypatch):
    monkeypatch.delenv("PCNET_THREADS", raising=False)


@pytest.fixture
def four(monkeypatch):
    monkeypatch.setattr("pcnet.propagate._plan.available_threads", lambda: 4)


def test_the_quickest_columns_and_threads(four):
    assert Plans().find(10, 100, 64, 4, Times({16: 0.9, 32: 0.5})) == Plan(4, 32)


def test_a_simpler_plan_unless_another_is_clearly_quicker(four):
    times = Times({16: 1.01 * CLEARLY, 32: 1.01 * CLEARLY}, by_thread=0.1)
    assert Plans().find(10, 100, 64, 4, times) == Plan(1, None)


def test_threads_that_do_not_pay_are_not_used(four):
    assert Plans().find(10, 100, 8, 4, Times({}, by_thread=-1.0)) == Plan(1, None)


def test_a_worker_with_one_thread_keeps_to_it(four):
    assert Plans().find(10, 100, 64, 1, Times({32: 0.1})) == Plan(1, 32)


def test_no_more_threads_than_processors(four):
    assert Plans().find(10, 100, 64, 64, Times({})).threads == 4


def test_very_many_columns_are_never_taken_at_once():
    times = Times({None: 0.01})
    assert Plans().find(10, 100, 1000, 1, times).columns == TILES[0]
    assert all(plan.columns is not None for plan in times.asked)


def test_measured_once_for_a_matrix_and_about_as_many_columns(four):
    plans, times = Plans(), Times({})
    first = plans.find(10, 100, 100, 4, times)
    asked = len(times.asked)
    # Runs that stop leave the others, and so their columns.
    assert all(plans.find(10, 100, width, 4, times) == first for width in range(64, 128))
    assert len(times.asked) == asked > 0
    plans.find(11, 100, 100, 4, times)
    assert len(times.asked) == 2 * asked


def test_the_setting_prevails(four, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("PCNET_THREADS", "3")
    assert available_threads() == 3
    times = Times({}, by_thread=-1.0)
    assert Plans().find(10, 100, 8, 8, times) == Plan(3, None)
    assert times.asked == []
    # What torch is told is kept as well: a worker has one core.
    assert Plans().find(10, 100, 8, 1, times) == Plan(1, None)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_setting_that_makes_no_sense(text, monkeypatch):
    monkeypatch.setenv("PCNET_THREADS", text)
    with pytest.raises(PcnetError, match="PCNET_THREADS must be a whole number of at least 1"):
        available_threads()


def test_an_empty_setting_is_none(monkeypatch):
    monkeypatch.setenv("PCNET_THREADS", " ")
    assert available_threads() >= 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_team_does_every_item_once(threads):
    done, seen = [], set()

    def work(item: int) -> None:
        done.append(item)
        seen.add((threading.get_ident(), torch.get_num_threads()))

    with one_core(), team(threads) as each:
        each(work, range(100))
        each(work, range(100, 200))
    assert sorted(done) == list(range(200))
    assert {number for _, number in seen} == {1}
    assert len(seen) <= threads


@pytest.mark.parametrize("threads", [1, 3])
def test_what_fails_in_a_team_is_heard_of(threads):
    def work(item: int) -> None:
        if item == 7:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"), team(threads) as each:
        each(work, range(100))


def test_one_core_gives_back_what_it_took():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with one_core() as threads:
            assert (threads, torch.get_num_threads()) == (2, 1)
        assert torch.get_num_threads() == 2
        with pytest.raises(ValueError, match="x"), one_core():
            raise ValueError("x")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
