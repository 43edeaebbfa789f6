"""What is chosen when the times are known, and how the user's own number of threads prevails."""

from __future__ import annotations

import threading

import pytest
import torch

from pcnet.errors import PcnetError
from pcnet.propagate import _threads, available_threads, one_core, threads_setting
from pcnet.propagate._threads import CLEARLY, LINE, PIECE, WIDE, Plan, Plans, plans_for, team


class Times:
    """Seconds of a column by what is shared, less with every thread; and the plans that were asked for."""

    def __init__(self, columns: float = 1.0, rows: float = 1.0, *, gain: float = 1.0) -> None:
        self.seconds, self.gain = {"columns": columns, "rows": rows}, gain
        self.asked: list[Plan] = []

    def __call__(self, plan: Plan) -> float:
        self.asked.append(plan)
        return self.seconds[plan.share] / plan.threads**self.gain


#: Rows, entries and columns of a sweep that is worth sharing.
LARGE = (10_000, 10**7, 100)


@pytest.fixture(autouse=True)
def four(monkeypatch):
    """A machine with four processors, and a user who has said nothing."""
    monkeypatch.delenv("PCNET_THREADS", raising=False)
    monkeypatch.setattr(_threads, "available_threads", lambda: threads_setting() or 4)


@pytest.mark.parametrize(("columns", "rows", "share"), [(1.0, 2.0, "columns"), (2.0, 1.0, "rows")])
def test_the_quickest_is_chosen(columns, rows, share):
    plan = Plans().find(*LARGE, 4, Times(columns, rows))
    assert (plan.share, plan.threads) == (share, 4)


def test_all_threads_unless_fewer_are_clearly_quicker():
    """As beside busy neighbours, where one thread is about as quick as all."""
    nearly = Times(1.0, 1.01 * CLEARLY, gain=0.0)
    assert Plans().find(*LARGE, 4, nearly) == nearly.asked[0]
    assert nearly.asked[0].threads == 4
    assert Plans().find(*LARGE, 4, Times(gain=-1.0)) == plans_for(10_000, 100)[0]


def test_no_more_threads_than_processors():
    times = Times()
    assert Plans().find(*LARGE, 64, times).threads == 4
    assert {plan.threads for plan in times.asked} == {1, 2, 4}


@pytest.mark.parametrize(("sizes", "threads"), [(LARGE, 1), ((10_000, 50_000, 100), 4)])
def test_nothing_is_measured_for_one_thread_or_short_products(sizes, threads):
    times = Times()
    assert Plans().find(*sizes, threads, times) == plans_for(10_000, 100)[0]
    assert times.asked == []


def test_measured_once_for_a_matrix_and_about_as_many_columns():
    plans, times = Plans(), Times()
    first = plans.find(*LARGE, 4, times)
    asked = len(times.asked)
    # Runs that stop leave the others, and so their columns.
    assert all(plans.find(*LARGE[:2], width, 4, times) == first for width in range(64, 128))
    assert len(times.asked) == asked > 0
    plans.find(LARGE[0] + 1, *LARGE[1:], 4, times)
    assert len(times.asked) == 2 * asked


@pytest.mark.parametrize("rows", [1, 183, 2708, 20_000, 10**5, 5 * 10**5, 10**7])
@pytest.mark.parametrize("width", [1, 64, 1000])
def test_pieces_fit(rows, width):
    """One thread's columns are lines of the cache and no larger than a piece; a huge graph is cut by rows."""
    plan = plans_for(rows, width)[0]
    tile = plan.tiles(width)[0].stop
    assert plan.threads == 1
    if plan.share == "columns":
        assert plan.columns % LINE == 0
        assert 4 * rows * tile <= max(PIECE, 4 * rows * LINE)
    else:
        assert 4 * rows * LINE > PIECE
        assert tile <= 2 * WIDE


def test_the_setting_prevails(monkeypatch):
    monkeypatch.setenv("PCNET_THREADS", "3")
    assert available_threads() == 3
    times = Times(gain=-1.0)
    assert Plans().find(*LARGE, 8, times).threads == 3
    assert {plan.threads for plan in times.asked} == {3}
    # What torch is told counts as well: a worker has one core.
    assert Plans().find(*LARGE, 1, times) == plans_for(10_000, 100)[0]


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
