"""The probe on planted graphs, where it must say what the links and the features know, and where it cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from pcnet import Graph, PcnetError
from pcnet._progress import Progress, Silent
from pcnet.experiment import Experiment, resolve
from pcnet.graph import Column, Neighbours, Schema
from pcnet.inspect import Features, Probe, _race, inspect_graph
from pcnet.inspect._race import _classes_of, probe, sampled

#: As in an inspection, which has a sentence of its own about directed edges.
pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


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


def probed(graph: Graph, splits: int | None = 3, progress: Progress | None = None, **options: Any) -> Probe:
    parts = graph, Neighbours.of(graph), Features.of(graph)
    return probe(*parts, progress or Silent(), splits=splits, threads=1, **options)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The basic methods alone, and few epochs of them."""
    monkeypatch.setattr(_race, "OTHERS", ())
    monkeypatch.setattr(_race, "resolve", _fewer_epochs)


def _fewer_epochs(*of: Any, **more: Any) -> Experiment:
    experiment = resolve(*of, **more)
    return replace(experiment, training=replace(experiment.training, epochs=20))


@pytest.mark.slow
@pytest.mark.parametrize(("case", "n"), [("graph", 600), ("features", 240), ("both", 600), ("nothing", 240)])
def test_the_planted_verdict(case, n, monkeypatch):
    """Of noise it cannot be known for certain, with 240 labels, that nothing can be learned from it."""
    monkeypatch.setattr(_race, "OTHERS", ("acmgcn",))
    found = inspect_graph(planted(case, n), threads=1)
    assert found.advice.verdict in (["nothing", "open"] if case == "nothing" else [case])
    if case == "nothing":
        assert found.probe.signal.low <= 0
        assert "ROC-AUC of the best" in found.advice.sentences[0]


@pytest.mark.parametrize(("case", "verdict"), [("graph", "graph"), ("features", "features"), ("halves", "both")])
def test_the_planted_verdict_on_a_sample(case, verdict, monkeypatch):
    """What a large graph gets: a sample of nodes and their neighbourhoods as columns; a rule names the methods."""
    monkeypatch.setattr(_race, "FIRST_BUDGET", 0.0)
    found = inspect_graph(planted(case, n=600), splits=3, threads=1)
    assert found.advice.verdict == verdict
    assert "300 of 600 labelled nodes" in found.probe.note
    assert {each.method for each in found.advice.methods} >= {"mlp", "gcn", "pcnet"}
    assert (found.advice.methods[0].method == "mlp") == (verdict == "features")


def test_columns_of_a_sample_do_not_know_their_own_classes():
    """Other labels of the sampled nodes change no column of any of them."""
    graph = planted("both")
    neighbours = Neighbours.of(graph)
    nodes = _sampled_nodes(graph)
    other = graph.y.clone()
    other[nodes] = 1 - other[nodes]
    for way, before in sampled(graph, neighbours, 0)[1].items():
        after = sampled(replace(graph, y=other), neighbours, 0)[1][way]
        assert torch.equal(before.x, after.x), way
        assert torch.equal(before.y, graph.y[nodes])
        assert torch.equal(after.y, other[nodes])


def test_frequent_classes_come_first_and_only_of_given_nodes():
    table = _classes_of(np.array([5, 2, 2, -1, 5, 2]), np.array([0, 1, 2, 5]))
    assert table.tolist() == [[0, 1], [1, 0], [1, 0], [0, 0], [0, 0], [1, 0]]


@pytest.mark.usefixtures("short")
def test_the_metric_is_that_of_every_command():
    """Two classes of which one has three quarters: ROC-AUC, whose guess is 50; another where it is asked for."""
    graph = planted("features", n=200)
    rare = replace(graph, y=(torch.arange(200) % 4 == 0).long())
    assert probed(graph, splits=2).metric.name == "accuracy"
    found = probed(rare, splits=2)
    assert found.metric.name == "roc_auc"
    assert found.guess.per_run.tolist() == [50, 50]
    assert found.best("both").score.mean < 100
    assert probed(rare, splits=2, metric="macro_f1").metric.name == "macro_f1"


@pytest.mark.usefixtures("short")
def test_what_is_clearly_worse_gets_the_first_splits_only(monkeypatch):
    """Links that join unlike classes: what averages over neighbours and no more is given up, and said to be."""
    # As published, without a residual.
    monkeypatch.setattr("pcnet.experiment._methods._measured", dict)
    graph = planted("features", n=300)
    ends = torch.from_numpy(np.random.default_rng(0).permutation(300)[:, None] * np.ones(8, dtype=int)).flatten()
    wild = replace(graph, edge_index=torch.stack([ends, ends.roll(1201)]))
    found = probed(wild, splits=4)
    given_up = {each.name for each in found.attempts if each.splits < 4}
    assert "gcn" in given_up
    assert all(each.splits in (2, 4) for each in found.attempts)
    assert found.best("both").splits == found.guess.splits == 4
    assert found.ranked[-1].name in given_up


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
    assert found.attempts == ()
    assert found.as_dict()["skipped"] == found.skipped


@pytest.mark.usefixtures("short")
def test_without_links_or_features_the_rest_is_tried():
    graph = planted("features")
    bare = probed(replace(graph, edge_index=torch.empty(2, 0, dtype=torch.int64)), splits=2)
    assert bare.ways == ["features"]
    assert set(bare.missing) == {"graph", "both"}
    schema = Schema((Column("spectral embedding", "structure", width=graph.num_features),))
    nameless = replace(graph, schema=schema)
    found = probed(nameless, splits=2)
    assert found.ways == ["graph"]
    assert {each.method for each in found.attempts} == {"mlp", "pcnet", "gcn", ""}
    nothing = probed(replace(nameless, edge_index=torch.empty(2, 0, dtype=torch.int64)))
    assert "neither features nor links" in nothing.skipped


@pytest.mark.usefixtures("short")
def test_the_same_seed_gives_the_same_scores_with_any_threads():
    graph = planted("both", n=80)
    parts = graph, Neighbours.of(graph), Features.of(graph)
    one, two, other = (
        probe(*parts, Silent(), splits=3, seed=seed, threads=threads) for seed, threads in ((1, 1), (1, 2), (2, 1))
    )
    assert one.as_dict() == two.as_dict() != other.as_dict()


@pytest.mark.usefixtures("short")
def test_a_method_that_cannot_be_trained_is_left_out_and_says_why(monkeypatch):
    def diverging(*of: Any, **more: Any) -> Experiment:
        experiment = _fewer_epochs(*of, **more)
        rate = {"all": 1e30} if experiment.model.method == "gcn" else experiment.training.lr
        return replace(experiment, training=replace(experiment.training, lr=rate))

    monkeypatch.setattr(_race, "resolve", diverging)
    found = probed(planted("both", n=80), splits=2)
    assert "gcn" not in {each.method for each in found.attempts}
    assert found.left_out["gcn"] == "Its training diverged."
    assert found.best("both").method == "pcnet"


@pytest.mark.usefixtures("short")
def test_a_method_that_fails_on_a_later_split_says_why_too(monkeypatch):
    """It was not given up for being worse than another."""
    train = _race.train

    def failing(graph: Graph, runs: Any, **how: Any) -> Any:
        if runs[0].model.method == "gcn" and runs[0].seed >= _race.FIRST:
            raise PcnetError("The third split is too much for it.")
        return train(graph, runs, **how)

    monkeypatch.setattr(_race, "train", failing)
    found = probed(planted("both", n=80))
    assert "gcn" not in {each.method for each in found.attempts}
    assert found.left_out["gcn"] == "The third split is too much for it."


class Stages(Silent):
    """Remembers the titles, and how much of how much each stage came to."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.done: list[int] = []

    def stage(self, title: str, total: int) -> None:
        self.seen.append((title, total))
        self.done.append(0)

    def advance(self, units: int = 1) -> None:
        self.done[-1] += units


@pytest.mark.usefixtures("short")
def test_every_stage_is_announced_and_comes_to_its_end():
    progress = Stages()
    probed(planted("both", n=80), progress=progress)
    assert {title for title, _ in progress.seen} >= {
        "trying mlp",
        "trying pcnet",
        "trying gcn",
        "trying gcn without features",
    }
    assert progress.done == [total for _, total in progress.seen]


def _sampled_nodes(graph: Graph) -> torch.Tensor:
    """Those whose features came along: rows are told apart by their noise."""
    rows = {tuple(row): place for place, row in enumerate(graph.x.tolist())}
    chosen = sampled(graph, Neighbours.of(graph), 0)[1]["features"].x
    return torch.tensor([rows[tuple(row)] for row in chosen.tolist()])
