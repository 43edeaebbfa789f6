"""Optuna's samplers: asked in rounds, told validation accuracies, continued after anything."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from stored_search import known, scores, values

from pcnet import PcnetError
from pcnet.training import _division, train_each
from pcnet.tune import DEFAULTS, Search, Space, tune
from pcnet.tune._strategies import _distribution

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.fixture
def asked(experiment, space) -> Search:
    return Search(experiment, space, trials=15, strategy="optuna", batch=4, shared=True)


def test_every_trial_is_of_the_space(graph, asked, tmp_path):
    tuned = tune(graph, asked, tmp_path / "s", threads=1)
    assert sorted(values(tmp_path / "s")) == [DEFAULTS, *range(15)]
    assert tuned.best["search"]["sampler"] == "tpe"
    assert len(tuned.results.ranking(3)) == 16
    # Values are those of the space, to the bit.
    axes = asked.space.axes
    suggested = [each for trial, each in values(tmp_path / "s").items() if trial != DEFAULTS]
    assert all(each["t"] in axes["t"].values for each in suggested)
    assert all(type(each["K"]) is int for each in suggested)


def test_it_suggests_what_optuna_suggests(graph, asked, tmp_path):
    """A study that lives through all rounds, told the mean gain of every trial, suggests the same values."""
    tune(graph, asked, tmp_path / "s", threads=1)
    kept, gains = values(tmp_path / "s"), scores(tmp_path / "s")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    distributions = {name: _distribution(axis) for name, axis in asked.space.axes.items()}
    for first in range(0, 15, 4):
        for trial in range(first, min(first + 4, 15)):
            seed = int(np.random.SeedSequence([asked.seed, trial]).generate_state(1)[0])
            study.sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
            assert study.ask(distributions).params == pytest.approx(kept[trial])
        for trial in range(first, min(first + 4, 15)):
            study.tell(trial, sum(gains[trial, split][0] for split in range(3)) / 3)


@pytest.mark.parametrize("sampler", ["gp", "random"])
def test_other_samplers(graph, asked, tmp_path, sampler):
    tuned = tune(graph, dataclasses.replace(asked, sampler=sampler, trials=9, batch=3), tmp_path / "s", threads=1)
    assert len(tuned.results.ranking(3)) == 10


def test_an_interrupted_search_asks_for_what_it_would_have_asked_for(graph, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 6)
    tune(graph, asked, tmp_path / "whole", threads=1)
    calls = 0

    def interrupted(graph, runs, **options):
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise KeyboardInterrupt
        return train_each(graph, runs, **options)

    monkeypatch.setattr("pcnet.tune._worker.train_each", interrupted)
    while True:
        try:
            tuned = tune(graph, asked, tmp_path / "broken", threads=1)
            break
        except KeyboardInterrupt:
            continue
    assert calls > 4
    assert known(tmp_path / "broken") == known(tmp_path / "whole")
    assert len(tuned.results.ranking(3)) == 16


def test_trials_are_asked_for_once(graph, asked, tmp_path):
    """A round is kept as a whole before any of it is trained."""

    class Impatient:
        def stage(self, title, total):
            raise KeyboardInterrupt

        def advance(self, units=1):
            raise AssertionError("a stage comes first")

    with pytest.raises(KeyboardInterrupt):
        tune(graph, asked, tmp_path / "s", threads=1, progress=Impatient())
    first = values(tmp_path / "s")
    assert (sorted(first), scores(tmp_path / "s")) == ([DEFAULTS, 0, 1, 2, 3], {})
    tune(graph, asked, tmp_path / "s", threads=1)
    assert first.items() <= values(tmp_path / "s").items()


def test_it_learns_from_what_it_is_told(graph, experiment, tmp_path):
    """Where one value is hopeless, it is suggested less and less."""
    space = Space.from_json({"lr": [1e38, 0.02], "t": {"from": 0.1, "to": 1.0}}, "f")
    asked = Search(experiment, space, trials=40, strategy="optuna", batch=5, shared=True)
    tune(graph, asked, tmp_path / "s", threads=1)
    hopeless = [each["lr"] > 1 for trial, each in values(tmp_path / "s").items() if trial >= 0]
    assert sum(hopeless[:10]) >= 2
    assert sum(hopeless[-15:]) <= 3


def test_without_optuna(experiment, space, monkeypatch):
    monkeypatch.setattr("pcnet.tune._strategies.find_spec", lambda name: None)
    with pytest.raises(PcnetError, match=r"needs Optuna, which is not installed; pip install 'pcnet\[optuna\]'"):
        Search(experiment, space, strategy="optuna")
    Search(experiment, space, strategy="halving", shared=True)
