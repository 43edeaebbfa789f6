"""`python -m benchmarks.auto`: what is measured is kept, and measured anew where somebody asks for it."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks import auto
from pcnet import PcnetError, csbm
from pcnet._files import read_json, write_json


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small graphs, and a stand-in for what takes minutes."""
    made = partial(csbm, 60, 0.8, features=4, seed=0)
    monkeypatch.setattr(auto, "all_graphs", lambda: [("one", made), ("two", made)])


def a_row(name: str, score: float) -> dict:
    others = {"pcnet, its defaults": 80.0}
    return {"graph": name, "nodes": 60, "metric": "accuracy", "auto": score, "trials": 3, "others": others} | {
        "interval": [score - 5, score + 5]
    }


def test_a_named_graph_is_measured_anew(graphs, tmp_path, monkeypatch):
    scores = iter([81.0, 82.0, 83.0])
    monkeypatch.setattr(auto, "measured", lambda name, graph, options: a_row(name, next(scores)))
    where = ["--minutes", "1", "--out", str(tmp_path)]
    auto.main(where)
    assert [row["auto"] for row in read_json(tmp_path / "auto.json")["rows"]] == [81.0, 82.0]
    auto.main(where)
    auto.main([*where, "--graphs", "one"])
    assert [row["auto"] for row in read_json(tmp_path / "auto.json")["rows"]] == [83.0, 82.0]
    assert "on 2 of 2 graphs" in (tmp_path / "auto.md").read_text()


def test_minutes_are_not_mixed(graphs, tmp_path):
    write_json(tmp_path / "auto.json", {"minutes": 3.0, "rows": [a_row("one", 81.0)]})
    with pytest.raises(PcnetError, match="is about 3 minutes, not 5; give as many with --minutes"):
        auto.main(["--minutes", "5", "--out", str(tmp_path)])
