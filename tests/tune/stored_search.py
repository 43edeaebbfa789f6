"""What the files of a search hold, read without the code that wrote them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path


def rows(path: Path, query: str) -> list[tuple]:
    """The rows that a query finds in an SQLite file, which is not made where there is none."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=60)) as connection:
        return connection.execute(query).fetchall()


def values(folder: Path) -> dict[int, dict]:
    """The values of every trial."""
    found = rows(folder / "trials.sqlite", "SELECT trial, axes FROM trials ORDER BY trial")
    return {trial: json.loads(axes) for trial, axes in found}


def scores(folder: Path) -> dict[tuple[int, int], tuple]:
    """(gain, loss, epochs) by (trial, split); no run may be there twice."""
    found = rows(folder / "trials.sqlite", "SELECT trial, split, gain, loss, epochs FROM scores")
    by_run = {row[:2]: row[2:] for row in found}
    assert len(by_run) == len(found)
    return by_run


def known(folder: Path) -> tuple[dict, dict]:
    """Everything that the next step of the search depends on."""
    return values(folder), scores(folder)


def scores_on_test(folder: Path) -> dict[tuple[int, int], float]:
    """By (trial, split); no run may be there twice."""
    found = rows(folder / "test-scores.sqlite", "SELECT trial, split, score FROM scores")
    by_run = {row[:2]: row[2] for row in found}
    assert len(by_run) == len(found)
    return by_run


def description(folder: Path) -> dict:
    ((text,),) = rows(folder / "trials.sqlite", "SELECT description FROM search")
    return json.loads(text)


def claims(folder: Path) -> list[tuple]:
    return rows(folder / "trials.sqlite", "SELECT * FROM claims")
