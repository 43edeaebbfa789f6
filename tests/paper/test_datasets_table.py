"""The dataset table counts what it says it counts, and explains what differs."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from counted_progress import Counted
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pcnet import PcnetError
from pcnet.data import CATALOGUE, load_embedded
from pcnet.data._load import _read, read_embedded
from pcnet.graph import Graph
from pcnet.paper import datasets_table, published_statistics, run_datasets, statistics
from pcnet.paper._datasets import NUMBERS

_FOLDER = os.environ.get("PCNET_DATA")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, an empty cache, and no network."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def real() -> Path:
    if not _FOLDER:
        pytest.skip("PCNET_DATA is not set: no real data to test with")
    return Path(_FOLDER)


def raw_loops(raw) -> int:
    return len(np.unique(raw.source[raw.source == raw.target]))


@given(st.integers(2, 9), st.data())
def test_counts(nodes, data):
    """Against sets of pairs."""
    ids = st.integers(0, nodes - 1)
    pairs = data.draw(st.sets(st.tuples(ids, ids), min_size=1))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes))
    labels[0], labels[1] = 0, 1
    listed = sorted(pairs | {(b, a) for a, b in pairs})
    graph = Graph(torch.tensor(listed).T, torch.ones(nodes, 4), torch.tensor(labels))
    links = {frozenset(pair) for pair in pairs}
    found = statistics(graph)
    assert (found["nodes"], found["features"], found["classes"]) == (nodes, 4, max(labels) + 1)
    assert found["edges"] == len(links)
    assert found["loops"] == sum(len(link) == 1 for link in links)
    inside = sum(len({labels[node] for node in link}) == 1 for link in links)
    assert found["homophily"] == pytest.approx(inside / len(links))


def test_embedded_citeseer(nowhere):
    progress = Counted()
    report = run_datasets(nowhere, progress=progress)
    report = json.loads(json.dumps(report, allow_nan=False))
    (row,) = report["rows"]
    assert row["dataset"] == "citeseer"
    counts = {number: row[number]["found"] for number in ("nodes", "edges", "features", "classes")}
    assert counts == {"nodes": 3327, "edges": 4552, "features": 3703, "classes": 6}
    assert row["homophily"]["found"] == pytest.approx(0.7355, abs=5e-5)
    assert row["loops"] == 0
    assert [number for number in NUMBERS if row[number]["verdict"] == "differs"] == ["edges"]
    assert f"includes {raw_loops(read_embedded())} loops of the raw file" in row["edges"]["reason"]
    assert [each["dataset"] for each in report["left_out"]] == [
        name for name in published_statistics() if name != "citeseer"
    ]
    assert (progress.total, progress.done) == (8, 8)


def test_a_difference_that_nobody_can_explain(nowhere):
    row = replace(published_statistics()["citeseer"], nodes=3328, homophily=0.73)
    (found,) = run_datasets(nowhere, published={"citeseer": row})["rows"]
    for number in ("nodes", "homophily"):
        assert found[number]["verdict"] == "differs"
        assert found[number]["reason"] == "The reason is not known."
    sheet = datasets_table({"what": "w", "rule": "r", "rows": [found], "left_out": []})
    assert sheet.rows[0][1] == "3,327 (paper 3,328)"
    assert sheet.rows[0][-1] == "differs in nodes, edges, h(G)"


def test_damaged_data_is_not_missing_data(real, nowhere):
    for file in CATALOGUE["texas"].files:
        (nowhere / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real / file, nowhere / file)
    edges = nowhere / CATALOGUE["texas"].files[1]
    edges.write_text("\n".join(edges.read_text().splitlines()[:50]) + "\n")
    with pytest.raises(PcnetError, match="texas was read with"):
        run_datasets(nowhere, published={"texas": published_statistics()["texas"]})


def test_all_that_are_at_hand(real, monkeypatch, tmp_path):
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path))
    known = published_statistics()
    names = [name for name in known if all((real / file).exists() for file in CATALOGUE[name].files)]
    report = run_datasets(real, published={name: known[name] for name in names})
    verdicts = {
        row["dataset"]: [number for number in NUMBERS if row[number]["verdict"] == "differs"] for row in report["rows"]
    }
    expected = {"citeseer": ["edges"], "pubmed": ["edges"], "actor": ["features"], "penn94": ["features"]}
    assert verdicts == {name: expected.get(name, []) for name in names}
    rows = {row["dataset"]: row for row in report["rows"]}
    for name in ("citeseer", "pubmed"):
        edges = rows[name]["edges"]
        assert edges["published"] - edges["found"] == raw_loops(_read(CATALOGUE[name], real))
    assert "932" in rows["actor"]["features"]["reason"]
    assert any("Texas" in note or "texas" in note for note in rows["cornell"]["notes"])


def test_table(nowhere):
    sheet = datasets_table(run_datasets(nowhere))
    text = sheet.markdown()
    assert "| citeseer | 3,327 | 4,552 (paper 4,676) | 3,703 | 6 | 0.74 | 0 | differs in edges |" in text
    assert "- penn94 is left out: its data was not at hand." in text
    assert str(nowhere) not in text
    with (console := Console(width=120)).capture() as shown:
        console.print(sheet.rich())
    assert "4,552 (paper 4,676)" in shown.get()


def test_homophily_is_of_the_published_labels():
    graph = load_embedded()
    assert statistics(graph)["homophily"] == statistics(graph.as_published())["homophily"]
