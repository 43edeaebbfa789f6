"""What the command says about itself."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pcnet as package
from pcnet.cli import COMMANDS, docstring

TRAIN = """
    GRAPH --preset --protocol --runs --set --seed --threads --device --out --resume --data --read --json
    KEY=VALUE lr.theta=0.01 table1 table2 table3 citeseer $PCNET_DATA
"""
TUNE = """
    GRAPH --trials --preset --protocol --runs --splits --strategy --sampler --batch --seed --space --set --leak
    --store --threads --device --data --json halving evolve optuna tpe wide table3 fixed-48-32-20 best.json
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


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_the_same_when_it_is_loaded(command):
    """`pcnet --help` reads a docstring that `pcnet COMMAND --help` has from the function."""
    module = import_module(f"pcnet.cli._{command}")
    assert docstring(command) == inspect.getdoc(getattr(module, command))
    assert docstring(command).split("\n\n")[0].endswith(".")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["data", "list"]])
def test_what_needs_no_torch_does_not_load_it(arguments, place):
    code = "import sys; sys.argv = ['pcnet', *sys.argv[1:]]; from pcnet.cli import main\ntry: main()\nfinally: "
    code += "print([name for name in ('torch', 'scipy', 'sklearn', 'matplotlib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_benchmarks_are_elsewhere(pcnet, written):
    pcnet("bench", "--quick").refuses("Benchmarks are not part of the package; run make bench in the repository.")
    pcnet("reproduce", "complexity").refuses("run python -m benchmarks.complexity.")
    assert written() == []


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
