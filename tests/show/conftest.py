"""Graphs and results that the tests of the report share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from guessed_results import PROVENANCE, named

from pcnet import Graph, csbm
from pcnet.experiment import Experiment, Result, run_experiment
from pcnet.nn import ModelSettings, method_named
from pcnet.show import write_report
from pcnet.training import TrainingSettings


@pytest.fixture
def page(tmp_path: Path) -> Callable[[Graph, Result], str]:
    """The text of the report of a result."""

    def write(graph: Graph, result: Result) -> str:
        path = tmp_path / "report.html"
        write_report(path, graph, result, **PROVENANCE)
        return path.read_text(encoding="utf-8")

    return write


@pytest.fixture(scope="session")
def small() -> Graph:
    return named(csbm(240, 0.6, classes=3, features=12, seed=4), "kind #")


@pytest.fixture(scope="session")
def trained(small: Graph) -> Result:
    training = TrainingSettings(epochs=30)
    return run_experiment(small, Experiment("small", "defaults", "random-60-20-20", (0, 1, 2), training=training))


@pytest.fixture(scope="session")
def fifty() -> Graph:
    return named(csbm(1500, 0.5, classes=50, features=20, average_degree=60.0, seed=1), "a rather long class name, #")


@pytest.fixture(scope="session")
def mlp() -> ModelSettings:
    return method_named("mlp")()
