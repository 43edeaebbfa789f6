"""Loading is validation: a folder of models is what was written, or one sentence names the file that is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from pcnet import PcnetError, Targets, csbm, make_split, train
from pcnet.errors import PcnetWarning
from pcnet.experiment import Ensemble, resolve
from pcnet.graph import Graph
from pcnet.training import Run

METHODS = ("pcnet", "gcn")

pytestmark = pytest.mark.filterwarnings("ignore:.*was written by an older pcnet")


def trained(graph: Graph, seed: int) -> Ensemble:
    targets = Targets.from_split(make_split(graph, "random-60-20-20", seed))
    own = [resolve(graph, method, overrides=["epochs=3", "hidden=4"]) for method in METHODS]
    runs = [Run(each.model, each.training, targets, seed + place) for place, each in enumerate(own)]
    return Ensemble.of(graph, list(zip(runs, train(graph, runs, threads=1), strict=True)), "accuracy")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return csbm(60, 0.6, features=6, seed=0)


@pytest.fixture(scope="module")
def two_folders(graph, tmp_path_factory) -> tuple[Path, Path]:
    """Two trainings with the same seeds."""
    folders = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    for folder, seed in zip(folders, (0, 0), strict=True):
        trained(graph if folder is folders[0] else csbm(60, -0.6, features=6, seed=1), seed).save(folder)
    return folders


@pytest.fixture
def folder(two_folders, tmp_path) -> Path:
    return Path(shutil.copytree(two_folders[0], tmp_path / "run"))


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def as_format_2(folder: Path) -> None:
    """As an older pcnet wrote it: without hashes."""
    path = folder / "classifier.json"
    content = json.loads(path.read_text())
    kept = {name: value for name, value in content.items() if name not in ("files", "hash")}
    path.write_text(json.dumps({**kept, "format": 2}))


def test_every_file_is_hashed(folder):
    content = json.loads((folder / "classifier.json").read_text())
    others = {str(path.relative_to(folder)) for path in folder.rglob("*.*")} - {"classifier.json"}
    assert content["files"].keys() == others
    assert content["methods"] == {method: 0.5 for method in METHODS}


def test_a_changed_byte_is_refused_and_its_file_named(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == 1 + 2 * len(METHODS)
    for path in files:
        whole = path.read_bytes()
        # One digit of the last number, or of the last hash.
        place = max(whole.rfind(digit) for digit in b"0123456789") if path.suffix == ".json" else len(whole) - 2
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(PcnetError, match="is not as it was written") as error:
            Ensemble.load(folder)
        assert str(error.value).startswith(str(path))
        path.write_bytes(whole)
    Ensemble.load(folder)


def test_a_member_of_another_run_is_refused(folder, two_folders):
    for path in sorted((folder / "models").iterdir()):
        whole, other = path.read_bytes(), (two_folders[1] / "models" / path.name).read_bytes()
        if other != whole:
            path.write_bytes(other)
            with pytest.raises(PcnetError, match=rf"{path.name} is not as it was written"):
                Ensemble.load(folder)
            path.write_bytes(whole)


def test_an_older_folder_is_read_with_a_note(folder, graph):
    known = Ensemble.load(folder).probabilities(graph)
    as_format_2(folder)
    with pytest.warns(PcnetWarning, match=r"classifier\.json was written by an older pcnet, without hashes"):
        assert np.array_equal(Ensemble.load(folder).probabilities(graph), known)


def test_format_1_had_no_weights(folder, graph):
    known = Ensemble.load(folder).probabilities(graph)
    as_format_2(folder)
    path = folder / "classifier.json"
    members = [
        {name: each[name] for name in ("seed", "temperature")} for each in json.loads(path.read_text())["members"]
    ]
    edit(path, format=1, members=members)
    assert np.array_equal(Ensemble.load(folder).probabilities(graph), known)


def member(**changes: object) -> dict[str, object]:
    return {"members": [{"seed": 0, "temperature": 1.0, **changes}]}


#: Changes of classifier.json in a folder without hashes, which could hide them.
DAMAGES = {
    "temperature 0": (member(temperature=0), "the temperature of a member is 0"),
    "temperature below 0": (member(temperature=-1.0), "the temperature of a member is -1"),
    "no temperature": ({"members": [{"seed": 0}]}, r"members\[0\]\.temperature is missing"),
    "temperature as a word": (member(temperature="warm"), "must be a finite number, not 'warm'"),
    "temperature NaN": (member(temperature=float("nan")), "as JSON: NaN is no number"),
    "seed infinite": (member(seed=float("inf")), "as JSON: Infinity is no number"),
    "seed of too many digits": (member(seed=1e308), "must be a whole number"),
    "seed as a path": (member(seed="../../etc"), r"members\[0\]\.seed must be a whole number"),
    "weight below 0": (member(weight=-1), "the weight of a member is -1"),
    "no weight": (member(weight=0), "it has no members"),
    "a lost model": (member(seed=5), "There is no file"),
    "members null": ({"members": None}, "members must be a list, not None"),
    "no members": ({"members": []}, "it has no members"),
    "other classes": ({"classes": ["ant"]}, "do not fit together"),
    "a class twice": ({"classes": [1, "1"]}, "classes must have different names"),
    "classes of lists": ({"classes": [[], {}]}, r"classes\[0\] must be a text or a whole number"),
    "half a character": ({"classes": ["a", "\ud83d"]}, r"classes\[1\] must be a text or a whole number"),
    "schema a number": ({"schema": 5}, "schema must be an object, not 5"),
    "another schema": ({"schema": {"columns": [{"name": "x", "kind": "vector", "width": 10**12}]}}, "not fit together"),
    "edges a number": ({"edges": 5}, "edges must be a text"),
    "metric a list": ({"metric": []}, "metric must be a text"),
    "unknown metric": ({"metric": "luck"}, "There is no metric 'luck'"),
    "a newer format": ({"format": 99}, "has format 99, and this pcnet reads formats up to 3"),
    "format true": ({"format": True}, "is no classifier of pcnet"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_description(case, folder):
    change, words = DAMAGES[case]
    as_format_2(folder)
    edit(folder / "classifier.json", **change)
    with pytest.raises(PcnetError, match=words) as error:
        Ensemble.load(folder)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def test_weights_that_are_no_numbers(folder):
    as_format_2(folder)
    path = folder / "models" / "seed-0.safetensors"
    weights = safetensors.torch.load_file(path)
    weights["conv.theta"][0] = torch.nan
    safetensors.torch.save_file(weights, path)
    with pytest.raises(PcnetError, match=r"models/seed-0 is damaged \('conv\.theta' among its weights holds NaN"):
        Ensemble.load(folder)


def test_weights_that_overflow_are_no_prediction(folder, graph):
    as_format_2(folder)
    path = folder / "models" / "seed-0.safetensors"
    weights = {name: torch.full_like(each, 1e38) for name, each in safetensors.torch.load_file(path).items()}
    safetensors.torch.save_file(weights, path)
    loaded = Ensemble.load(folder)
    with pytest.raises(PcnetError, match="The classifier predicts NaN"):
        loaded.probabilities(graph)
