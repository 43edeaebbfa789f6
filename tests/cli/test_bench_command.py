"""`pcnet bench`, on next to nothing."""

from __future__ import annotations

import json

import pytest

from pcnet.bench import _bandwidth


@pytest.fixture(autouse=True)
def _small_copies(monkeypatch):
    monkeypatch.setattr(_bandwidth, "BLOCK", 2**20)


def test_everything(pcnet, place, written):
    answer = pcnet(
        "bench", "--quick", "--largest", 200, "--rounds", 1, "--threads", 1, "--json", "b.json", "--plots", "p"
    )
    assert answer.code == 0, answer.err
    assert answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 120
    report = json.loads((place / "b.json").read_text())
    assert list(report["sections"]) == ["ways", "scale", "bandwidth", "training", "methods"]
    assert report["command"].startswith("pcnet bench --quick --largest 200")
    assert {"date", "machine", "versions", "threads", "device", "other_processes"} <= set(report)
    assert report["sections"]["training"]["rows"][0]["dataset"] == "citeseer"
    methods = report["sections"]["methods"]
    assert [(row["dataset"], row["method"], row["runs"]) for row in methods["rows"]] == [
        ("citeseer", method, 10) for method in ("gprgnn", "bernnet", "chebnetii", "jacobiconv")
    ]
    assert [each["dataset"] for each in methods["left_out"]] == ["cora", "pubmed"]
    assert "Without cora: --quick does without it." in answer.out
    assert f"torch {report['versions']['torch']}" in answer.out
    assert report["machine"]["cpu"] in answer.out
    figures = {f"p/bench-cpu-{what}" for what in ("speed", "memory", "nodes", "bandwidth", "methods")}
    assert set(written()) == {"b.json", "p"} | {f"{name}.{kind}" for name in figures for kind in ("png", "svg")}
    assert (place / "p" / "bench-cpu-speed.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (place / "p" / "bench-cpu-speed.svg").read_text()


def test_one_section_as_json_on_standard_output(pcnet, written):
    answer = pcnet("bench", "bandwidth", "--quick", "--largest", 100, "--rounds", 1, "--threads", 1, "--json", "-")
    assert list(json.loads(answer.out)["sections"]) == ["bandwidth"]
    assert "Sparse products beside a copy" in answer.err
    assert written() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            "wyas",
            "There is no section 'wyas'; choose from ways, scale, bandwidth, training, methods. Did you mean 'ways'?",
        ),
        ("--rounds 0", "--rounds must be at least 1, not 0"),
        ("--threads 0", "--threads must be at least 1, not 0"),
        ("--largest 3", "--largest must be at least 100, not 3"),
        ("--largest many", "--largest"),
        ("--device gpu", "There is no device 'gpu'"),
        ("training --dataset citseer", "There is no dataset 'citseer'. Did you mean 'citeseer'?"),
        ("training --dataset reed98", "Table 2's settings; it has cora"),
        ("training --dataset cora", "cora"),
        ("methods --dataset reed98", "Table 2's settings; it has cora"),
        ("--data nowhere", "There is no data folder nowhere"),
        ("--json .", "it is a folder"),
        ("--plots file", "Cannot draw into file: it is a file; name a folder."),
        ("--plots file/below", "file is not a folder"),
    ],
)
def test_bad_options(arguments, words, pcnet, place, written):
    (place / "file").write_text("mine")
    pcnet("bench", "--quick", *arguments.split()).refuses(words)
    assert written() == ["file"]


def test_help(pcnet):
    out = " ".join(pcnet("bench", "--help").out.replace("│", " ").split())
    for word in (
        "ways",
        "scale",
        "bandwidth",
        "training",
        "methods",
        "--quick",
        "--largest",
        "--plots",
        "--rounds",
        "--json",
    ):
        assert word in out
