"""The number of workers is what the measurement or the user says, and nothing of a result depends on it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from pcnet import PcnetError, Run, train
from pcnet.graph import Graph
from pcnet.nn import METHODS
from pcnet.training import _division, available_threads
from pcnet.training._division import choose_workers

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("PCNET_THREADS", raising=False)
    monkeypatch.setattr(_division, "_chosen", {})


@pytest.fixture
def eight(monkeypatch):
    monkeypatch.setattr(_division, "available_threads", lambda: 8)


def choose(graph: Graph, runs: list[Run]) -> int:
    operators = {run.model.batch_key: run.model.operator(graph) for run in runs}
    return choose_workers(graph.x, operators, runs, 3)


def take(monkeypatch, ratio: float) -> list[int]:
    """Epochs of the graph take `ratio` times as long as Python alone; returns how many nodes were asked for."""
    asked = []

    def seconds(block: _division.HostBlock) -> float:
        nodes = block.x.shape[0]
        asked.append(nodes)
        return 1.0 if nodes == 2 else ratio

    monkeypatch.setattr(_division, "_epoch_seconds", seconds)
    return asked


@pytest.mark.parametrize(("ratio", "workers"), [(0.9, 1), (1.9, 1), (2.1, 2), (5.5, 5), (100.0, 7)])
def test_as_many_as_keep_the_lock_busy(eight, graph, varied, monkeypatch, ratio, workers):
    take(monkeypatch, ratio)
    assert choose(graph, varied) == workers  # there are eight cores, but seven runs


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_measured(eight, dense, method, varied):
    """Also those whose weights depend on the graph: the idle one has other nodes and relations."""
    runs = [replace(run, model=METHODS[method]().for_graph(dense)) for run in varied[:2]]
    assert 1 <= choose(dense, runs) <= 2


def test_measured_once_for_graphs_of_a_size(eight, dense, sparse, varied, monkeypatch):
    asked = take(monkeypatch, 3.0)
    assert [choose(dense, varied) for _ in range(3)] == [3, 3, 3]
    assert asked == [150, 2]
    choose(sparse, varied)
    assert len(asked) == 4


def test_nothing_is_measured_for_one_run_or_one_core(dense, varied, monkeypatch):
    asked = take(monkeypatch, 3.0)
    assert choose(dense, varied[:1]) == 1
    monkeypatch.setattr(_division, "available_threads", lambda: 1)
    assert choose(dense, varied) == 1
    assert asked == []


def test_the_setting_prevails(dense, varied, monkeypatch, same):
    asked = take(monkeypatch, 100.0)
    expected = train(dense, varied, threads=1)
    monkeypatch.setenv("PCNET_THREADS", "3")
    assert choose(dense, varied) == available_threads() == 3
    assert all(map(same, train(dense, varied), expected))
    assert asked == []


def test_a_setting_that_makes_no_sense(dense, varied, monkeypatch):
    monkeypatch.setenv("PCNET_THREADS", "all")
    with pytest.raises(PcnetError, match="PCNET_THREADS must be a whole number of at least 1, not 'all'"):
        train(dense, varied)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
def test_the_measurement_itself(eight, graph, varied, mode, same):
    """It ends with a number, leaves torch's threads alone and changes no result."""
    runs = [replace(run, model=replace(run.model, mode=mode)) for run in varied[:3]]
    before = torch.get_num_threads()
    assert 1 <= choose(graph, runs) <= 3
    assert torch.get_num_threads() == before
    assert all(map(same, train(graph, runs), train(graph, runs, threads=1)))


def test_a_training_that_is_shorter_than_the_measurement(eight, dense, varied):
    assert choose(dense, [replace(run, training=replace(run.training, epochs=1)) for run in varied]) >= 1
