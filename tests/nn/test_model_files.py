"""Models on disk: what is written is read again, and anything else gets a sentence."""

from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch

from contracts.filter_contract import quiet
from pcnet.data import csbm
from pcnet.errors import PcnetError
from pcnet.nn import PCNetSettings, load_model, save_model

GRAPH = csbm(60, 0.6, features=10, seed=2)
SETTINGS = [
    PCNetSettings(hidden=8, drop_in=0.5, eta=0.45, N=5),
    PCNetSettings(hidden=None, K=2, identity=False, init=0.25),
    PCNetSettings(hidden=4, mode="limit", activation="relu", t=1.5, p=2.5),
]


@pytest.fixture
def saved(tmp_path):
    with quiet():
        save_model(SETTINGS[0].build(10, 2, 0), SETTINGS[0], tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: str(s.hidden))
def test_round_trip(settings, tmp_path):
    with quiet():
        model = settings.build(10, 2, 0).eval()
        save_model(model, settings, tmp_path / "deep" / "model.v1")
        loaded, again = load_model(tmp_path / "deep" / "model.v1")
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["model.v1.json", "model.v1.safetensors"]
    assert again == settings
    assert not loaded.training
    with torch.no_grad():
        assert torch.equal(loaded(GRAPH.x, GRAPH.edge_index), model(GRAPH.x, GRAPH.edge_index))


def test_overwriting_is_whole(saved):
    model = SETTINGS[0].build(10, 2, 1)
    save_model(model, SETTINGS[0], saved)
    loaded, _ = load_model(saved)
    assert torch.equal(loaded.transform.weights[0], model.transform.weights[0])
    assert len([*saved.parent.iterdir()]) == 2


def edit(path, **changes) -> None:
    description = json.loads(path.read_text())
    path.write_text(json.dumps(description | changes))


def whole(path) -> dict:
    return json.loads(path.read_text())["settings"]


def drop(path, key: str) -> None:
    description = json.loads(path.read_text())
    del description[key]
    path.write_text(json.dumps(description))


def rewrite(path, **changes: torch.Tensor) -> None:
    """Exchange weights, `theta` being that of the filter."""
    own = {"conv.theta" if name == "theta" else name: tensor for name, tensor in changes.items()}
    safetensors.torch.save_file({**safetensors.torch.load_file(path), **own}, path)


DAMAGES = {
    "no description": (lambda j, w: j.unlink(), "There is no file"),
    "no weights": (lambda j, w: w.unlink(), "the weights of"),
    "description cut short": (lambda j, w: j.write_text(j.read_text()[:40]), "as JSON"),
    "description in bytes": (lambda j, w: j.write_bytes(b"\xff\xfe\x00"), "as JSON"),
    "weights cut short": (lambda j, w: w.write_bytes(w.read_bytes()[:-20]), "is damaged"),
    "weights empty": (lambda j, w: w.write_bytes(b""), "is damaged"),
    "weights are a pickle": (lambda j, w: torch.save({"theta": torch.ones(3)}, w), "is damaged"),
    "other width": (lambda j, w: edit(j, in_channels=11), "is damaged"),
    "other settings": (lambda j, w: edit(j, settings={"K": 7, "N": 9}), "is damaged"),
    "unknown setting": (lambda j, w: edit(j, settings={"depth": 3}), "is damaged"),
    "no settings": (lambda j, w: drop(j, "settings"), "is damaged"),
    "no format": (lambda j, w: drop(j, "format"), "is damaged"),
    "a newer format": (lambda j, w: edit(j, format=99), "was written by a newer pcnet; update pcnet"),
    "a list": (lambda j, w: j.write_text("[1]"), "is damaged"),
    "a setting out of range": (lambda j, w: edit(j, settings={"drop_in": 2.0}), "is not a dropout rate"),
    "a setting as a word": (lambda j, w: edit(j, settings={"t": "0.5"}), "settings.t must be a finite number"),
    "a setting that overflows": (lambda j, w: edit(j, settings={"hidden": 8, "t": 1e308, "N": 5}), "is damaged"),
    "a number of 64 bits": (lambda j, w: edit(j, settings={**whole(j), "p": 1e300}), "p is 1e+300, more than a number"),
    "no method": (lambda j, w: edit(j, model=None), "model must be a text, not None"),
    "no inputs": (lambda j, w: edit(j, in_channels=0), "in_channels must be at least 1"),
    "a huge layer": (lambda j, w: edit(j, settings={"hidden": 150_000_000}), "hidden is 150000000, and no weight has"),
    "a huge input": (lambda j, w: edit(j, in_channels=10**12), "in_channels is 1000000000000, and no weight has"),
    "a huge order": (lambda j, w: edit(j, settings={"K": 10**6}), "K must be at most 1000"),
    "a weight too many": (lambda j, w: rewrite(w, more=torch.ones(2)), "the weight 'more' is 2, but its settings make"),
    "half precision": (lambda j, w: rewrite(w, theta=torch.ones(5).half()), "is torch.float16, not torch.float32"),
    "NaN": (lambda j, w: rewrite(w, theta=torch.full((5,), torch.nan)), "'conv.theta' among its weights holds NaN"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_or_missing(damage, saved):
    change, words = DAMAGES[damage]
    change(saved.with_name("model.json"), saved.with_name("model.safetensors"))
    with pytest.raises(PcnetError) as error:
        load_model(saved)
    assert words in str(error.value)
    assert "model" in str(error.value) or "dropout" in str(error.value)


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "model.safetensors").mkdir()
    with pytest.raises(PcnetError, match="it is a folder; name a file"):
        save_model(SETTINGS[0].build(10, 2, 0), SETTINGS[0], tmp_path / "model")


def test_a_file_in_the_way_of_the_folder(tmp_path):
    (tmp_path / "here").write_text("")
    with pytest.raises(PcnetError, match="Choose a writable place"):
        save_model(SETTINGS[0].build(10, 2, 0), SETTINGS[0], tmp_path / "here" / "model")
