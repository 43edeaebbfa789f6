"""`key=value` on frozen settings."""

from __future__ import annotations

import pytest

from pcnet import PcnetError, PCNetSettings, TrainingSettings
from pcnet.experiment import override, resolve


def changed(*assignments: str) -> tuple[PCNetSettings, TrainingSettings]:
    model, training = override(
        [PCNetSettings(), TrainingSettings(lr={"first": 0.1, "theta": 0.2, "second": 0.3})], assignments
    )
    return model, training


@pytest.mark.parametrize(
    ("assignment", "name", "value"),
    [
        ("t=0.5", "t", 0.5),
        ("t=1", "t", 1.0),
        ("p=3e0", "p", 3.0),
        (" K = 7 ", "K", 7),
        ("hidden=none", "hidden", None),
        ("hidden=None", "hidden", None),
        ("hidden=32", "hidden", 32),
        ("identity=false", "identity", False),
        ("identity=No", "identity", False),
        ("identity=1", "identity", True),
        ("mode=limit", "mode", "limit"),
        ("activation=relu", "activation", "relu"),
        ("activation=none", "activation", None),
        ("epochs=60", "epochs", 60),
        ("optimizer=adamw", "optimizer", "adamw"),
        ("stopping=none", "stopping", "none"),
        ("select=val_accuracy", "select", "val_accuracy"),
        ("lr=0.05", "lr", {"all": 0.05}),
        ("lr.theta=0.5", "lr", {"first": 0.1, "theta": 0.5, "second": 0.3}),
        ("wd.first=0", "wd", {"all": 5e-4, "first": 0.0}),
    ],
)
def test_values(assignment, name, value):
    model, training = changed(assignment)
    owner = model if hasattr(model, name) else training
    found = getattr(owner, name)
    assert found == value
    assert type(found) is type(value)
    # Nothing else has changed.
    before_model, before_training = changed()
    differing = [field for field in vars(model) if getattr(model, field) != getattr(before_model, field)]
    differing += [field for field in vars(training) if getattr(training, field) != getattr(before_training, field)]
    assert differing in ([name], [])


def test_later_ones_win_and_all_are_applied():
    model, training = changed("t=1", "lr=0.5", "lr.theta=0.1", "t=2")
    assert model.t == 2.0
    assert training.lr == {"all": 0.5, "theta": 0.1}


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("t", "'t' is not of the form key=value"),
        ("", "'' is not of the form key=value"),
        ("=3", "There is no setting ''"),
        ("drop_hiden=0.5", "There is no setting 'drop_hiden'. Did you mean 'drop_hidden'?"),
        ("epoch=5", "Did you mean 'epochs'?"),
        ("t=fast", "t must be a number, not 'fast'"),
        ("t=", "t must be a number, not ''"),
        ("t=none", "t must be a number, not 'none'"),
        ("K=2.5", "K must be a whole number, not '2.5'"),
        ("epochs=1e3", "epochs must be a whole number"),
        ("hidden=wide", "hidden must be a whole number"),
        ("identity=maybe", "identity must be true or false, not 'maybe'"),
        ("mode=limits", "mode cannot be 'limits'; choose from truncated, limit. Did you mean 'limit'?"),
        ("activation=gelu", "activation cannot be 'gelu'"),
        ("t.x=1", "The setting 't' is one value; write t=1"),
        ("lr=high", "lr must be a number, not 'high'"),
        ("lr.theta=high", "lr.theta must be a number"),
        ("lr=-1", "lr.all = -1.0 must be a finite number of at least 0"),
        ("epochs=0", "epochs must be at least 1"),
    ],
)
def test_refused(assignment, words):
    with pytest.raises(PcnetError) as error:
        changed(assignment)
    assert words in str(error.value)


def test_a_changed_experiment_is_no_longer_the_published_one():
    published = resolve("citeseer", preset="table2")
    assert published.with_overrides([]) is published
    experiment = published.with_overrides(["t=0.5"])
    assert experiment.preset == "table2, changed"
    assert (experiment.paper, experiment.rerun) == (None, None)
    assert experiment.model.t == 0.5
    assert published.model.t == 0.4


def test_settings_name_everything_that_can_be_set():
    settings = resolve("citeseer", preset="table2").settings
    assert {"method", "protocol", "metric", *vars(PCNetSettings()), *vars(TrainingSettings())} == {*settings}
