"""`pcnet train --method auto`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PEOPLE = str(Path(__file__).parents[2] / "examples" / "people")
AUTO = ("train", PEOPLE, "--method", "auto", "--threads", "1")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two quick methods compete."""
    monkeypatch.setattr("pcnet.tune._contest.CONTENDERS", ("mlp", "gprgnn"))
    monkeypatch.setattr("pcnet.tune._contest.TRAINING", {"epochs": 30, "stopping": "none"})


def test_a_contest_its_folder_and_how_it_goes_on(pcnet, place):
    answer = pcnet(*AUTO, "--trials", "3", "--out", "here", "--json", "result.json")
    assert (answer.code, answer.err) == (0, "")
    assert "Methods compete on people" in answer.out
    words = " ".join(answer.out.split())
    assert "stratified-60-20-20, 1 split, 3 trials" in words
    # The first defaults, the better ones, and what was drawn alone: all folds have seen two or three of them.
    assert re.search(r"3 settings competed, [23] of them on all folds, in \d+ runs", words)
    assert "To be expected on the 42 nodes without a label" in answer.out
    names = {path.name for path in (place / "here").iterdir()}
    assert names >= {"classifier.json", "metrics.json", "models", "report.html", "settings.json", "splits.json"}
    assert "The contest" in (place / "here" / "report.html").read_text()
    result = json.loads((place / "result.json").read_text())
    assert (result["preset"], result["runs"]) == ("auto", 1)
    assert "mean probability" in pcnet("predict", "here").out
    classifier = (place / "here" / "classifier.json").read_bytes()
    more = pcnet(*AUTO, "--trials", "3", "--out", "here", "--resume")
    assert more.code == 0
    assert (place / "here" / "classifier.json").read_bytes() == classifier


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--method", "auto", "--set", "t=1"),
            "leave out --preset and --set.",
        ),
        (("--method", "auto", "--preset", "table2"), "--method auto searches for settings itself"),
        (("--method", "auto", "--minutes", "1", "--trials", "3"), "--minutes and --trials both say when"),
        (("--method", "gcn", "--trials", "3"), "--minutes and --trials belong to --method auto, not to gcn."),
        (("--method", "auto", "--minutes", "-1"), "minutes must be above 0, not -1."),
        (
            ("--method", "auto", "--minutes", "1e-6"),
            "seconds are not enough to train a single method on 5 folds",
        ),
        (("--method", "auto", "--metric", "roc"), "There is no metric 'roc'"),
    ],
)
def test_refusals(options, words, pcnet, place):
    pcnet("train", PEOPLE, *options).refuses(words)
    assert not (place / "runs").exists()
