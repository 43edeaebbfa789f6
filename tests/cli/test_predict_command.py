"""`pcnet train` on your own graph and `pcnet predict`: what is written, and what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pcnet import NodeClassifier, csbm, read_graph

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = ("--runs", "2", "--set", "epochs=8", "--set", "hidden=8")


@pytest.fixture
def people(place: Path) -> Path:
    return table(place / "people", seed=1)


def table(folder: Path, seed: int, nodes: int = 90) -> Path:
    """A planted graph as two tables; every fifth label is missing."""
    graph = csbm(nodes, 0.4, classes=3, features=4, seed=seed)
    folder.mkdir()
    names, labels = [f"p{place:03}" for place in range(nodes)], ["cat", "dog", "eel"]
    with (folder / "nodes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "a", "b", "c", "d", "label"])
        for place in range(nodes):
            label = "" if place % 5 == 0 else labels[int(graph.y[place])]
            writer.writerow([names[place], *(f"{value:.5f}" for value in graph.x[place].tolist()), label])
    with (folder / "edges.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source", "target"])
        writer.writerows((names[a], names[b]) for a, b in graph.edge_index.T.tolist() if a < b)
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_train_and_predict(pcnet: Callable, place: Path, people: Path):
    code, out, err = pcnet("train", "people", *QUICK, "--out", "run")
    assert (code, err) == (0, "")
    assert "PCNet on people (90 nodes, 4 features, 3 classes): defaults, changed, stratified-60-20-20, 2 runs" in out
    assert "18 of 90 nodes have no label" in out
    code, out, err = pcnet("predict", "run", "--json", "summary.json")
    assert (code, err) == (0, "")
    found = rows(place / "predictions.csv")
    assert list(found[0]) == ["id", "label", "probability_cat", "probability_dog", "probability_eel", "margin"]
    assert [row["id"] for row in found] == [f"p{number:03}" for number in range(90)]
    probabilities = np.array([[float(row[f"probability_{name}"]) for name in ("cat", "dog", "eel")] for row in found])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=3e-6)
    assert [row["label"] for row in found] == [("cat", "dog", "eel")[best] for best in probabilities.argmax(axis=1)]
    ordered = np.sort(probabilities, axis=1)
    np.testing.assert_allclose([float(row["margin"]) for row in found], ordered[:, 2] - ordered[:, 1], atol=2e-6)
    summary = json.loads((place / "summary.json").read_text())
    assert (summary["nodes"], summary["models"], summary["method"]) == (90, 5, "pcnet")
    expected = NodeClassifier.load(place / "run").predict_proba(read_graph(people))
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_parquet_and_unlabelled_nodes(pcnet: Callable, place: Path, people: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pcnet("train", "people", *QUICK, "--out", "run")
    code, out, _ = pcnet("predict", "run", "-o", "unknown.parquet", "--unlabelled")
    assert (code, "Predicted for 18 nodes of people" in out) == (0, True)
    table = parquet.read_table(place / "unknown.parquet").to_pydict()
    assert table["id"] == [f"p{number:03}" for number in range(0, 90, 5)]
    assert {*table["label"]} <= {"cat", "dog", "eel"}


def test_another_graph_is_read_as_the_first(pcnet: Callable, place: Path, people: Path):
    """Its numbers are scaled as those of the training, not by what they are like themselves."""
    pcnet("train", "people", *QUICK, "--out", "run")
    table(place / "others", seed=2, nodes=40)
    code, _, err = pcnet("predict", "run", "others", "-o", "others.csv")
    assert (code, err, len(rows(place / "others.csv"))) == (0, "", 40)
    classifier = NodeClassifier.load(place / "run")
    same = read_graph(place / "others", schema=classifier.schema_, classes=classifier.classes_.tolist())
    expected = classifier.predict_proba(same).max(axis=1)
    found = [
        max(float(row[f"probability_{name}"]) for name in ("cat", "dog", "eel")) for row in rows(place / "others.csv")
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_wishes_are_remembered(pcnet: Callable, place: Path, people: Path):
    """A column that was left out of training is left out of predicting."""
    wishes = ("--read", "drop=d", "--read", "label=label", "--read", "kind.a=number")
    code, out, err = pcnet("train", "people", *QUICK, "--out", "run", *wishes)
    assert (code, err, "3 features" in out) == (0, "", True)
    assert json.loads((place / "run" / "settings.json").read_text())["read"] == list(wishes[1::2])
    assert pcnet("predict", "run").code == 0


REFUSALS = {
    ("predict", "nowhere"): "There is no classifier in nowhere",
    ("predict", "run", "-o", "x.xlsx"): "x.xlsx must end in .csv or .parquet",
    ("predict", "run", "citeseer"): "The graph has 3703 features; the classifier was trained with 4",
    ("predict", "run", "small"): "'d' is missing",
    ("train", "people", "--preset", "table2"): "table2 has no settings for your own graph",
    ("train", "people", "--read", "labels=x"): "--read takes KEY=VALUE with a key of nodes",
    ("train", "people", "--read", "directed=maybe"): "--read directed must be one of true, false, not 'maybe'",
    ("train", "people", "--read", "kind.a=word"): "--read kind.a must be one of number, boolean, category",
    ("train", "citeseer", "--read", "label=x"): "--read is for your own files",
    ("train", "poeple"): "'poeple' is neither a file or folder here nor a named dataset",
}


def test_names_that_are_formulas(pcnet: Callable, place: Path, people: Path):
    for path in people.iterdir():
        path.write_text(path.read_text().replace("p00", "=p00"))
    assert pcnet("train", "people", *QUICK, "--out", "run").code == 0
    assert "note: Some names begin like a formula" in pcnet("predict", "run").out
    assert rows(place / "predictions.csv")[0]["id"] == "=p000"
    assert "formula" not in pcnet("predict", "run", "--spreadsheet").out
    assert rows(place / "predictions.csv")[0]["id"] == "'=p000"


def test_refusals(pcnet: Callable, place: Path, people: Path, written: Callable):
    pcnet("train", "people", *QUICK, "--out", "run")
    (place / "small").mkdir()
    (place / "small" / "edges.csv").write_text("source,target\n1,2\n")
    (place / "small" / "nodes.csv").write_text("id,a,b,c,label\n1,0.1,0.2,0.3,cat\n2,0.3,0.1,0.2,dog\n")
    before = written()
    for arguments, sentence in REFUSALS.items():
        code, _, err = pcnet(*arguments)
        assert (code, sentence in err, err.count("\n")) == (2, True, 1), (arguments, err)
    assert written() == before


def test_tune_and_train_on_it(pcnet: Callable, place: Path, people: Path):
    quick = ("--trials", "2", "--runs", "2", "--set", "epochs=5", "--set", "hidden=8", "--store", "search")
    code, out, _ = pcnet("tune", "people", *quick)
    assert (code, "pcnet train people --preset search/best.json" in out) == (0, True)
    assert pcnet("train", "people", "--preset", "search/best.json", "--out", "run").code == 0
