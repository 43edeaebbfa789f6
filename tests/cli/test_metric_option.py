"""`--metric`: what a score is, on graphs with classes of unequal size, and splits that keep their shares."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics
import torch

from pcnet import NodeClassifier, csbm, read_graph
from pcnet.data import write_graph

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = ("--runs", "5", "--set", "epochs=30", "--set", "hidden=8")
DATA = os.environ.get("PCNET_DATA")


@pytest.fixture
def rare(place: Path) -> tuple[Path, torch.Tensor]:
    """A graph of which one class in four is rare and a third of the labels is hidden, and the true labels."""
    whole = csbm(600, 0.3, classes=2, features=10, seed=2)
    kept = (whole.y == 0) | (torch.arange(600) % 3 == 0)
    truth = torch.where(kept, whole.y, -1)
    hidden = torch.from_numpy(np.random.default_rng(0).random(600) < 1 / 3)
    graph = replace(whole, y=torch.where(hidden, -1, truth), classes=("no", "yes"))
    write_graph(graph, place / "rare")
    return place / "rare", torch.where(hidden, truth, -1)


def test_two_unequal_classes_are_scored_by_roc_auc_and_it_is_said(pcnet: Callable, place: Path, rare: tuple):
    folder, hidden = rare
    code, out, err = pcnet("train", "rare", *QUICK, "--out", "run", "--json", "run.json")
    assert (code, err) == (0, "")
    assert "Scored by ROC-AUC, because 'no' has 7" in out
    assert "stratified-60-20-20" in out
    summary = json.loads((place / "run.json").read_text())
    assert (summary["metric"], summary["settings"]["select"]) == ("roc_auc", "val_roc_auc")
    assert f"{summary['test']['mean']:.2f}" in out
    nodes = (hidden >= 0).numpy()
    probability = NodeClassifier.load(place / "run").predict_proba(read_graph(folder))[nodes, 1]
    truth = 100 * sklearn.metrics.roc_auc_score(hidden[nodes], probability)
    low, high = summary["test"]["ci95"]
    assert low <= truth <= high


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "macro-f1", "average_precision", "log_loss"])
def test_any_metric_is_the_headline(pcnet: Callable, place: Path, rare: tuple, name: str):
    code, out, err = pcnet("train", "rare", *QUICK, "--metric", name, "--out", "run", "--json", "run.json")
    assert (code, err) == (0, "")
    assert "because" not in out
    summary = json.loads((place / "run.json").read_text())
    known = name.replace("-", "_")
    assert summary["metric"] == known
    assert summary["settings"]["select"] == ("val_loss" if known == "log_loss" else f"val_{known}")
    metrics = json.loads((place / "run" / "metrics.json").read_text())
    assert metrics["test"][known] == summary["test"]
    assert metrics["predictor"] == {"models": 5, "seeds": [0, 1, 2, 3, 4], "knows_every_label": True, "refit": False}
    assert json.loads((place / "run" / "classifier.json").read_text())["metric"] == known


def test_the_paper_is_scored_as_in_the_paper(pcnet: Callable, place: Path):
    short = ("--runs", "2", "--set", "epochs=3", "--set", "hidden=4")
    _, out, _ = pcnet("train", *short, "--out", "run", "--json", "run.json")
    assert "interval: 95 % bootstrap of the mean" in out
    metrics = json.loads((place / "run" / "metrics.json").read_text())
    assert metrics["predictor"] == {"models": 2, "seeds": [0, 1], "knows_every_label": False, "refit": False}
    _, out, _ = pcnet("train", *short, "--predictor", "--out", "more")
    metrics = json.loads((place / "more" / "metrics.json").read_text())
    assert metrics["predictor"]["models"] == 5


BAD = {
    "no such metric": ("--metric auc", "There is no metric 'auc'; choose from accuracy"),
    "a misspelt metric": ("--metric acuracy", "Did you mean 'accuracy'?"),
    "a selection that is none": ("--set select=val_auc", "select cannot be 'val_auc'"),
    "shares that are too many": ("--protocol stratified-60-20-30", "which add up to 100"),
    "two shares": ("--protocol stratified-80-20", "write stratified-A-B-C"),
    "shares in words": ("--protocol stratified-a-b-c", "write stratified-A-B-C"),
    "no test nodes": ("--protocol stratified-80-20-0", "write stratified-A-B-C"),
    "splits that are not in the file": ("--protocol official", "rare has no fixed splits"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(pcnet: Callable, rare: tuple, case: str):
    options, words = BAD[case]
    pcnet("train", "rare", *QUICK, *options.split()).refuses(words)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["a"] * 30 + ["b"] * 2, "is undefined"),
        (["a", "a", "b", "b"], "4 labelled nodes are too few"),
        ([""] * 12, "No node of small has a label"),
        (["a"] * 12, "there is nothing to tell apart"),
    ],
)
def test_labels_that_allow_no_estimate(pcnet: Callable, place: Path, labels: list[str], words: str):
    small = place / "small"
    small.mkdir()
    n = len(labels)
    rows = "".join(f"{node},{label},{node % 3}.5\n" for node, label in enumerate(labels))
    (small / "nodes.csv").write_text("id,label,size\n" + rows)
    (small / "edges.csv").write_text("source,target\n" + "".join(f"{node},{(node + 1) % n}\n" for node in range(n)))
    if words == "is undefined":
        # Two nodes of the rare class train and test; none is left to validate on.
        pcnet("train", "small", *QUICK).refuses("all of one class, where ROC-AUC says nothing")
    else:
        pcnet("train", "small", *QUICK).refuses(words)


@pytest.mark.skipif(DATA is None, reason="PCNET_DATA names no folder of real graphs")
def test_musae_in_two_commands(pcnet: Callable, place: Path):
    graph = Path(DATA or "") / "own" / "musae-engb"
    code, out, _ = pcnet("inspect", graph, "--read", "label=mature", "--no-probe")
    assert (code, "7,126 nodes, 35,324 edges" in out) == (0, True)
    pcnet("train", graph, "--out", "refused").refuses("--read label=mature")
    code, out, err = pcnet("train", graph, "--read", "label=mature", "--runs", "1", "--set", "epochs=5", "--out", "run")
    assert (code, err) == (0, "")
    assert "'new_id' names the nodes" in out
    assert "partner (boolean), features (bag)" in out
