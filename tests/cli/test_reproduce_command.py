"""`pcnet reproduce` on the graph inside the package."""

from __future__ import annotations

import json

import pytest

SMALL = ("reproduce", "table2", "--methods", "pcnet", "--datasets", "citeseer", "--runs", "1", "--threads", "1")


def test_a_table_is_computed_once(pcnet, place):
    code, out, _ = pcnet(*SMALL, "--json", "all.json")
    assert code == 0
    assert "table2.json and table2.md are in runs/tables" in out
    assert not (place / "results").exists()
    tables = place / "runs" / "tables"
    report = json.loads((tables / "table2.json").read_text())
    assert json.loads((place / "all.json").read_text()) == {"table2": report}
    (cell,) = report["cells"]
    assert (cell["method"], cell["dataset"], cell["runs"]) == ("pcnet", "citeseer", 1)
    assert cell["paper"]["mean"] == 81.76
    assert cell["verdict"]["word"] in ("reproduced", "above", "below")
    assert {"command", "date", "machine", "versions"} <= {*report}
    page = (tables / "table2.md").read_text()
    assert f"{cell['test']['mean']:.2f}" in page
    assert "pcnet reproduce table2" in page
    assert "- cells that it computed: 1, in " in page
    kept = place / "runs" / "reproduce" / "table2" / "pcnet-citeseer.json"
    written = kept.stat().st_mtime_ns
    code, out, _ = pcnet(*SMALL)
    assert code == 0
    assert "1 of 1 cells are in runs/reproduce already" in " ".join(out.split())
    assert "cells that it computed" not in (tables / "table2.md").read_text()
    assert kept.stat().st_mtime_ns == written
    kept.write_text('{"fingerprint')
    code, out, _ = pcnet(*SMALL)
    assert code == 0
    assert "is damaged and its cell is computed again" in " ".join(out.split())
    assert json.loads(kept.read_text())["test"] == cell["test"]
    known = (*SMALL[:3], "pcnet,mlp", *SMALL[4:], "--only-known")
    assert pcnet(*known).code == 0
    report = json.loads((tables / "table2.json").read_text())
    assert [each["method"] for each in report["cells"]] == ["pcnet"]
    assert report["missing"] == [{"method": "mlp", "dataset": "citeseer", "reason": "not computed yet"}]


def test_a_full_table_is_never_replaced_by_a_part(pcnet, place):
    """More cells, or more runs, stay; the part lies beside them."""
    assert pcnet(*SMALL).code == 0
    tables = place / "runs" / "tables"
    report = json.loads((tables / "table2.json").read_text())
    report["cells"].append({**report["cells"][0], "dataset": "cora"})
    (tables / "table2.json").write_text(json.dumps(report))
    code, out, _ = pcnet(*SMALL)
    assert code == 0
    assert "table2.json has more than this report has, and stays as it is" in " ".join(out.split())
    assert json.loads((tables / "table2.json").read_text()) == report
    part = json.loads((tables / "table2-part.json").read_text())
    assert [cell["dataset"] for cell in part["cells"]] == ["citeseer"]
    assert {path.name for path in tables.iterdir()} == {
        f"table2{part}.{kind}" for part in ("", "-part") for kind in ("json", "md", "png")
    }


REFUSED = {
    "unknown target": ("reproduce tabel2", "Did you mean 'table2'?"),
    "unknown method": ("reproduce table2 --methods bernet", "Did you mean 'bernnet'?"),
    "unknown dataset": ("reproduce table2 --datasets coar", "Did you mean 'cora'?"),
    "a dataset of another table": ("reproduce table2 --datasets wisconsin", "no dataset 'wisconsin'"),
    "a method and a dataset of different tables": (
        "reproduce table2 table3 --methods egnn --datasets penn94",
        "No table has these methods on these datasets",
    ),
    "no runs": ("reproduce table2 --runs 0", "--runs must be at least 1, not 0"),
    "as published elsewhere": ("reproduce table1 --as-published", "table2 or table3 alone, on the CPU"),
    "as published and all": ("reproduce all --as-published", "table2 or table3 alone, on the CPU"),
    "known anew": ("reproduce table2 --only-known --anew", "leave out --anew"),
    "known figures": ("reproduce figure2 --only-known", "what is no table"),
    "nothing known": ("reproduce table2 --datasets citeseer --only-known", "No cell could be computed: not computed"),
    "no data": ("reproduce table2 --datasets cora", "named by PCNET_DATA or --data"),
    "no such folder": ("reproduce table2 --datasets cora --data nowhere", "nowhere"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(pcnet, written, case):
    command, words = REFUSED[case]
    pcnet(*command.split()).refuses(words)
    assert not written()
