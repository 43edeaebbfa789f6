"""Real processes on one store: working together, killed at any moment, interrupted."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stored_search import claims, known, scores, scores_on_test

from pcnet.tune import Search, tune

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

#: The search of the fixtures, with so few runs at a time that it takes many steps.
CODE = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pcnet.training._division as division
division.HOST_RUNS = 4
from pcnet import PCNetSettings, TrainingSettings, csbm
from pcnet.experiment import Experiment
from pcnet.tune import Search, Space, tune
space = Space.from_json(json.loads(sys.argv[2]), "space.json")
training = TrainingSettings(lr={"all": 0.02}, epochs=12, stopping="patience", patience=4)
experiment = Experiment("mine", "defaults", "random-60-20-20", (5, 0, 3), PCNetSettings(hidden=4), training)
graph = csbm(120, 0.4, classes=3, features=12, seed=7)
asked = Search(experiment, space, trials=int(sys.argv[4]), strategy=sys.argv[3], batch=4, leak=True, shared=True)
print("ready", flush=True)
tune(graph, asked, sys.argv[1], threads=1)
"""


@pytest.fixture
def start(space):
    processes = []

    def run(folder: Path, strategy: str = "random", trials: int = 40) -> subprocess.Popen:
        command = [sys.executable, "-c", CODE, str(folder), json.dumps(space.described), strategy, str(trials)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def choice(folder: Path) -> dict:
    best = json.loads((folder / "best.json").read_text())
    # How long it took is not always the same, and so neither is the hash of all of it.
    best["search"]["seconds"] = 0
    del best["hash"]
    return best


def wait_for_results(folder: Path, count: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + 120
    while runs_in(folder) < count:
        assert process.poll() is None, "ended too early"
        assert time.monotonic() < until
        time.sleep(0.005)


def runs_in(folder: Path) -> int:
    try:
        return len(scores(folder))
    except sqlite3.OperationalError:
        # There is no file yet, or no table in it.
        return 0


@pytest.fixture(scope="module")
def undisturbed(graph, experiment, space, tmp_path_factory):
    """The same search in this process, by strategy."""
    folder = tmp_path_factory.mktemp("undisturbed")

    def of(strategy: str, trials: int = 40) -> Path:
        asked = Search(experiment, space, trials=trials, strategy=strategy, batch=4, leak=True, shared=True)
        tune(graph, asked, folder / f"{strategy}-{trials}", threads=1)
        return folder / f"{strategy}-{trials}"

    return of


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_two_workers(start, undisturbed, tmp_path, killed):
    """They share the work, perhaps with a third that is killed: nothing is done twice, nothing is missing."""
    folder = tmp_path / "store"
    workers = [start(folder) for _ in range(3 if killed else 2)]
    for worker in workers:
        worker.stdout.readline()
    if killed:
        wait_for_results(folder, 3, workers[0])
        workers[2].send_signal(signal.SIGKILL)
    assert [worker.wait(timeout=120) for worker in workers[:2]] == [0, 0]
    assert known(folder) == known(undisturbed("random"))
    assert choice(folder) == choice(undisturbed("random"))
    # Whoever comes first chooses and scores; the other one waits for it.
    log = (folder / "tune.log").read_text()
    assert log.count("was chosen by a mean") == log.count("Test labels were read for") == 1
    assert claims(folder) == []
    assert list(folder.glob("*.worker")) == []
    # 40 trials and the defaults on three splits.
    assert len(scores_on_test(folder)) == 123


@pytest.mark.parametrize("strategy", ["random", "evolve", pytest.param("halving", marks=pytest.mark.slow)])
def test_killed_and_continued(start, undisturbed, tmp_path, strategy, graph, experiment, space):
    folder, chance = tmp_path / "store", random.Random(strategy)
    process = start(folder, strategy)
    wait_for_results(folder, 2, process)
    time.sleep(chance.uniform(0, 0.2))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "best.json").exists()
    tune(
        graph,
        Search(experiment, space, trials=40, strategy=strategy, batch=4, leak=True, shared=True),
        folder,
        threads=1,
    )
    assert known(folder) == known(undisturbed(strategy))
    assert choice(folder) == choice(undisturbed(strategy))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "halving", "evolve", "optuna"])
def test_killed_often(start, undisturbed, tmp_path, strategy):
    if strategy == "optuna":
        pytest.importorskip("optuna")
    folder, chance = tmp_path / "store", random.Random(7)
    for attempt in range(60):
        process = start(folder, strategy, 24)
        process.stdout.readline()
        try:
            process.wait(timeout=chance.uniform(0.0, 1.5) if attempt < 25 else 120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if process.returncode == 0:
            break
    assert process.returncode == 0
    assert known(folder) == known(undisturbed(strategy, 24))
    assert choice(folder) == choice(undisturbed(strategy, 24))
