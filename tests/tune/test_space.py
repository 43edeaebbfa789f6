"""The search space: what may be drawn, and that a trial is its number."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError, PCNetSettings, TrainingSettings
from pcnet.experiment import method_files
from pcnet.tune import Space, published_space, read_space
from pcnet.tune._space import settings_of

BASE = (PCNetSettings(), TrainingSettings())
PAPERS = published_space()

#: Whoever resumes a store in another version must draw the same.
TRIAL_437 = {
    "K": 4, "N": 5, "t": 0.6, "p": 2.9, "eta": 0.4, "init": 1.0, "drop_in": 0.85, "drop_hidden": 0.1, "drop_prop": 0.1,
    "lr.first": 0.005, "lr.theta": 0.1, "lr.second": 0.05, "wd.first": 0.001, "wd.theta": 5e-06, "wd.second": 0.005,
}  # fmt: skip
RATES = [0.005, 0.01, 0.05, 0.1]
DECAYS = [0.0, 5e-6, 5e-5, 1e-4, 5e-4, 1e-3, 2e-3, 5e-3]
DROPOUTS = [step / 20 for step in range(19)]
#: The paper's search space in its own terms: n_poly = N + 1, b = p − 1.
PUBLISHED = {
    "K": [4, 5, 6],
    "N": [n_poly - 1 for n_poly in (4, 5, 6, 10)],
    "t": [step / 10 for step in range(21)],
    "p": [1 + 1 + step / 10 for step in range(31)],
    "eta": [step / 20 for step in range(17)],
    "init": [0.5, 1.0, 1.5, 2.0],
    **dict.fromkeys(("drop_in", "drop_hidden", "drop_prop"), DROPOUTS),
    **{f"lr.{group}": RATES for group in ("first", "theta", "second")},
    **{f"wd.{group}": DECAYS for group in ("first", "theta", "second")},
}


def test_it_is_the_published_one():
    axes = PAPERS.axes
    assert {*axes} == {*PUBLISHED}
    for name, values in PUBLISHED.items():
        assert axes[name].values == pytest.approx(values, abs=1e-12), name
        assert len(set(axes[name].values)) == len(values)
    assert all(type(value) is int for name in ("K", "N") for value in axes[name].values)


@given(st.integers(0, 2**40), st.integers(0, 10**6))
def test_every_trial_is_inside(seed, trial):
    model, training = settings_of(PAPERS.draw(seed, trial), BASE)
    values = {**vars(model)}
    for group in ("first", "theta", "second"):
        values |= {f"lr.{group}": training.lr[group], f"wd.{group}": training.wd[group]}
    for name, allowed in PUBLISHED.items():
        assert min(abs(values[name] - own) for own in allowed) < 1e-9, name
    # Nothing else has changed.
    assert {*training.lr} == {*training.wd} == {"first", "theta", "second"}
    assert (model.hidden, model.mode, training.epochs) == (BASE[0].hidden, BASE[0].mode, BASE[1].epochs)


def test_a_trial_is_its_number():
    space = PAPERS
    forwards = [space.draw(3, trial) for trial in range(40)]
    assert [space.draw(3, trial) for trial in reversed(range(40))] == forwards[::-1]
    assert published_space().draw(3, 17) == forwards[17]
    assert len({json.dumps(values) for values in forwards}) == 40
    assert space.draw(4, 17) != forwards[17]
    # Also in another process, now and later.
    assert space.draw(0, 437) == TRIAL_437


def test_values_are_drawn_evenly():
    drawn = [PAPERS.draw(0, trial) for trial in range(3400)]
    for name, axis in PAPERS.axes.items():
        counts = Counter(values[name] for values in drawn)
        expected = 3400 / len(axis.values)
        # Four standard deviations of a binomial count.
        assert {*counts} == {*axis.values}
        assert all(abs(count - expected) < 4 * math.sqrt(expected) for count in counts.values()), name


def test_intervals():
    space = Space.from_json({"t": {"from": 1, "to": 3}, "lr.first": {"from": 1e-4, "to": 1, "scale": "log"}}, "f")
    drawn = [space.draw(0, trial) for trial in range(2000)]
    t, rates = (np.array([values[name] for values in drawn]) for name in ("t", "lr.first"))
    assert 1 <= t.min() < 1.01
    assert 2.99 < t.max() <= 3
    assert t.mean() == pytest.approx(2, abs=0.05)
    assert rates.min() >= 1e-4
    assert rates.max() <= 1
    assert np.log10(rates).mean() == pytest.approx(-2, abs=0.1)


def test_what_a_file_can_say(tmp_path):
    content = {
        "K": {"from": 2, "to": 6, "step": 2},
        "identity": [True, False],
        "hidden": [None, 16],
        "activation": [None, "relu"],
        "mode": ["limit"],
        "wd": [0, 0.1],
        "patience": [5],
    }
    (tmp_path / "space.json").write_text(json.dumps(content))
    axes = read_space(tmp_path / "space.json").axes
    assert {name: axis.values for name, axis in axes.items()} == {
        "K": (2, 4, 6),
        "identity": (True, False),
        "hidden": (None, 16),
        "activation": (None, "relu"),
        "mode": ("limit",),
        "wd": (0.0, 0.1),
        "patience": (5,),
    }
    again = Space.from_json(json.loads(json.dumps(Space(axes).described)), "again")
    assert again.axes == axes


def test_settings_of_values():
    base = (PCNetSettings(), TrainingSettings(lr={"all": 0.3, "theta": 0.2}))
    model, training = settings_of({"t": 0.7, "lr.first": 0.1, "epochs": 9}, base)
    assert (model.t, training.epochs) == (0.7, 9)
    assert training.lr == {"all": 0.3, "theta": 0.2, "first": 0.1}
    assert settings_of({"lr": 0.1}, base)[1].lr == {"all": 0.1}
    # A rate that no layer takes goes, whoever gave it.
    _, training = settings_of({"lr.first": 0.1, "lr.second": 0.2}, base)
    assert training.lr == {"theta": 0.2, "first": 0.1, "second": 0.2}
    assert settings_of({"hidden": None, "lr.first": 0.1, "lr.second": 0.2}, base)[1].lr == {"theta": 0.2, "first": 0.1}


def test_what_is_fixed_is_not_searched():
    space, every = PAPERS, PCNetSettings()
    assert {*space.axes} - {*space.fixing(["K=4"], every).axes} == {"K"}
    assert {*space.axes} - {*space.fixing([" lr.theta = 0.1"], every).axes} == {"lr.theta"}
    assert {*space.axes} - {*space.fixing(["lr=0.1", "epochs=3"], every).axes} == {"lr.first", "lr.theta", "lr.second"}
    linear = space.fixing(["hidden=none"], PCNetSettings(hidden=None))
    assert {*space.axes} - {*linear.axes} == {"lr.second", "wd.second"}
    with pytest.raises(PcnetError, match="nothing left to search"):
        Space.from_json({"t": [1]}, "f").fixing(["t=2"], every)


REFUSED = {
    "nothing": ({}, "f is no search space"),
    "a list": ([], "f is no search space"),
    "no such setting": ({"drop": [0.5]}, "There is no setting 'drop'. Did you mean 'drop_in'?"),
    "no values": ({"t": []}, "t must be a list of values"),
    "a word": ({"t": "many"}, 'not "many"'),
    "half a range": ({"t": {"from": 0}}, "t must be a list of values"),
    "another key": ({"t": {"from": 0, "to": 1, "by": 2}}, "t must be a list of values"),
    "backwards": ({"t": {"from": 1, "to": 0}}, "t must be a list of values"),
    "too long a step": ({"t": {"from": 0, "to": 1, "step": 2}}, "leads from 0.0 to 1.0"),
    "a step of none": ({"t": {"from": 0, "to": 1, "step": 0}}, "the step of t"),
    "step and scale": ({"t": {"from": 1, "to": 2, "step": 1, "scale": "log"}}, "the step of t"),
    "logarithm of zero": ({"wd.first": {"from": 0, "to": 1, "scale": "log"}}, "from above 0"),
    "another scale": ({"t": {"from": 1, "to": 2, "scale": "square"}}, 'can only be "log"'),
    "whole numbers between": ({"K": {"from": 1, "to": 5}}, "K is a whole number; give its range a step"),
    "a fraction": ({"K": [2.5]}, "K must be a whole number, not '2.5'"),
    "an unknown mode": ({"mode": ["limits"]}, "Did you mean 'limit'?"),
    "neither true nor false": ({"identity": ["maybe"]}, "identity must be true or false"),
    "text for a number": ({"epochs": ["ten"]}, "epochs must be a whole number"),
    "a list for a number": ({"t": [[1, 2]]}, "t must be a number"),
    "one value with groups": ({"t.first": [1]}, "'t' is one value"),
    "no such group": ({"lr.thet": [0.1]}, "no parameter group 'thet' for lr"),
    "not a rate": ({"drop_in": [0.5, 1]}, "1.0 is not a dropout rate"),
    "a range past a rate": ({"drop_in": {"from": 0.5, "to": 1.5, "step": 0.5}}, "is not a dropout rate"),
    "negative": ({"lr.first": [-1]}, "lr.first = -1.0 must be"),
    "infinite": ({"t": [math.inf]}, "t must be finite"),
    "no filter": ({"K": [0]}, "K must be at least 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    content, words = REFUSED[case]
    with pytest.raises(PcnetError) as error:
        Space.from_json(content, "f").check(BASE)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [name for name, file in method_files().items() if file.grid])
def test_the_grid_of_every_method_can_be_searched(name):
    """The point is that of the settings: every rate of the grid reaches every parameter group."""
    file = method_files()[name]
    base = (file.defaults.model, file.defaults.training)
    space = Space.from_json(dict(file.grid), name, file.kind)
    space.check(base)
    for point in space.points():
        model, training = settings_of(point, base)
        training.check_groups(model.groups)
        if "lr" in point:
            assert {training.lr.get(group, training.lr.get("all")) for group in model.groups} == {point["lr"]}
