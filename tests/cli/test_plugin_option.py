"""A method of one's own, from its file to predictions, by the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_method.py"
PLUGIN = ("--plugin", str(EXAMPLE))
READ = ("--read", "label=pet")
FEW = (*READ, "--runs", "2", "--set", "epochs=8", "--device", "cpu")


def test_from_a_file_to_predictions(process, pets, place):
    """Every command in a process of its own, where nothing is registered yet."""
    answer = process("compare", "pets", *PLUGIN, "--methods", "mine,gcn,pcnet", *FEW, "--json", "c.json")
    assert answer.code == 0, answer.err
    assert {row["method"] for row in json.loads((place / "c.json").read_text())["methods"]} == {"mine", "gcn", "pcnet"}
    assert "Mine" in answer.out
    trained = process("train", "pets", *PLUGIN, "--method", "mine", *FEW, "--set", "hidden=4", "--out", "run")
    assert trained.code == 0, trained.err
    assert "Mine" in (place / "run" / "report.html").read_text(encoding="utf-8")
    process("predict", "run", "pets", *READ, "--output", "p.csv").refuses(
        "name that file with --plugin, or import it first."
    )
    predicted = process("predict", "run", "pets", *PLUGIN, *READ, "--output", "p.csv")
    assert predicted.code == 0, predicted.err
    assert len((place / "p.csv").read_text().splitlines()) == 61
    space = place / "space.json"
    space.write_text('{"hidden": [2, 4], "lr": [0.01, 0.05]}')
    search = ("--space", str(space), "--trials", "3", "--set", "epochs=4", "--device", "cpu")
    tuned = process("tune", "pets", *READ, *PLUGIN, "--method", "mine", *search)
    assert tuned.code == 0, tuned.err
    [best] = place.rglob("best.json")
    assert json.loads(best.read_text())["method"] == "mine"


@pytest.mark.parametrize("command", ["train", "compare", "tune", "predict run", "inspect"])
def test_a_plugin_that_is_not_there(pcnet, pets, command):
    pcnet(*command.split(), "pets", "--plugin", "none.py").refuses("There is no file none.py")


def test_a_name_without_its_plugin(pcnet, pets):
    pcnet("train", "pets", "--method", "mine").refuses("There is no method 'mine'; choose from")
