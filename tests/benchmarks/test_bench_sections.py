"""Sections count what they say they count, and say why something is missing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from benchmarks.bandwidth import Copy, measure_bandwidth, product_bytes, sweep_bytes
from benchmarks.effort import Effort
from benchmarks.filters import WAYS, Filter, faster_layout
from benchmarks.graphs import random_graph
from benchmarks.plots import plot_report
from benchmarks.race import Race, measure_scale, measure_ways
from benchmarks.tables import section_tables
from benchmarks.training import measure_methods
from rich.console import Console

from benchmarks import bandwidth, race
from pcnet import Graph, PcnetError, PCNetSettings
from pcnet.graph import CSR

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
MODEL = PCNetSettings(K=2, N=3)


@pytest.fixture
def effort(monkeypatch: pytest.MonkeyPatch) -> Effort:
    """Next to nothing."""
    monkeypatch.setattr(bandwidth, "BLOCK", 2**16)
    planned = Effort.planned(quick=True, threads=1, rounds=1, largest=200)
    return replace(planned, seconds=1e-4, orders=(2, 3), runs=(1, 2))


class Counted:
    """Progress that ends where it said it would."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def stage(self, title: str, total: int) -> None:
        assert title
        self.total, self.done = total, 0

    def advance(self, units: int = 1) -> None:
        self.done += units
        assert self.done <= self.total


def test_bytes_of_a_product_and_a_sweep():
    crow, col = torch.tensor([0, 2, 2, 5], dtype=torch.int32), torch.tensor([0, 2, 0, 1, 2], dtype=torch.int32)
    matrix = CSR(crow, col, torch.ones(5), (3, 3))
    # Five gathered rows of 7 numbers, each with a column and a value; three rows written; four row pointers.
    product = 5 * (7 * 4 + 4 + 4) + 3 * 7 * 4 + 4 * 4
    assert product_bytes(matrix, 7) == product == 280
    # Each of two steps also reads a term and reads and writes the sum, which begins as x times a number.
    assert sweep_bytes(matrix, 7, 2) == 2 * (product + 3 * 84) + 2 * 84
    assert product_bytes(matrix.to(torch.float64), 7) == 5 * (7 * 8 + 4 + 8) + 3 * 7 * 8 + 4 * 4


def test_bandwidth(effort: Effort):
    result = measure_bandwidth(effort, Counted())
    assert [row["what"] for row in result["rows"]] == ["product", "sweep", "sweep and gradient"]
    assert [row["products"] for row in result["rows"]] == [1, 4, 8]
    # There is one graph and one round: all copies are one.
    assert len(set(result["copy_bytes_per_s"].values())) == 1
    for row in result["rows"]:
        bound = row["bytes"] / result["copy_bytes_per_s"]["median"]
        assert row["fraction"]["median"] == pytest.approx(bound / (1e-3 * row["ms"]["median"]))
        assert row["fraction_of_best_copy"] == pytest.approx(row["fraction"]["median"])
        assert row["fraction"]["low"] <= row["fraction"]["median"] <= row["fraction"]["high"]
        assert row["bytes"] == row["products"] * product_bytes(random_graph(200).operator.matrix, 64)
    shares = {row["N"]: row["peak_bytes"] / row["x_bytes"] for row in result["memory"]}
    assert shares[20] == pytest.approx(shares[5], rel=0.1)


def test_copy_counts_what_is_read_and_written(effort: Effort, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bandwidth, "elapsed", lambda *_: 0.5)
    copy = Copy(effort)
    assert [copy(), copy()] == copy.rates == [2 * 4 * 2**16 / 0.5] * 2
    assert torch.equal(copy.source, copy.target)


def test_ways(effort: Effort):
    rows = measure_ways(effort, progress := Counted())["rows"]
    assert progress.done == progress.total == 4
    assert [(row["runs"], row["N"], row["way"]) for row in rows] == [
        (runs, order, way) for runs in (1, 2) for order in (2, 3) for way in WAYS
    ]
    for row in rows:
        assert row["nodes"] == 200
        assert row["x_bytes"] == 200 * row["runs"] * 8 * 4
        assert row["peak_bytes"] > row["kept_bytes"] >= row["x_bytes"]
        assert row["ms_per_run"]["low"] <= row["ms_per_run"]["median"] <= row["ms_per_run"]["high"]
    assert {row["form"] for row in rows if row["way"] == "torch.sparse.mm"} == {faster_layout("cpu")}
    assert {row["ratio"]["median"] for row in rows if row["way"] == "pcnet"} == {1.0}


def test_what_takes_too_long_is_left_out_with_the_reason(effort: Effort):
    ours, *others = Race(effort, patience=1e-9).run(random_graph(200), MODEL, 1, 4)
    assert "skipped" not in ours
    assert all(row["skipped"].startswith("a call takes") for row in others)
    patient = Race(effort)
    patient.run(random_graph(200), MODEL, 1, 4)
    patient.patience = 1e-9
    _, *others = patient.run(random_graph(200), MODEL, 1, 4)
    assert all(row["skipped"].startswith("a call would take about") for row in others)


def test_what_needs_too_much_memory_is_left_out_with_the_reason(effort: Effort):
    remembered = Race(effort)
    remembered.run(random_graph(200), MODEL, 1, 4)
    remembered.needs = {name: replace(need, peak=2.0**60) for name, need in remembered.needs.items()}
    rows = remembered.run(random_graph(200), MODEL, 2, 4)
    assert {row["skipped"] for row in rows} == {f"it would need about {2**31} GiB"}


def test_a_way_that_fails_says_so_and_the_library_does_not_hide(effort: Effort, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> Filter:
        raise RuntimeError("no such kernel\nand much more")

    monkeypatch.setitem(race.WAYS, "plain", broken)
    rows = {row["way"]: row for row in Race(effort).run(random_graph(200), MODEL, 1, 4)}
    assert rows["plain"]["skipped"] == "it failed: no such kernel"
    assert "ms_per_run" in rows["PyG messages"]
    monkeypatch.setitem(race.WAYS, "pcnet", broken)
    with pytest.raises(RuntimeError, match="no such kernel"):
        Race(effort).run(random_graph(200), MODEL, 1, 4)


def test_graphs_without_room_are_left_out(effort: Effort):
    result = measure_scale(replace(effort, sizes=(200, 10**12)), Counted())
    assert {row["nodes"] for row in result["rows"]} == {200}
    assert [each["nodes"] for each in result["left_out"]] == [10**12]


def test_methods(effort: Effort, tmp_path):
    """On a tiny graph, under a name that the tables know."""
    nodes = torch.arange(90)
    ring = torch.stack([torch.cat([nodes, nodes.roll(1)]), torch.cat([nodes.roll(1), nodes])])
    graph = Graph(ring, torch.nn.functional.one_hot(nodes % 12).float(), nodes % 3)
    missing = [{"dataset": "pubmed", "skipped": "it is far away"}]
    result = measure_methods(effort, Counted(), {"cora": graph}, missing)
    assert result == json.loads(json.dumps(result, allow_nan=False))
    rows = result["rows"]
    methods = ("gprgnn", "bernnet", "chebnetii", "jacobiconv")
    assert [(row["dataset"], row["method"]) for row in rows] == [("cora", method) for method in methods]
    for row in rows:
        assert row["runs"] == 10
        assert row["settings"]
        # There is one round: its ratio is that of the medians.
        for key, ratio in (("plain_ms", "ratio"), ("cached_ms", "ratio_cached")):
            assert row[ratio]["median"] == pytest.approx(row[key]["median"] / row["pcnet_ms"]["median"])
    with (console := Console(width=120)).capture() as shown:
        for sheet in section_tables("methods", result):
            console.print(sheet.rich())
    assert all(word in shown.get() for word in ("ChebNetII", "cached / pcnet", "Without pubmed: it is far away."))
    report = {"device": "cpu", "machine": "a processor", "threads": 1, "versions": {"torch": "2"}}
    files = plot_report(report | {"sections": {"methods": result}}, tmp_path)
    assert [path.name for path in files] == ["bench-cpu-methods.png", "bench-cpu-methods.svg"]
    assert all(path.stat().st_size > 5_000 for path in files)


def test_sizes():
    assert Effort.planned().sizes == (2_000, 20_000, 200_000, 2_000_000)
    assert Effort.planned(largest=5_000).sizes == (2_000, 5_000)
    assert Effort.planned(largest=300).sizes == (300,)
    assert Effort.planned(largest=300).middle == 300
    with pytest.raises(PcnetError, match="--largest must be at least 100, not 99"):
        Effort.planned(largest=99)


def test_tables_and_figures_of_what_is_left(effort: Effort, tmp_path):
    """All sections of an impatient run, as they come back from JSON."""
    hasty = replace(effort, patience=1e-9)
    sections = {"ways": measure_ways(hasty, Counted()), "scale": measure_scale(hasty, Counted())}
    report = {
        "device": "cuda",
        "machine": "an accelerator",
        "threads": 1,
        "versions": {"torch": "2"},
        "sections": sections,
    }
    report = json.loads(json.dumps(report, allow_nan=False))
    with (console := Console(width=120)).capture() as shown:
        for name, section in report["sections"].items():
            for sheet in section_tables(name, section):
                console.print(sheet.rich())
    assert "plain, 200 nodes: a call takes" in shown.get()
    files = plot_report(report, tmp_path)
    assert [path.name for path in files[::2]] == [f"bench-gpu-{what}.png" for what in ("speed", "memory", "nodes")]
    assert all(path.stat().st_size > 5_000 for path in files)
    before = [path.read_bytes() for path in files]
    assert [path.read_bytes() for path in plot_report(report, tmp_path)] == before
