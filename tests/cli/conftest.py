"""The command, in this process or in one of its own, in an empty folder without network or data."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from small_comparisons import write_folder

from pcnet import csbm
from pcnet.cli import main

_FOLDER = os.environ.get("PCNET_DATA")


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    def refuses(self, words: str) -> None:
        """Exit status 2 and one sentence with these words in it, besides notes on the settings."""
        assert self.code == 2, self.err
        said = [line for line in self.err.splitlines() if not line.startswith("note: ")]
        assert len(said) == 1, self.err
        assert said[0].startswith("pcnet: ")
        assert words in self.err
        assert "Traceback" not in self.out


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: empty, and nothing is found anywhere else."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PCNET_DATA", raising=False)
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    return folder


@pytest.fixture
def pcnet(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[..., Answer]:
    """`pcnet …` in this process."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["pcnet", *map(str, arguments)])
        with pytest.raises(SystemExit) as leave:
            main()
        return Answer(leave.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def process(place: Path) -> Callable[..., Answer]:
    """`python -m pcnet …` in a process of its own; keyword arguments go to `subprocess.run`."""

    def run(*arguments: object, **more: object) -> Answer:
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120, **more}
        command = [sys.executable, "-m", "pcnet", *map(str, arguments)]
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False, **options)
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def real() -> Path:
    """The folder of raw datasets; tests that need it are skipped without one."""
    if not _FOLDER:
        pytest.skip("PCNET_DATA is not set: no real data to test with")
    return Path(_FOLDER).resolve()


@pytest.fixture
def written(place: Path) -> Callable[[], list[str]]:
    """Everything in the current folder."""
    return lambda: sorted(str(path.relative_to(place)) for path in place.rglob("*"))


@pytest.fixture
def pets(place: Path) -> None:
    """A small graph of one's own in the current folder."""
    write_folder(place / "pets", csbm(60, 0.5, features=3, seed=0))
