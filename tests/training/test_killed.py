"""`pcnet train` killed at any moment, for real, and resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from pcnet.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

#: The command with a checkpoint after every epoch.
EAGER = "import pcnet.training._train as t; t.CHECKPOINT_INTERVAL = -1.0; from pcnet.cli import main; main()"
SETTINGS = ("train", "--runs", "4", "--set", "epochs=60", "--set", "hidden=16", "--threads", "2")


def start(*arguments: str | Path) -> subprocess.Popen:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PCNET_DATA": ""}
    command = [sys.executable, "-c", EAGER, *SETTINGS, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> tuple[int, str]:
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def here(*arguments: str | Path) -> None:
    """The same command in this process, to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pcnet", *SETTINGS, *map(str, arguments)])
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        patch.delenv("PCNET_DATA", raising=False)
        with pytest.raises(SystemExit) as leave:
            main()
    assert not leave.value.code


def content(folder: Path) -> dict[str, object]:
    """Everything in a run folder but the time it took, the picture, and the report, which names the command."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".png", ".html")
    }
    metrics = json.loads(files.pop("metrics.json"))
    assert metrics.pop("seconds") > 0
    return {**files, "metrics": metrics}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    here("--out", folder)
    return folder


def wait_for_block(folder: Path, process: subprocess.Popen) -> None:
    until = time.monotonic() + 60
    while not any((folder / "checkpoint").glob("block-*.safetensors")):
        assert process.poll() is None, "ended before its first checkpoint"
        assert time.monotonic() < until
        time.sleep(0.005)


def test_killed_and_resumed(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = start("--out", folder)
    wait_for_block(folder, process)
    time.sleep(random.Random(4).uniform(0, 0.5))
    process.send_signal(signal.SIGKILL)
    assert finish(process)[0] == -signal.SIGKILL
    assert not (folder / "metrics.json").exists()
    here("--out", folder, "--resume")
    assert content(folder) == content(undisturbed)
    assert not (folder / "checkpoint").exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killed_often(undisturbed, tmp_path, seed):
    folder, chance = tmp_path / "run", random.Random(seed)
    process = start("--out", folder)
    wait_for_block(folder, process)
    for _ in range(12):
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        finish(process)
        if not (folder / "checkpoint").exists():
            break
        process = start("--out", folder, "--resume")
        time.sleep(chance.uniform(2.0, 3.5))
    else:
        process.kill()
        finish(process)
    if (folder / "checkpoint").exists():
        here("--out", folder, "--resume")
    assert content(folder) == content(undisturbed)


def test_interrupted_says_how_to_go_on(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = start("--out", folder)
    wait_for_block(folder, process)
    process.send_signal(signal.SIGINT)
    code, errors = finish(process)
    assert code == 130
    assert "Traceback" not in errors
    *notes, last = errors.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert last.startswith("pcnet: Interrupted")
    assert f"--resume --out {folder}" in last
    assert not (folder / "metrics.json").exists()
    here("--resume", "--out", folder)
    assert content(folder) == content(undisturbed)
