"""The commands that report.html offers do what they say, as they stand there."""

from __future__ import annotations

import csv
import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from pcnet import csbm

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = ("--runs", "2", "--set", "epochs=4", "--set", "hidden=8")


def offered(run: Path) -> list[list[str]]:
    """The words of every command in the box."""
    page = (run / "report.html").read_text(encoding="utf-8")
    box = re.search(r'<section id="next">(.*?)</section>', page, re.DOTALL)
    assert box is not None
    codes = re.findall(r"<pre><code>(.*?)</code>", box[1], re.DOTALL)
    return [shlex.split(unescape(re.sub("<[^>]*>", "", code))) for code in codes]


@pytest.fixture
def club(place: Path) -> str:
    """A graph with two columns that could be the label, in a folder whose name needs quoting."""
    graph = csbm(80, 0.4, classes=2, features=3, seed=1)
    folder = place / "the club's"
    folder.mkdir()
    with (folder / "nodes.csv").open("w", newline="") as stream:
        cells = zip(graph.x.tolist(), graph.y.tolist(), strict=True)
        rows = [[i, *x, "" if i % 4 == 0 else f"k{y}"] for i, (x, y) in enumerate(cells)]
        csv.writer(stream).writerows([["id", "a", "b", "c", "in or out"], *rows])
    with (folder / "edges.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["source", "target"], *graph.edge_index.T.tolist()])
    return folder.name


def test_every_command_of_the_box_runs(pcnet, place, club):
    code, _, err = pcnet("train", club, "--read", "label=in or out", *QUICK, "--out", "my run")
    assert code == 0, err
    predict, train, compare, tune = offered(place / "my run")
    assert predict == ["pcnet", "predict", "my run", "-o", "predictions.csv", "--unlabelled"]
    said = [club, "--read", "label=in or out"]
    assert train == ["pcnet", "train", *said, "--method", "gcn"]
    assert compare == ["pcnet", "compare", *said, "--methods", "pcnet,gcn,mlp,acmgcn"]
    assert tune == ["pcnet", "tune", *said, "--method", "pcnet"]

    assert pcnet(*predict[1:])[0] == 0
    assert len((place / "predictions.csv").read_text().splitlines()) == 21
    assert pcnet(*train[1:], *QUICK, "--out", "other")[0] == 0
    first, second = (json.loads((place / run / "splits.json").read_text()) for run in ("my run", "other"))
    assert first == second
    assert pcnet(*compare[1:], "--runs", "2", "--set", "epochs=2")[0] == 0
    assert pcnet(*tune[1:], "--runs", "1", "--trials", "1", "--set", "epochs=2")[0] == 0


def test_what_was_asked_for_is_asked_for_again(pcnet, place, club):
    options = ["--read", "label=in or out", "--protocol", "stratified-40-30-30", "--metric", "macro_f1"]
    code, _, err = pcnet("train", club, *options, "--method", "gcn", *QUICK, "--out", "run")
    assert code == 0, err
    _, train, compare, tune = offered(place / "run")
    assert train == ["pcnet", "train", club, *options, "--method", "pcnet"]
    assert compare == ["pcnet", "compare", club, *options, "--methods", "gcn,pcnet,mlp,acmgcn"]
    assert tune == ["pcnet", "tune", club, *options, "--method", "gcn"]


def test_a_named_graph_whose_nodes_all_have_a_label(pcnet, place):
    code, _, err = pcnet("train", *QUICK, "--out", "run")
    assert code == 0, err
    predict, train, *_ = offered(place / "run")
    assert train == ["pcnet", "train", "citeseer", "--method", "gcn"]
    assert pcnet(*predict[1:])[0] == 0


def test_all_mistakes_are_beside_the_page(pcnet, place):
    assert pcnet("train", *QUICK, "--out", "run")[0] == 0
    page = (place / "run" / "report.html").read_text(encoding="utf-8")
    [target] = re.findall(r'<a href="([^"]*csv)">', page)
    with (place / "run" / target).open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert f"200 of {len(rows):,}" in page
    assert all(row["label"] != row["predicted"] for row in rows)
    assert len({row["node"] for row in rows}) == len(rows)
