"""Optuna's samplers: asked in rounds, told validation accuracies, continued after anything."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pcnet import PcnetError
from pcnet.training import _division, train_each
from pcnet.tune import DEFAULTS, Space, Tuning, tune

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.fixture
def tuning(experiment, space) -> Tuning:
    return Tuning(experiment, space, trials=15, strategy="optuna", batch=4)


def journal(folder):
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return {line["trial"]: {**line, "seconds": 0} for line in lines}


def study_of(folder):
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "optuna.journal"))
    return optuna.load_study(study_name="pcnet", storage=optuna.storages.JournalStorage(backend))


def test_optuna_knows_what_the_store_knows(graph, tuning, tmp_path):
    tuned = tune(graph, tuning, tmp_path / "s", threads=1)
    kept = journal(tmp_path / "s")
    trials = study_of(tmp_path / "s").trials
    # The defaults are tried beside it, and not suggested by it.
    del kept[DEFAULTS]
    assert [trial.number for trial in trials] == sorted(kept) == list(range(15))
    for trial in trials:
        line = kept[trial.number]
        assert trial.state == optuna.trial.TrialState.COMPLETE
        assert trial.value == pytest.approx(sum(line["gain"]) / 3)
        assert {**trial.params} == pytest.approx(line["values"])
    assert tuned.best["search"]["sampler"] == "tpe"
    best = max(tuned.best["defaults"]["val"]["mean"], 100 * study_of(tmp_path / "s").best_value)
    assert tuned.best["val"]["mean"] == pytest.approx(best)
    # Values are those of the space, to the bit.
    axes = tuning.space.axes
    assert all(line["values"]["t"] in axes["t"].values for line in kept.values())
    assert all(type(line["values"]["K"]) is int for line in kept.values())


@pytest.mark.parametrize("sampler", ["gp", "random"])
def test_other_samplers(graph, tuning, tmp_path, sampler):
    tuned = tune(graph, dataclasses.replace(tuning, sampler=sampler, trials=9, batch=3), tmp_path / "s", threads=1)
    assert len(tuned.results.ranking(3)) == 10


def test_an_interrupted_search_asks_for_what_it_would_have_asked_for(graph, tuning, tmp_path, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 6)
    tune(graph, tuning, tmp_path / "whole", threads=1)
    calls = 0

    def interrupted(graph, runs, **options):
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise KeyboardInterrupt
        return train_each(graph, runs, **options)

    monkeypatch.setattr("pcnet.tune._search.train_each", interrupted)
    while True:
        try:
            tuned = tune(graph, tuning, tmp_path / "broken", threads=1)
            break
        except KeyboardInterrupt:
            # As a process would that is killed while it tells Optuna something.
            with (tmp_path / "broken" / "optuna.journal").open("ab") as stream:
                stream.write(b'{"op_code": 5, "wor')
    assert calls > 4
    assert journal(tmp_path / "broken") == journal(tmp_path / "whole")
    assert len(tuned.results.ranking(3)) == 16


def test_a_trial_that_was_half_asked_for_is_given_up(graph, tuning, tmp_path):
    tune(graph, dataclasses.replace(tuning, trials=4), tmp_path / "whole", threads=1)
    folder = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        tune(graph, dataclasses.replace(tuning, trials=4), folder, threads=1, watcher=Impatient())
    lines = (folder / "optuna.journal").read_text().splitlines(keepends=True)
    # Creating a trial and each of its values are a line; the last of four trials loses some.
    (folder / "optuna.journal").write_text("".join(lines[:-3]))
    tuned = tune(graph, dataclasses.replace(tuning, trials=4), folder, threads=1)
    assert sorted(journal(folder)) == [DEFAULTS, 0, 1, 2, 4]
    values, expected = (
        [line["values"] for _, line in sorted(journal(tmp_path / name).items())] for name in ("broken", "whole")
    )
    assert values == expected
    assert tuned.best["search"]["complete_trials"] == 5


class Impatient:
    """Interrupts as soon as something was asked for."""

    def advance(self, epochs):
        pass

    def known(self, runs, best):
        raise KeyboardInterrupt


def test_it_learns_from_what_it_is_told(graph, experiment, tmp_path):
    """Where one value is hopeless, it is suggested less and less."""
    space = Space.from_json({"lr": [1e38, 0.02], "t": {"from": 0.1, "to": 1.0}}, "f")
    tuning = Tuning(experiment, space, trials=40, strategy="optuna", batch=5)
    tune(graph, tuning, tmp_path / "s", threads=1)
    hopeless = [line["values"]["lr"] > 1 for trial, line in sorted(journal(tmp_path / "s").items()) if trial >= 0]
    assert sum(hopeless[:10]) >= 2
    assert sum(hopeless[-15:]) <= 3


def test_without_optuna(experiment, space, monkeypatch):
    monkeypatch.setattr("pcnet.tune._optuna.find_spec", lambda name: None)
    with pytest.raises(PcnetError, match=r"needs Optuna, which is not installed; pip install 'pcnet\[optuna\]'"):
        Tuning(experiment, space, strategy="optuna")
    Tuning(experiment, space, strategy="halving")
