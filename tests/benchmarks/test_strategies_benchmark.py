"""The comparison of strategies: it goes on where it was, and its figures are those of its searches."""

from __future__ import annotations

import json

import pytest

from benchmarks import strategies
from pcnet import csbm

pytest.importorskip("optuna")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """One small graph, and few epochs."""
    monkeypatch.setattr(strategies, "labelled_graphs", lambda: [("small", lambda: csbm(60, 0.8, features=4, seed=0))])
    monkeypatch.setattr(strategies, "CELLS", (("small", "pcnet"),))
    monkeypatch.setattr(strategies, "SHORT", ("hidden=4", "epochs=4"))
    return lambda *more: strategies.main(["--trials", "5", "--splits", "2", "--out", str(tmp_path), *more])


def test_rows_are_kept_and_more_seeds_are_added(small, tmp_path):
    small("--seeds", "1")
    first = json.loads((tmp_path / "strategies.json").read_text())["rows"]
    assert [row["strategy"] for row in first] == list(strategies.WAYS)
    assert (first[0]["runs"], first[0]["trials"]) == (12, 5), "five trials and the defaults, on two splits"
    for row in first:
        vals = [val for _, val, _ in row["curve"]]
        assert vals == sorted(vals)
        assert (row["val"], row["test"]) == tuple(row["curve"][-1][1:])
    small("--seeds", "2")
    both = json.loads((tmp_path / "strategies.json").read_text())["rows"]
    assert both[:4] == first
    assert [row["seed"] for row in both] == [0] * 4 + [1] * 4
    assert "| small | pcnet | 2 |" in (tmp_path / "strategies.md").read_text()


def test_a_seed_that_lacks_a_strategy_does_not_count():
    row = {"graph": "g", "method": "m", "seed": 0, "seconds": 2.0, "runs": 4, "val": 50.0, "test": 40.0}
    rows = [row | {"strategy": way, "curve": [[1.0, 50.0, 40.0]]} for way in strategies.WAYS]
    rows.append(rows[0] | {"seed": 1, "val": 99.0})
    val, test, soon = (sheet.markdown() for sheet in strategies.tables({"rows": rows}))
    assert "| g | m | 1 | **50.00** | **50.00** | **50.00** | **50.00** |" in val
    assert "99" not in val + test
    assert soon.count("50%") == 4
