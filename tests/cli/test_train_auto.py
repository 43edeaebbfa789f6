"""`pcnet train --method auto`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

PEOPLE = str(Path(__file__).parents[2] / "examples" / "people")
AUTO = ("train", PEOPLE, "--method", "auto", "--threads", "1")
METHODS, TRAINING = ("mlp", "gprgnn"), {"epochs": 30, "stopping": "none"}
#: The command with what `few` makes of it.
FEW_IN_A_PROCESS = f"""
import pcnet.tune._contest as contest
contest.CONTENDERS, contest.TRAINING = {METHODS}, {TRAINING}
from pcnet.cli import main
main()
"""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two quick methods compete."""
    monkeypatch.setattr("pcnet.tune._contest.CONTENDERS", METHODS)
    monkeypatch.setattr("pcnet.tune._contest.TRAINING", TRAINING)


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
    report = (place / "here" / "report.html").read_text()
    assert "The contest" in report
    assert "Score against time; the best trial has" in report
    result = json.loads((place / "result.json").read_text())
    assert (result["preset"], result["runs"]) == ("auto", 1)
    assert "mean probability" in pcnet("predict", "here").out
    assert json.loads((place / "here" / "metrics.json").read_text())["predictor"]["refit"] is False


def test_killed_and_resumed_it_ends_the_same(pcnet, place):
    """A real process: the ensemble and its models are the same to the bit."""
    options = ("--trials", "3", "--refit", "--out")
    process = subprocess.Popen([sys.executable, "-c", FEW_IN_A_PROCESS, *AUTO, *options, "killed"], cwd=place)
    until = time.monotonic() + 120
    while not is_begun(place / "killed" / "checkpoint" / "contest-0" / "trials.sqlite"):
        assert process.poll() is None, "ended before anything was trained"
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert not (place / "killed" / "classifier.json").exists()
    words = " ".join(pcnet(*AUTO, *options, "killed", "--resume").out.split())
    assert "trained once more with every label, none kept back, are kept to predict." in words
    assert "What predicts was trained once more with no label kept back" in words
    assert pcnet(*AUTO, *options, "whole").code == 0
    kept = {path.relative_to(place / "whole") for path in (place / "whole" / "models").rglob("*") if path.is_file()}
    assert len(kept) >= 10
    for path in (*kept, Path("classifier.json")):
        assert (place / "killed" / path).read_bytes() == (place / "whole" / path).read_bytes()


def is_begun(path: Path) -> bool:
    """Whether a run is known of a contest."""
    if not path.exists():
        return False
    with closing(sqlite3.connect(path, timeout=60)) as connection, suppress(sqlite3.OperationalError):
        return bool(connection.execute("SELECT count(*) FROM scores").fetchone()[0])
    return False


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
            "seconds are not enough to train a single method on people",
        ),
        (("--method", "auto", "--metric", "roc"), "There is no metric 'roc'"),
        (("--refit", "--no-predictor"), "--refit is about the models that predict; leave out --no-predictor."),
    ],
)
def test_refusals(options, words, pcnet, place):
    pcnet("train", PEOPLE, *options).refuses(words)
    assert not (place / "runs").exists()
