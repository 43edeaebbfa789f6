"""The benchmark measures what it says, here on a graph that takes no time."""

import json
from dataclasses import replace

import pytest
from benchmarks.effort import Effort
from benchmarks.neighbour import compare_neighbour
from benchmarks.speed import ORDERS, check_training, compare_memory, compare_propagation, main
from benchmarks.tables import section_tables
from rich.console import Console

from pcnet import Graph, PCNetSettings, TrainingSettings, csbm
from pcnet.experiment import Experiment

MODEL = PCNetSettings(hidden=8, K=2, N=4, t=0.7, p=2.2, eta=0.4)
EFFORT = replace(Effort.planned(threads=2, rounds=1), seconds=0.01)
RATES = {"first": 0.01, "theta": 0.01, "second": 0.01}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return csbm(1000, seed=0)


def experiment() -> Experiment:
    training = TrainingSettings(lr=RATES, wd=RATES)
    return Experiment("cora", "table2", "random-60-20-20", (0, 1), MODEL, training)


@pytest.mark.parametrize(
    ("section", "measure"),
    [
        ("training", lambda graph: check_training({"cora": graph}, {"cora": experiment()}, EFFORT)),
        ("propagation", lambda graph: compare_propagation(graph, MODEL, EFFORT)),
        ("memory", lambda graph: compare_memory(graph, MODEL)),
        ("neighbour", lambda graph: compare_neighbour(graph, experiment(), 1, 1, 0.01)),
    ],
)
def test_sections_are_plain_data_and_have_a_table(graph: Graph, section: str, measure):
    result = measure(graph)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    with (console := Console(width=120)).capture() as shown:
        for sheet in section_tables(section, result):
            console.print(sheet.rich())
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
    assert report["sections"]["training"]["rows"][0]["ratio"]["median"] > 1
