"""Presets from files, and the experiment that a command means."""

from __future__ import annotations

import json

import pytest

from pcnet import PcnetError, PCNetSettings
from pcnet.experiment import resolve

ENTRY = {
    "dataset": "texas",
    "protocol": "random-60-20-20",
    "seeds": [3, 4],
    "model": {"K": 3, "t": 0.25},
    "training": {"lr": {"all": 0.1}, "epochs": 7},
    "paper": [99.0, 0.1],
    "what else": "is not read",
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps(ENTRY))
    return path


def test_an_experiment_from_a_file(file):
    experiment = resolve(preset=file)
    assert (experiment.dataset, experiment.preset, experiment.protocol) == ("texas", "tuned", "random-60-20-20")
    assert experiment.seeds == (3, 4)
    assert experiment.model == PCNetSettings(K=3, t=0.25)
    assert (experiment.training.lr, experiment.training.epochs) == ({"all": 0.1}, 7)
    # Whatever a file says, its figures are not the paper's.
    assert (experiment.paper, experiment.rerun) == (None, None)
    # For another dataset, too.
    assert resolve("Wisconsin", preset=file).dataset == "wisconsin"


def test_what_a_command_means(file):
    assert resolve() == resolve("citeseer", preset="table2")
    assert resolve(preset="table1") == resolve("citeseer", preset="table1")
    assert resolve(preset=str(file)) == resolve(preset=file)
    assert resolve("cornell", preset=str(file)) == resolve("cornell", preset=file)


def test_by_protocol():
    assert resolve("texas", protocol="fixed-48-32-20") == resolve("texas", preset="table3")
    assert resolve("cora", protocol="semi-20-500-1000") == resolve("cora", preset="table1")
    other = resolve("wisconsin", protocol="random-60-20-20")
    assert (other.preset, other.seeds, other.model) == ("defaults", tuple(range(10)), PCNetSettings())
    with pytest.raises(PcnetError, match="Did you mean 'fixed-48-32-20'"):
        resolve("texas", protocol="fixed-48-32")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "texs"}, "Did you mean 'texas'?"),
        ({"model": {"KK": 3}}, "is no preset"),
        ({"model": 3}, "is no preset"),
        ({"training": {"epochs": "many"}}, "is no preset"),
        ({"training": {"lr": 0.1}}, "is no preset"),
        ({"training": {"epochs": 0}}, "epochs must be at least 1"),
        ({"seeds": 3}, "is no preset"),
        ({"seeds": []}, "its seeds must be whole numbers"),
        ({"seeds": [0.5]}, "its seeds must be whole numbers"),
        ({"seeds": ["1"]}, "its seeds must be whole numbers"),
    ],
)
def test_refused(file, change, words):
    file.write_text(json.dumps({**ENTRY, **change}))
    with pytest.raises(PcnetError) as error:
        resolve(preset=file)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["dataset", "protocol", "seeds", "model", "training"])
def test_what_a_preset_needs(file, key):
    file.write_text(json.dumps({name: value for name, value in ENTRY.items() if name != key}))
    with pytest.raises(PcnetError, match=rf"is no preset \('{key}'\)"):
        resolve(preset=file)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '"texas"'])
def test_damaged(file, content):
    file.write_text(content)
    with pytest.raises(PcnetError, match=r"tuned\.json"):
        resolve(preset=file)
