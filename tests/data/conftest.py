"""Real data for tests: `$PCNET_DATA` when it is set; a network that is never there."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

from pcnet.data import load_dataset
from pcnet.graph import Graph

_FOLDER = os.environ.get("PCNET_DATA")


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of raw datasets; tests that need it are skipped without one."""
    if not _FOLDER:
        pytest.skip("PCNET_DATA is not set: no real data to test with")
    return Path(_FOLDER)


@pytest.fixture(scope="session")
def load(real: Path):
    """`load_dataset` from the real folder, each graph read once a session."""
    loaded: dict[str, Graph] = {}

    def get(name: str) -> Graph:
        if name not in loaded:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # cornell's warning has its own test
                loaded[name] = load_dataset(name, real)
        return loaded[name]

    return get


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, an empty cache beside it, and every connection refused."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("PCNET_DATA", str(folder))
    return folder
