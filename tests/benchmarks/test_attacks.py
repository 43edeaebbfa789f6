"""A sample of `make attack`: nothing that is damaged is lost, and an attack notices what is wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
from benchmarks.attack import files, folders, registry
from benchmarks.attack.__main__ import main
from benchmarks.attack.registry import ATTACKS, one, run

from pcnet import PcnetError

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_a_sample(name):
    tally = run(name, range(60), seconds=20)
    assert not tally.lost, next(iter(tally.lost.values()))
    assert tally.counts["refused"]


def test_what_is_read_wrongly_is_lost(monkeypatch):
    """The judge is no part of pcnet: a reader that swaps two labels loses."""
    read = files.read_graph

    def swapped(*arguments, **options):
        graph = read(*arguments, **options)
        graph.y[:2] = graph.y[:2].flip(0)
        return graph

    monkeypatch.setattr(files, "read_graph", swapped)
    assert run("csv", range(40)).lost


def test_hashes_are_what_finds_an_exchanged_member(monkeypatch):
    folders.models()
    monkeypatch.setattr("pcnet.experiment._classifier_file._check", lambda *_: None)
    assert run("models", range(40)).lost


def test_the_command(monkeypatch, capsys):
    trials = {"sound": lambda random, folder: None, "wrong": lambda random, folder: random["no such thing"]}
    monkeypatch.setattr(registry, "ATTACKS", trials)
    monkeypatch.setattr("benchmarks.attack.__main__.ATTACKS", trials)
    monkeypatch.setattr("sys.argv", ["attack", "--trials", "3"])
    assert main() == 1
    shown = capsys.readouterr().out
    assert re.search(r"sound\s+3\s+3\s+0\s+0\n", shown)
    assert re.search(r"wrong\s+3\s+0\s+0\s+3\n", shown)
    assert "lost: python -m benchmarks.attack wrong --seed 2" in shown
    monkeypatch.setattr("sys.argv", ["attack", "sound", "--seed", "2"])
    assert main() == 0
    assert capsys.readouterr().out == "sound, seed 2: read.\n"


def test_ends(monkeypatch):
    def huge(random, folder):
        np.ones(2 * registry.MEMORY)

    def refused(random, folder):
        raise PcnetError("Two lines\nare no sentence.")

    monkeypatch.setattr(registry, "ATTACKS", {"huge": huge, "refused": refused})
    assert one("huge", 0)[0] == one("refused", 0)[0] == "lost"
