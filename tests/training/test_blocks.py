"""Any number of runs: blocks of bounded size, one outcome at a time, and the same bits as ever."""

from __future__ import annotations

import math
import threading
import weakref
from dataclasses import replace

import pytest
import torch

from pcnet import PCNetSettings, TrainingSettings, train
from pcnet.training import _division, largest_block, train_each
from pcnet.training._block import initial_weights, side_by_side, with_weights
from pcnet.training._division import divide

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
CPU = torch.device("cpu")


@pytest.fixture
def mixed(varied):
    """Each settings with several seeds and splits, each seed with several settings, of two kinds."""
    runs = [replace(run, seed=seed, targets=other.targets) for run in varied for seed, other in enumerate(varied[:3])]
    return [
        replace(run, model=replace(run.model, eta=0.4)) if place % 4 == 0 else run for place, run in enumerate(runs)
    ]


@pytest.mark.parametrize("hidden", [8, None])
def test_initial_weights_are_those_of_each_run_by_itself(mixed, hidden):
    training = TrainingSettings()
    runs = [replace(run, model=replace(run.model, hidden=hidden, eta=0.5), training=training) for run in mixed]
    models = side_by_side(runs, 16, 3)
    stacked = with_weights(models, initial_weights(models, runs, 16, 3))
    for place, run in enumerate(runs):
        alone, taken = run.model.build(16, 3, run.seed), stacked.one(place)
        assert taken.conv.filters == alone.conv.filters
        assert taken.transform.rates == alone.transform.rates
        assert taken.of_runs == alone.of_runs
        weights, others = alone.state_dict(), taken.state_dict()
        assert weights.keys() == others.keys()
        for name in weights:
            assert torch.equal(weights[name], others[name]), name


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("threads", [1, 2])
def test_no_size_of_blocks_changes_a_bit(dense, mixed, same, monkeypatch, size, threads):
    expected = train(dense, mixed, threads=1)
    monkeypatch.setattr(_division, "HOST_RUNS", size)
    assert all(map(same, train(dense, mixed, threads=threads), expected))


@pytest.mark.parametrize(("size", "workers"), [(1, 1), (3, 1), (4, 2), (5, 3), (100, 2), (100, 1)])
def test_blocks_are_full_bounded_and_of_one_kind(dense, mixed, monkeypatch, size, workers):
    monkeypatch.setattr(_division, "HOST_RUNS", size)
    plan = divide(dense, mixed, CPU, workers)
    assert sorted(run for block in plan for run in block) == list(range(len(mixed)))
    for block in plan:
        assert len(block) <= size
        assert len({mixed[run].model.batch_key for run in block}) == 1
    kinds = [mixed[block[0]].model.batch_key for block in plan]
    for kind in set(kinds):
        sizes = [len(block) for block, own in zip(plan, kinds, strict=True) if own == kind]
        # As few as size and workers allow, and even.
        assert len(sizes) == max(min(workers, sum(sizes)), -(-sum(sizes) // size))
        assert max(sizes) - min(sizes) <= 1


def test_blocks_fit_into_memory(dense, varied, monkeypatch):
    run = varied[0]
    monkeypatch.setattr(_division, "free_bytes", lambda device: 0.0)
    assert largest_block(dense, run) == 1
    monkeypatch.setattr(_division, "free_bytes", lambda device: math.inf)
    assert largest_block(dense, run) == _division.HOST_RUNS
    assert largest_block(dense, run, device="cuda") == _division.DEVICE_RUNS
    monkeypatch.setattr(_division, "free_bytes", lambda device: 1e8)
    sizes = [
        largest_block(dense, replace(run, model=replace(run.model, hidden=hidden)), device="cuda")
        for hidden in (8, 64, 640)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert 1 <= sizes[-1] < sizes[0] <= _division.DEVICE_RUNS
    # Two at a time have half of it each.
    half, whole = (largest_block(dense, replace(run, model=PCNetSettings(hidden=999)), workers=w) for w in (2, 1))
    assert half <= whole // 2 + 1


def test_what_is_collected_is_what_train_returns(dense, mixed, same, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 4)
    collected = train_each(dense, mixed, collect=lambda index, outcome: (index, outcome), threads=2)
    assert [index for index, _ in collected] == list(range(len(mixed)))
    assert all(map(same, [outcome for _, outcome in collected], train(dense, mixed, threads=1)))


def test_collecting_is_done_one_at_a_time_and_block_by_block(dense, mixed, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 4)
    alive: list[weakref.ref] = []
    most, inside = 0, threading.Lock()

    def collect(index, outcome):
        nonlocal most
        assert inside.acquire(blocking=False)
        alive.append(weakref.ref(outcome))
        most = max(most, sum(reference() is not None for reference in alive))
        inside.release()
        return outcome.best_epoch

    epochs = train_each(dense, mixed, collect=collect, threads=1)
    assert epochs == [outcome.best_epoch for outcome in train(dense, mixed)]
    assert len(alive) == len(mixed)
    # The one at hand; none of those before.
    assert most == 1


def test_a_model_is_made_when_it_is_asked_for(dense, varied, monkeypatch):
    made = []
    monkeypatch.setattr(
        "pcnet.training._block._single", lambda run, *_: made.append(run) or PCNetSettings().build(1, 1)
    )
    train_each(dense, varied, collect=lambda index, outcome: outcome.epochs)
    assert made == []
    models = train_each(dense, varied, collect=lambda index, outcome: outcome.model if index == 2 else None, threads=1)
    assert made == [varied[2]]
    assert [model is None for model in models] == [index != 2 for index in range(len(varied))]


def test_a_complaint_ends_the_training(dense, mixed, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 2)
    seen = []

    def collect(index, outcome):
        seen.append(index)
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        train_each(dense, mixed, collect=collect, threads=1)
    # What was still waiting is not trained first.
    assert len(seen) <= 2
