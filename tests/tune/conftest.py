"""A small graph, a small space, and searches on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pcnet import Graph, PCNetSettings, TrainingSettings, csbm
from pcnet.experiment import Experiment
from pcnet.tune import Search, Space, Tuned, tune

SPACE = {
    "K": [2, 3, 4],
    "t": {"from": 0.1, "to": 1.0, "step": 0.1},
    "eta": [0.4, 0.5],
    "drop_in": {"from": 0.0, "to": 0.8, "step": 0.2},
    "lr.first": [0.005, 0.05],
    "lr.theta": {"from": 0.001, "to": 0.1, "scale": "log"},
}


@pytest.fixture(scope="session")
def graph() -> Graph:
    return csbm(120, 0.4, classes=3, features=12, seed=7)


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    training = TrainingSettings(lr={"all": 0.02}, epochs=12, stopping="patience", patience=4)
    return Experiment("mine", "defaults", "random-60-20-20", (5, 0, 3), PCNetSettings(hidden=4), training)


@pytest.fixture(scope="session")
def space() -> Space:
    return Space.from_json(SPACE, "space.json")


@pytest.fixture
def asked(experiment: Experiment, space: Space) -> Search:
    """One setting for all splits; what differs where each chooses for itself is in `test_per_split.py`."""
    return Search(experiment, space, trials=10, shared=True)


@pytest.fixture
def search(graph: Graph, asked: Search, tmp_path: Path) -> Callable[..., Tuned]:
    """A search in a folder of its own; keyword arguments change what is searched."""

    def run(folder: str = "store", on: Graph = graph, **changes: object) -> Tuned:
        return tune(on, replace(asked, **changes), tmp_path / folder, threads=1)

    return run
