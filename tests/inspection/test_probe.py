"""The probe on planted graphs, where it must say what the links and the features know, and where it cannot tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import Graph, TrainingSettings
from pcnet.evaluation import summarise
from pcnet.graph import Column, Schema
from pcnet.inspection import Probe, _trial, inspect_graph
from pcnet.inspection._links import Neighbours
from pcnet.inspection._sample import _classes_of, sampled
from pcnet.inspection._trial import MLP, probe, stratified


def planted(case: str, n: int = 240, seed: int = 0) -> Graph:
    """Links that mostly join nodes of one a, features that are b with some noise, and classes that are

    a (only the links know them), b (only the features do), both bits (halves), nothing of these, or for "both" a = b,
    of which neither links nor features know enough.
    """
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 2, size=(2, n))
    degree, agree, noise = 12, 0.9, 0.3
    if case == "both":
        b, degree, agree, noise = a, 4, 0.5, 1.5
    source = random.integers(0, n, size=degree * n // 2)
    alike = np.array([random.choice(np.flatnonzero(a == a[node])) for node in source])
    target = np.where(random.random(len(source)) < agree, alike, random.integers(0, n, size=len(source)))
    x = np.stack([2.0 * b - 1, 1 - 2.0 * b, np.ones(n)], axis=1) + noise * random.standard_normal((n, 3))
    y = {"graph": a, "features": b, "both": a, "halves": 2 * a + b, "nothing": random.integers(0, 2, size=n)}[case]
    edges = np.concatenate([np.stack([source, target]), np.stack([target, source])], axis=1)
    return Graph(torch.from_numpy(edges), torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y))


def probed(graph: Graph, splits: int = 3) -> Probe:
    return probe(graph, Neighbours.of(graph), splits=splits, seed=0, threads=1)


@pytest.mark.parametrize(("case", "n"), [("graph", 240), ("features", 240), ("both", 600), ("nothing", 240)])
def test_the_planted_verdict(case, n):
    assert inspect_graph(planted(case, n), splits=4, threads=1).advice.verdict == case


@pytest.mark.parametrize(("case", "verdict"), [("graph", "graph"), ("features", "features"), ("halves", "both")])
def test_the_planted_verdict_on_a_sample(case, verdict, monkeypatch):
    """What a large graph gets: a sample of nodes, and their neighbourhoods as columns."""
    monkeypatch.setattr(_trial, "LARGE", 0)
    found = inspect_graph(planted(case, n=600), splits=3, threads=1)
    assert found.advice.verdict == verdict
    assert "300 of 600 labelled nodes" in found.probe.note


def test_columns_of_a_sample_do_not_know_their_own_classes():
    """Other labels of the sampled nodes change no column of any of them."""
    graph = planted("both")
    neighbours = Neighbours.of(graph)
    nodes = _sampled_nodes(graph)
    other = graph.y.clone()
    other[nodes] = 1 - other[nodes]
    for way, (before, _) in sampled(graph, neighbours, 0, MLP)[1].items():
        after = sampled(replace(graph, y=other), neighbours, 0, MLP)[1][way][0]
        assert torch.equal(before.x, after.x), way
        assert torch.equal(before.y, graph.y[nodes])
        assert torch.equal(after.y, other[nodes])


def test_frequent_classes_come_first_and_only_of_given_nodes():
    table = _classes_of(np.array([5, 2, 2, -1, 5, 2]), np.array([0, 1, 2, 5]))
    assert table.tolist() == [[0, 1], [1, 0], [1, 0], [0, 0], [0, 0], [1, 0]]


def test_a_rare_class_is_judged_by_macro_f1():
    """One node of eight is of the class that the features know: accuracy hardly sees it, macro-F1 does."""
    graph = planted("features", n=400)
    y = graph.y * (torch.arange(400) % 4 == 0)
    found = probed(replace(graph, y=y, x=graph.x + 4.0 * y.unsqueeze(1)), splits=3)
    assert found.metric == "macro_f1"
    assert found.accuracy["guess"].mean > 80
    assert found.macro_f1["guess"].mean < 50
    assert found.gain("features", "guess") > 30


def test_larger_graphs_get_fewer_epochs_and_say_so(monkeypatch):
    graph = planted("features", n=60)
    monkeypatch.setattr(_trial, "WORK", 1)
    monkeypatch.setattr(_trial, "FEWEST", 7)
    assert "no more than 7 epochs" in probed(graph, splits=2).note


@given(st.lists(st.integers(-1, 3), min_size=10, max_size=120), st.integers(0, 100))
def test_splits_are_60_20_20_within_every_class(labels, seed):
    labels += [0, 0, 0, 1, 1, 1]
    split = stratified(torch.tensor(labels), seed)
    y = np.array(labels)
    for label in set(labels) - {-1}:
        train, val, test = (int((y[part.numpy()] == label).sum()) for part in (split.train, split.val, split.test))
        count = labels.count(label)
        assert train + val + test == count
        assert val == test == (max(1, round(0.2 * count)) if count > 2 else 0)
        assert train >= 1


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (lambda y: torch.full_like(y, -1), "two classes at least"),
        (lambda y: torch.zeros_like(y), "two classes at least"),
        (lambda y: torch.where(torch.arange(len(y)) < 29, y, -1), "29 labelled nodes are too few"),
        (lambda y: (torch.arange(len(y)) < 2).long(), "Only one class has three nodes or more"),
    ],
)
def test_too_few_labels_are_said(labels, reason):
    graph = planted("both")
    found = probed(replace(graph, y=labels(graph.y)))
    assert reason in found.skipped
    assert found.accuracy == {}
    assert found.as_dict()["skipped"] == found.skipped


def test_without_links_or_features_the_rest_is_tried():
    graph = planted("features")
    bare = probed(replace(graph, edge_index=torch.empty(2, 0, dtype=torch.int64)), splits=2)
    assert bare.ways == ["features"]
    assert set(bare.missing) == {"graph", "both"}
    schema = Schema((Column("spectral embedding", "structure", width=graph.num_features),))
    nameless = replace(graph, schema=schema)
    assert probed(nameless, splits=2).ways == ["graph", "both"]
    nothing = probed(replace(nameless, edge_index=torch.empty(2, 0, dtype=torch.int64)))
    assert "neither features nor links" in nothing.skipped


def test_the_same_seed_gives_the_same_scores_with_any_threads(monkeypatch):
    monkeypatch.setattr(_trial, "TRAINING", TrainingSettings(epochs=20))
    graph = planted("both", n=80)
    neighbours = Neighbours.of(graph)
    one, two = (probe(graph, neighbours, splits=3, seed=1, threads=threads) for threads in (1, 2))
    assert one == two


def test_a_gain_is_large_and_sure():
    """Means 5 apart: a gain where every split agrees, none where the splits do not, nor where it is half a point."""
    scores = {"features": [70.0, 71, 69], "both": [75.0, 76.5, 73.5], "graph": [95.0, 60, 70]}
    close = {"features": [70.0, 71, 69], "both": [70.5, 71.5, 69.5]}
    sure = Probe({way: summarise(each) for way, each in scores.items()}, {}, {})
    assert sure.gain("both", "features") == pytest.approx(5)
    assert sure.gain("features", "both") == 0
    assert sure.gain("graph", "features") == 0
    assert sure.gain("both", "guess") == 0  # which nobody tried
    assert Probe({way: summarise(each) for way, each in close.items()}, {}, {}).gain("both", "features") == 0


def _sampled_nodes(graph: Graph) -> torch.Tensor:
    """Those whose features came along: rows are told apart by their noise."""
    rows = {tuple(row): place for place, row in enumerate(graph.x.tolist())}
    chosen = sampled(graph, Neighbours.of(graph), 0, MLP)[1]["features"][0].x
    return torch.tensor([rows[tuple(row)] for row in chosen.tolist()])
