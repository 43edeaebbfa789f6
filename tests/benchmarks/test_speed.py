"""The benchmark measures what it says, here on a graph that takes no time."""

import json
import time

import pytest
import torch
from benchmarks.machine import Others, machine
from benchmarks.memory import ORDERS, compare_memory
from benchmarks.neighbour import compare_neighbour
from benchmarks.propagation import compare_propagation
from benchmarks.speed import main
from benchmarks.tables import show
from benchmarks.timing import Spread, fastest, per_call, take_turns, torch_threads
from benchmarks.training import WARM_UP, Clock, Enough, compare_training
from rich.console import Console

from pcnet import Graph, PCNetSettings, TrainingSettings, csbm
from pcnet.experiments import Experiment

MODEL = PCNetSettings(hidden=8, K=2, N=4, t=0.7, p=2.2, eta=0.4)
RATES = {"first": 0.01, "theta": 0.01, "second": 0.01}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return csbm(1000, seed=0)


def experiment() -> Experiment:
    training = TrainingSettings(lr=RATES, wd=RATES)
    return Experiment("cora", "table2", "random-60-20-20", (0, 1), MODEL, training)


def test_spread():
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert Spread.of_ratio([4.0, 9.0], [2.0, 3.0]) == Spread(2.5, 2.0, 3.0)
    assert str(Spread(1.5, 1.0, 2.0)) == "1.5 (1–2)"


def test_measurements_take_turns_after_a_round_that_does_not_count():
    order = []
    taken = take_turns({name: lambda name=name: order.append(name) or len(order) for name in "ab"}, 2)
    assert order == list("ababab")
    assert taken == {"a": [3, 5], "b": [4, 6]}


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


def test_machine():
    assert machine()["cores"] >= 1
    others = Others().cores()
    assert others is None or others >= 0


@pytest.mark.parametrize(
    ("section", "measure"),
    [
        ("training", lambda graph: [compare_training(graph, experiment(), 2, 1, 0.01)]),
        ("propagation", lambda graph: compare_propagation(graph, MODEL, 1, 1, 0.001)),
        ("memory", lambda graph: compare_memory(graph, MODEL)),
        ("neighbour", lambda graph: compare_neighbour(graph, experiment(), 1, 1, 0.01)),
    ],
)
def test_sections_are_plain_data_and_have_a_table(graph: Graph, section: str, measure):
    result = measure(graph)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    with (console := Console(width=120)).capture() as shown:
        show(console, section, result)
    assert "pcnet" in shown.get() or "worker" in shown.get()


def test_memory_is_flat_for_the_library_alone(graph: Graph):
    kept = compare_memory(graph, MODEL)["kept"]
    assert kept["pcnet"][-1] < 1.2
    assert kept["torch.sparse.mm"][-1] > ORDERS[-1]


@pytest.mark.slow
def test_the_command_writes_its_results(tmp_path):
    main(["--quick", "--datasets", "citeseer", "--json", str(tmp_path / "speed.json")])
    report = json.loads((tmp_path / "speed.json").read_text())
    assert {"command", "date", "machine", "versions", "sections"} <= set(report)
    assert report["sections"]["training"][0]["ratio"]["median"] > 1
