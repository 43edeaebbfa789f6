"""What the command says about itself."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import pcnet as package

COMMANDS = ["train", "predict", "inspect", "compare", "reproduce", "tune", "bench", "data"]
TRAIN = """
    GRAPH --preset --protocol --runs --set --seed --threads --device --out --resume --data --read --json
    KEY=VALUE lr.theta=0.01 table1 table2 table3 citeseer $PCNET_DATA
"""
TUNE = """
    GRAPH --trials --preset --protocol --runs --splits --strategy --sampler --batch --seed --space --set --leak
    --store --threads --device --data --json halving optuna tpe table3 fixed-48-32-20 best.json
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["Usage: pcnet", *COMMANDS, "whatever its homophily", "--version"]),
        (["-h"], ["Usage: pcnet"]),
        (["train", "--help"], [*TRAIN.split(), "test labels are read once, after all training", "standard output"]),
        (["tune", "--help"], [*TUNE.split(), "computed once, at the end", "the same command continues a search"]),
        (["predict", "--help"], ["RUN", "[GRAPH]", "-o", "margin", "--unlabelled", "calibrated on"]),
        (["inspect", "--help"], ["[GRAPH]", "--json", "--no-probe"]),
        (["compare", "--help"], ["[GRAPH]", "--methods", "--out", "Wilcoxon"]),
        (["data", "--help"], ["list", "get", "verify", "export", "checksum"]),
        (["data", "list", "--help"], ["--data", "--json"]),
    ],
)
def test_help(arguments, words, pcnet, written):
    code, out, err = pcnet(*arguments)
    assert (code, err) == (0, "")
    plain = " ".join(out.replace("│", " ").split())
    assert [word for word in words if word not in plain] == []
    assert written() == []


def test_help_is_wrapped_for_the_screen(pcnet):
    """No line of a paragraph ends early because a source line did."""
    lines = pcnet("train", "--help").out.splitlines()
    start = next(place for place, line in enumerate(lines) if "Without arguments" in line)
    paragraph = []
    for line in lines[start:]:
        if not line.strip() or line.startswith("╭"):
            break
        paragraph.append(line.strip())
    assert len(paragraph) >= 3
    for line, following in itertools.pairwise(paragraph):
        assert len(line) + 1 + len(following.split()[0]) > 90


@pytest.mark.parametrize("arguments", [[], ["data"]])
def test_nothing_asked_shows_the_help(arguments, pcnet, written):
    _, out, err = pcnet(*arguments)
    assert "Usage: pcnet" in out
    assert err == ""
    assert written() == []


def test_version(pcnet):
    assert pcnet("--version") == (0, f"pcnet {package.__version__}\n", "")


def test_as_a_module_and_as_a_command(process):
    command = Path(sys.executable).with_name("pcnet")
    assert process("--version") == (0, f"pcnet {package.__version__}\n", "")
    if command.exists():
        assert subprocess.check_output([command, "--version"], text=True) == f"pcnet {package.__version__}\n"


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(process):
    """As in `pcnet data list | head -0`."""
    reader = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.PIPE)
    reader.wait()
    assert "Traceback" not in process("data", "list", stdout=reader.stdin).err
    reader.stdin.close()
