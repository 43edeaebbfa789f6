"""`--read` on a folder as MUSAE has them: labels and features that must be named or are listed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pcnet import csbm

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = ("--runs", "2", "--set", "epochs=8", "--set", "hidden=8")


@pytest.fixture
def club(place: Path) -> Path:
    """Edges between new ids; `mature` and `partner` may be labels; features are listed in a file of another name."""
    graph, folder = csbm(80, 0.4, classes=2, features=6, seed=1), place / "club"
    folder.mkdir()
    with (folder / "club_edges.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("from", "to"), *(pair for pair in graph.edge_index.T.tolist() if pair[0] < pair[1])]
        )
    with (folder / "club_target.csv").open("w", newline="") as stream:
        rows = ((1000 + 7 * node, bool(label), node % 3 == 0, node) for node, label in enumerate(graph.y.tolist()))
        csv.writer(stream).writerows([("id", "mature", "partner", "new_id"), *rows])
    listed = {
        node: [place for place, value in enumerate(row) if value > 0] for node, row in enumerate(graph.x.tolist())
    }
    (folder / "words.json").write_text(json.dumps(listed))
    return folder


def test_train_and_predict(pcnet: Callable, place: Path, club: Path):
    wishes = ("--read", "label=mature", "--read", "features=words.json")
    code, out, err = pcnet("train", "club", *QUICK, *wishes, "--out", "run")
    assert (code, err) == (0, "")
    assert "80 nodes, 7 features, 2 classes" in " ".join(out.split())
    assert "'new_id' names the nodes (it has every end of the edges, 'id' has not)" in " ".join(out.split())
    assert pcnet("predict", "run", "-o", "same.csv").code == 0
    # Another reading of the folder needs no label: the schema says which columns are features.
    code, out, err = pcnet("predict", "run", "club", "-o", "again.csv", "--read", "features=words.json")
    assert (code, err, "may hold labels" in out) == (0, "", False)
    assert (place / "same.csv").read_text() == (place / "again.csv").read_text()


def test_inspect_names_the_columns_that_may_hold_labels(pcnet: Callable, club: Path):
    code, out, err = pcnet("inspect", "club", "--no-probe")
    assert (code, err) == (0, "")
    said = " ".join(out.replace("•", "").split())
    assert "Columns that may hold labels: mature (2 values: False, True), partner (2 values: False, True)." in said
    assert "--read label=mature" in said
    assert "Not read: words.json." in said


def test_refused(pcnet: Callable, club: Path):
    cases = {
        "label=matur": "club_target.csv has no column 'matur' for the label. Did you mean 'mature'?",
        "label=x": "no column 'x' for the label. Columns that may hold labels: mature (2 values: False, True)",
        "id=id": "club_edges.csv, line 2, column 'from': there is no node",
        "features=no.json": "Cannot read no.json: No such file or directory",
        "feature=no.json": "Did you mean 'features'?",
    }
    for assignment, words in cases.items():
        pcnet("inspect", "club", "--read", assignment).refuses(words)
