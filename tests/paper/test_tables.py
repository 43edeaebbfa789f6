"""Tables: what is computed stays computed, and is compared by a stated rule."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from pcnet import PcnetError
from pcnet._files import write_json
from pcnet.compare import summarise
from pcnet.paper import (
    Cell,
    TableSweep,
    cells_of,
    cells_table,
    overview_table,
    plot_differences,
    published,
    table_report,
    verdicts_report,
    winners_tables,
)

CELL = Cell("table2", "pcnet", "citeseer")


def record(cell: Cell, per_run: list[float], splits: tuple[str, ...] | None = None) -> dict:
    """What a sweep keeps of a cell, with these scores."""
    return {
        "table": cell.table,
        "method": cell.method,
        "dataset": cell.dataset,
        "source": "somewhere",
        "rerun": None,
        "fingerprint": f"{cell.method} on {cell.dataset}",
        "test": summarise(per_run).as_dict(),
        "seconds": 1.0,
        "split_hashes": list(splits or (f"split {run}" for run in range(len(per_run)))),
    }


def test_cells_of_tables():
    assert len(cells_of(["table2"], [], [])) == 16 * 6
    assert len(cells_of(["table1", "table4"], [], ["cora"])) == 10 + 10
    assert cells_of(["table2"], ["PCNet"], ["CiteSeer"]) == [CELL]
    with pytest.raises(PcnetError, match=r"no method 'gnc'.*Did you mean 'gcn'"):
        cells_of(["table2"], ["gnc"], [])
    with pytest.raises(PcnetError, match="no dataset 'wisconsin'"):
        cells_of(["table2"], [], ["wisconsin"])


def test_what_cells_are_trained_with():
    assert CELL.experiment.paper == (81.76, 0.78)
    half = Cell("eta-half", "pcnet-half", "cora").experiment
    assert (half.protocol, half.model.eta, half.model.K) == ("semi-20-500-1000", 0.5, 6)
    bare = Cell("no-identity", "pcnet-no-identity", "cora").experiment
    assert (bare.protocol, bare.model.identity, bare.model.eta) == ("random-60-20-20", False, 0.4)
    assert CELL.experiment.rerun is not None
    assert {half.paper, half.rerun, bare.paper, bare.rerun} == {None}
    unknown = Cell("table3", "gat", "penn94")
    assert unknown.experiment is None
    assert unknown.missing == "no settings yet"


@pytest.fixture(scope="module")
def computed(tmp_path_factory) -> tuple[TableSweep, dict]:
    sweep = TableSweep(tmp_path_factory.mktemp("cells"), runs=1, threads=1, provenance={"machine": "this one"})
    return sweep, sweep.compute(CELL)


def test_a_computed_cell_is_kept(computed):
    sweep, found = computed
    said: list[str] = []
    assert sweep.known(CELL, said.append) == json.loads(json.dumps(found))
    assert said == []
    assert found["machine"] == "this one"
    assert found["settings"]["method"] == "pcnet"
    assert len(found["test"]["per_run"]) == 1
    assert 70 < found["test"]["mean"] < 90


def test_what_stands_beside_a_kept_cell_is_what_is_known_now(computed, tmp_path):
    sweep, found = computed
    older = TableSweep(tmp_path, runs=1)
    older.path(CELL).parent.mkdir()
    older.path(CELL).write_text(json.dumps({**found, "source": "hearsay", "rerun": [1.0, 2.0]}))
    assert older.known(CELL, print) == sweep.known(CELL, print)


def test_other_runs_are_another_cell(computed):
    sweep, _ = computed
    assert TableSweep(sweep.folder, runs=2).known(CELL, print) is None


@pytest.mark.parametrize("text", ["", '{"fingerprint"', "[]", '{"fingerprint": "x"}', '{"test": {}}'])
def test_a_half_written_cell_is_said_and_computed_again(computed, tmp_path, text):
    sweep = TableSweep(tmp_path, runs=1)
    path = sweep.path(CELL)
    path.parent.mkdir()
    path.write_text(text)
    said: list[str] = []
    assert sweep.known(CELL, said.append) is None
    assert len(said) <= 1
    assert all("damaged" in sentence for sentence in said)
    assert text == '{"fingerprint": "x"}' or said


def test_every_core(tmp_path):
    """Two cells in two processes are what they are in one."""
    cells = [CELL, Cell("no-identity", "pcnet-no-identity", "citeseer")]
    alone, together = (TableSweep(tmp_path / name, runs=1, threads=1) for name in ("one", "two"))
    seen = {}
    for processes, sweep in ((1, alone), (2, together)):
        seen[processes] = {cell: each["test"] for cell, each in sweep.each(cells, processes, None)}
    assert seen[1] == seen[2]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_cell_that_fails_does_not_cost_the_others(tmp_path, processes):
    raw = tmp_path / "data" / "webkb" / "texas" / "raw"
    raw.mkdir(parents=True)
    (raw / "out1_graph_edges.txt").write_text("node_id\tnode_id\n0\t1\n")
    (raw / "out1_node_feature_label.txt").write_text("node_id\tfeature\tlabel\n0\t1,0\t0\n1\t0,1\t1\n")
    sweep = TableSweep(tmp_path / "cells", tmp_path / "data", runs=1, threads=1)
    damaged = Cell("table2", "pcnet", "texas")
    found = dict(sweep.each([damaged, CELL], processes, None))
    assert "failed: texas was read with 2 nodes instead of 183" in found[damaged]
    assert not sweep.path(damaged).exists()
    assert 70 < found[CELL]["test"]["mean"] < 90


def test_a_report_says_what_came_out():
    methods = {"pcnet": 91.0, "gcn": 85.0, "mlp": 76.0}
    records = {}
    for method, level in methods.items():
        cell = Cell("table2", method, "cora")
        again = {"pcnet": (91.0, 0.5), "gcn": (91.0, 5.0)}.get(method)
        where = {"rerun": again, "machine": "a GPU" if method == "mlp" else "a CPU", "date": "today"}
        records[cell] = record(cell, [level + 0.1 * run for run in range(10)]) | where
    gone = {Cell("table2", "arma", "cora"): "no settings yet"}
    report = table_report("table2", records, gone)
    words = {cell["method"]: cell["verdict"]["word"] for cell in report["cells"]}
    assert words == {"pcnet": "reproduced", "gcn": "below", "mlp": "reproduced"}
    assert report["ranks"]["ours"] == {"pcnet": 1.0, "gcn": 2.0, "mlp": 3.0}
    won = report["winners"]["ours"]["cora"]
    assert won["best"] == "pcnet"
    assert not any(rival["indistinguishable"] for rival in won["rivals"])
    text = "".join(sheet.markdown() for sheet in (overview_table(report), *winners_tables(report), cells_table(report)))
    assert "no settings yet" in text
    assert "PCNet" in text
    assert "91.45 ± " in text
    assert "Of 2 cells whose authors' code was run again, 1 of ours lie inside its 95 % interval." in text
    assert "Cells were computed: 2 on a CPU, today; 1 on a GPU, today." in text
    json.dumps(report)


def test_pcnet_counts_once_with_the_settings_of_test_or_of_validation():
    """Ranks and winners with the one leave out the other; nothing printed stands beside the second."""
    levels = {"pcnet": 90.0, "gcn": 85.0, "mlp": 80.0, "pcnet-by-validation": 82.0}
    records = {
        Cell("table2", name, "cora"): record(Cell("table2", name, "cora"), [x] * 10) for name, x in levels.items()
    }
    records[Cell("table2", "pcnet", "cora")]["by_test"] = "its authors looked"
    report = table_report("table2", records, {})
    assert report["ranks"]["ours"] == {"pcnet": 1.0, "gcn": 2.0, "mlp": 3.0}
    assert report["ranks"]["by validation"] == {"gcn": 1.0, "pcnet-by-validation": 2.0, "mlp": 3.0}
    assert {*report["ranks"]["paper"]} == {"pcnet", "gcn", "mlp"}
    assert [found["cora"]["best"] for found in report["winners"].values()] == ["pcnet", "gcn"]
    assert [cell["paper"] for cell in report["cells"] if cell["method"] == "pcnet-by-validation"] == [None]
    overview, (first, second) = overview_table(report), winners_tables(report)
    assert {row[0]: row[2:] for row in overview.rows} == {
        "MLP": ["3.00", "3.00", "3.00"],
        "GCN": ["2.00", "1.00", "2.00"],
        "PCNet": ["1.00", "", "1.00"],
        "PCNet (by validation)": ["", "2.00", ""],
    }
    assert [row[0] for row in overview.rows if "‡" in row[1]] == ["PCNet"]
    assert "‡ PCNet: settings chosen by test, its authors looked." in overview.notes
    assert any("chose them by test" in note for note in first.notes)
    assert "validation chose PCNet" in second.title


def test_how_settings_were_chosen_is_counted():
    cells = [Cell("table2", method, "cora") for method in ("mlp", "gcn", "arma", "pcnet")]
    records = {cell: record(cell, [80.0] * 10) for cell in cells}
    for cell, source in zip(cells, ("3 splits, 6", "10 splits, 6", "3 splits, 24"), strict=False):
        records[cell]["source"] = f"validation on {source} settings"
    notes = overview_table(table_report("table2", records, {})).notes
    assert any("of 3 cells, among 6, 24 settings, of 2 on 3 splits" in note for note in notes)


def test_verdicts_are_counted_with_repetitions_and_without():
    """Once all that is printed, once each experiment; what only the floor lets pass by itself."""
    here, there = Cell("table2", "gcn", "cora"), Cell("table4", "gprgnn", "cora")
    again = Cell("table2", "gprgnn", "cora")
    records = {
        cell: record(cell, [published(cell.table).cell(cell.method, "cora").mean] * 10) for cell in (here, there)
    }
    # Beyond the printed ± 0.67, within 1.5.
    records[again] = record(again, [88.54 + 1.0] * 10)
    tables = {name: table_report(name, records, {}) for name in ("table2", "table4")}
    counts = verdicts_report(tables)["counts"]
    assert {name: [*row.values()] for name, row in counts.items()} == {
        "table2": [2, 2, 1, 0, 0, 0],
        "table4": [1, 1, 0, 0, 0, 0],
        "all": [3, 3, 1, 0, 0, 0],
        "distinct": [2, 2, 1, 0, 0, 0],
    }
    assert "2 reproduced (1 by the floor of 1.5 alone)" in overview_table(tables["table2"]).notes[0]


def test_cells_say_what_code_computed_them(computed):
    _, found = computed
    older = {**found, "code": "another", "date": "today", "versions": {"commit": "0123456789ab"}}
    before = {name: value for name, value in older.items() if name not in ("code", "versions")}
    shown = []
    for kept in ({**older, "code": found["code"]}, older, before):
        report = table_report("table2", {CELL: kept}, {})
        table = cells_table(report)
        shown.append(table.rows[0][-1])
        assert report["cells"][0]["stale"] == any("computed by other code" in note for note in table.notes)
    assert shown == ["this", "0123456789ab", "not kept"]


def test_a_folder_of_reports_keeps_cells_as_well(computed, tmp_path):
    _, found = computed
    sweep = TableSweep(tmp_path, runs=1)
    assert sweep.known(CELL, print) is None
    write_json(tmp_path / "table2.json", table_report("table2", {CELL: found}, {}))
    kept = sweep.known(CELL, print)
    assert {name: kept[name] for name in found} == json.loads(json.dumps(found))
    assert TableSweep(tmp_path, runs=2).known(CELL, print) is None
    assert sweep.known(Cell("table2", "mlp", "citeseer"), print) is None


def test_a_picture_of_the_differences(tmp_path: Path):
    """Near, far below and far above; nothing is drawn where nothing was printed."""
    levels = {"pcnet": 90.0, "gcn": 60.0, "mlp": 99.0}
    records = {}
    for method, level in levels.items():
        for dataset in ("cora", "texas"):
            cell = Cell("table2", method, dataset)
            records[cell] = record(cell, [level + 0.1 * run for run in range(10)])
    plot_differences(table_report("table2", records, {}), tmp_path / "table2.png")
    head = (tmp_path / "table2.png").read_bytes()[:24]
    width, height = struct.unpack(">II", head[16:24])
    assert (head[:4], width > 600, height > 200) == (b"\x89PNG", True, True)
    plot_differences({**table_report("table2", records, {}), "cells": []}, tmp_path / "nothing.png")
    assert not (tmp_path / "nothing.png").exists()


def test_methods_on_other_splits_are_not_compared():
    records = {}
    for place, method in enumerate(("pcnet", "gcn", "mlp")):
        cell = Cell("table2", method, "cora")
        splits = ("other",) * 10 if method == "mlp" else None
        records[cell] = record(cell, [80.0 + place + run for run in range(10)], splits)
    rivals = table_report("table2", records, {})["winners"]["ours"]["cora"]["rivals"]
    assert [rival["method"] for rival in rivals] == ["pcnet"]


def test_what_cannot_be_reproduced_is_called_so():
    cell = Cell("table4", "pcnet-half", "cora")
    report = table_report("table4", {cell: record(cell, [90.0] * 10)}, {})
    assert report["cells"][0]["verdict"]["word"] == "not reproducible"
    assert "driver" in report["cells"][0]["verdict"]["reason"]


def test_the_folder_names_every_cell(tmp_path: Path):
    sweep = TableSweep(tmp_path)
    cells = cells_of(["table1", "table2", "table3", "table4", "eta-half", "no-identity"], [], [])
    assert len({sweep.path(cell) for cell in cells}) == len(cells)


def test_what_is_made_as_published_is_a_cell_of_its_own(tmp_path: Path):
    cells = cells_of(["table3"], ["mixhop", "gcn", "glognn++"], ["texas"], as_published=True)
    assert {cell.method: cell.as_published for cell in cells} == {"gcn": False, "mixhop": True, "glognn++": True}
    ours = cells_of(["table3"], ["mixhop", "gcn", "glognn++"], ["texas"])
    assert not any(cell.as_published for cell in ours)
    sweep = TableSweep(tmp_path)
    assert len({sweep.path(cell) for cell in [*cells, *ours]}) == 5
    wrgat = Cell("table3", "wrgat", "penn94", as_published=True)
    assert (wrgat.original.epoch, wrgat.experiment.training.stopping) == ("last", "none")


def test_what_is_made_as_published_says_so_everywhere():
    gcn, mixhop = Cell("table3", "gcn", "texas"), Cell("table3", "mixhop", "texas", as_published=True)
    records = {cell: record(cell, [77.0 + run for run in range(10)]) for cell in (gcn, mixhop)}
    records[mixhop]["as_published"] = mixhop.original.label
    report = table_report("table3", records, {})
    assert "chosen by test" in next(cell for cell in report["cells"] if cell["method"] == "mixhop")["as_published"]
    overview = overview_table(report)
    assert "as published" in overview.title
    marked = {row[0]: "†" in row[1] for row in overview.rows}
    assert marked == {"GCN": False, "MixHop": True}
    assert any(note.startswith("† MixHop: as published: chosen by test") for note in overview.notes)
    verdicts = {row[0]: row[7] for row in cells_table(report).rows}
    assert verdicts["GCN"] == "above"
    assert verdicts["MixHop"].startswith("reproduced; as published: chosen by test")
    plain = table_report("table3", {gcn: records[gcn]}, {})
    assert not plain["as_published"]
    assert "†" not in overview_table(plain).markdown() + cells_table(plain).markdown()
