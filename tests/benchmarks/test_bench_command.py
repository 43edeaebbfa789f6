"""`python -m benchmarks`, on next to nothing."""

from __future__ import annotations

import json
import re

import pytest
from benchmarks.__main__ import main
from benchmarks.command import start

from benchmarks import bandwidth
from pcnet import PcnetError

SMALL = ("--quick", "--rounds", "1", "--threads", "1", "--device", "cpu")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty folder, small copies, and neither data nor network."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.setattr(bandwidth, "BLOCK", 2**20)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PCNET_DATA", raising=False)
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    return folder


def written(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


@pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
def test_everything(place, capsys):
    main([*SMALL, "--largest", "200", "--json", "b.json", "--plots", "p"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 120
    report = json.loads((place / "b.json").read_text())
    assert list(report["sections"]) == ["ways", "scale", "bandwidth", "training", "methods"]
    assert report["command"].startswith("python -m benchmarks --quick --rounds 1")
    assert {"date", "machine", "versions", "threads", "device", "other_processes"} <= set(report)
    assert report["sections"]["training"]["rows"][0]["dataset"] == "citeseer"
    methods = report["sections"]["methods"]
    assert [(row["dataset"], row["method"], row["runs"]) for row in methods["rows"]] == [
        ("citeseer", method, 10) for method in ("gprgnn", "bernnet", "chebnetii", "jacobiconv")
    ]
    assert [each["dataset"] for each in methods["left_out"]] == ["cora", "pubmed"]
    assert "Without cora: --quick does without it." in out
    assert f"torch {report['versions']['torch']}" in out
    assert report["machine"] in out
    figures = {f"p/bench-cpu-{what}" for what in ("speed", "memory", "nodes", "bandwidth", "methods")}
    assert set(written(place)) == {"b.json", "p"} | {f"{name}.{kind}" for name in figures for kind in ("png", "svg")}
    assert (place / "p" / "bench-cpu-speed.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (place / "p" / "bench-cpu-speed.svg").read_text()


def test_one_section_as_json_on_standard_output(place, capsys):
    main(["bandwidth", *SMALL, "--largest", "100", "--json", "-"])
    answer = capsys.readouterr()
    assert list(json.loads(answer.out)["sections"]) == ["bandwidth"]
    assert "Sparse products beside a copy" in answer.err
    assert written(place) == []


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
        ("--device gpu", "There is no device 'gpu'"),
        ("--datasets citseer", "There is no dataset 'citseer'. Did you mean 'citeseer'?"),
        ("training --datasets reed98", "Table 2's settings; it has cora"),
        ("training --datasets cora", "cora"),
        ("methods --datasets reed98", "Table 2's settings; it has cora"),
        ("--data nowhere", "There is no data folder nowhere"),
        ("--json .", "it is a folder"),
        ("--plots file", "Cannot draw into file: it is a file; name a folder."),
        ("--plots file/below", "file is not a folder"),
    ],
)
def test_bad_options(arguments, words, place):
    (place / "file").write_text("mine")
    with pytest.raises(PcnetError, match=re.escape(words)):
        main(["--quick", "--device", "cpu", *arguments.split()])
    assert written(place) == ["file"]


def test_what_is_wrong_is_one_sentence(capsys):
    with pytest.raises(SystemExit, match="2"):
        start(lambda: main(["wyas"]))
    assert capsys.readouterr().err.startswith("benchmarks: There is no section 'wyas'")
