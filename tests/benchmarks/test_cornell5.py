"""The table of memory and time, here on the graph inside the package."""

from __future__ import annotations

import json

import pytest
from benchmarks.cornell5 import COLUMNS, EPOCHS, STRUCTURE, draw_split, main, measure, sheet

from pcnet import load_dataset

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


def test_a_row_is_plain_data_and_stands_in_the_table():
    row = measure("gcn", "citeseer", 2)
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    row["measured"] = "2020-02-02T20:20:20+00:00"
    assert row["peak_gib"] >= row["graph_gib"] > 0
    assert 0 < row["epochs_ms"][0] <= row["epoch_ms"] <= row["epochs_ms"][1]
    assert len(row["accuracy"]) == 2
    refused = {**row, "name": "h2gcn", "refused": "About 9 pairs would not fit."}
    structure = {**row, "name": STRUCTURE, "pairs": 12345, "rings": 3, "computing_s": 1.0}
    page = sheet({"dataset": "citeseer", "epochs": EPOCHS, "rows": [row, refused, structure]})
    assert all(len(cells) == len(COLUMNS) for cells in page.rows)
    text = page.markdown()
    assert all(words in text for words in ("| GCN |", "About 9 pairs would not fit.", "12,345 pairs, 3 rings"))


def test_splits_are_half_a_quarter_and_a_quarter_of_the_labelled():
    graph = load_dataset("citeseer")
    split, other = draw_split(graph, 0), draw_split(graph, 1)
    assert split.sizes == (1656, 828, 828)
    assert split.hash == draw_split(graph, 0).hash != other.hash


@pytest.mark.slow
def test_what_is_measured_is_kept(tmp_path, capsys):
    command = ["--methods", "mlp", "--dataset", "citeseer", "--store", str(tmp_path / "rows"), "--out", str(tmp_path)]
    main(command)
    report = json.loads((tmp_path / "cornell5.json").read_text())
    assert {"command", "date", "machine", "versions", "rows"} <= {*report}
    assert report["rows"][0]["name"] == "mlp"
    main(command)
    assert json.loads((tmp_path / "cornell5.json").read_text())["rows"] == report["rows"]
    assert "| MLP |" in capsys.readouterr().out
