"""Three graphs on which inspections have given wrong advice, each with the property that misled them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pcnet import Graph
from pcnet.inspect import Inspection, _race, inspect_graph

pytestmark = pytest.mark.slow


def inspected(graph: Graph, monkeypatch: pytest.MonkeyPatch, *others: str) -> Inspection:
    """With the basic methods and these."""
    monkeypatch.setattr(_race, "OTHERS", others)
    return inspect_graph(graph, splits=3, threads=1)


def graph_of(source: np.ndarray, target: np.ndarray, x: np.ndarray, y: np.ndarray) -> Graph:
    ends = torch.from_numpy(np.stack([source, target]).astype(np.int64))
    features = torch.from_numpy(x.astype(np.float32))
    return Graph(torch.cat([ends, ends.flip(0)], dim=1), features, torch.from_numpy(y.astype(np.int64)))


def test_a_class_with_78_percent_hides_nothing(monkeypatch):
    """One column moves with the rare class, which no accuracy shows: ROC-AUC does, and no label is doubted.

    "Nothing here predicts the classes better than always saying '0'. Check that the labels belong to these nodes."
    """
    random, n = np.random.default_rng(0), 600
    y = random.permutation(n) < 0.22 * n
    x = random.standard_normal((n, 6))
    x[:, 0] += 1.1 * y
    found = inspected(graph_of(*random.integers(0, n, size=(2, 2 * n)), x, y), monkeypatch)
    best = found.probe.ranked[0]
    assert found.probe.metric.name == "roc_auc"
    assert best.score.mean > 70
    assert found.probe.over_guess.by.low > 0
    assert found.advice.verdict != "nothing"
    assert not any("labels belong" in sentence or "guess" in sentence for sentence in found.advice.sentences)


def test_features_that_say_nothing_alone_are_kept_where_they_help_the_links(monkeypatch):
    """A node's class is the sign of its neighbours' sum, its own column and its links alone are noise.

    "The features add nothing clear to the links (+24.1 points, which 5 splits cannot tell from chance). Use the graph;
    do not spend time on these features."
    """
    random, n = np.random.default_rng(0), 600
    source, target = random.integers(0, n, size=(2, 2 * n))
    sign = random.choice([-1.0, 1.0], size=n)
    around = np.bincount(source, sign[target], n) + np.bincount(target, sign[source], n)
    y = around + 0.1 * random.standard_normal(n) > 0
    x = np.stack([sign, random.standard_normal(n), np.ones(n)], axis=1)
    found = inspected(graph_of(source, target, x, y), monkeypatch)
    (links, features, *_) = found.advice.sentences
    assert found.probe.features_alone.by.low <= 0
    assert found.advice.verdict == "both"
    assert features.startswith("Alone the features are not clearly better than a guess, but they add to")
    assert found.probe.features_add.by.mean > 10
    assert found.probe.points(found.probe.features_add.by) in features
    assert found.probe.points(found.probe.links_add.by) in links
    assert found.advice.methods[0].method == "pcnet"


def test_mlp_is_not_enough_where_a_node_says_how_to_read_its_neighbours(monkeypatch):
    """A third of the nodes know their class; others link to their own class or to the other, as a column tells.

    A filter cannot tell the two kinds apart and is no better than mlp, ACM-GCN can.
    "Features and links predict the classes equally well […] The simplest model (mlp) will do."
    """
    random, n = np.random.default_rng(0), 600
    y, kind = random.integers(0, 2, size=(2, n))
    knows = np.arange(n) < n // 3
    source = np.concatenate([np.repeat(np.flatnonzero(knows), 4), np.repeat(np.flatnonzero(~knows), 3)])
    wanted = np.where(knows[source] | (kind[source] == 0), y[source], 1 - y[source])
    target = np.array([random.choice(np.flatnonzero(knows & (y == label))) for label in wanted])
    x = np.stack([knows * (2 * y - 1), ~knows * (2 * kind - 1), knows], axis=1) + 0.3 * random.standard_normal((n, 3))
    found = inspected(graph_of(source, target, x, y), monkeypatch, "acmgcn")
    probe = found.probe
    pcnet = next(each for each in probe.attempts if each.method == "pcnet")
    assert probe.difference(pcnet, probe.best("features")).low <= 0
    assert found.advice.methods[0].method == "acmgcn"
    assert "mlp" not in [each.method for each in found.advice.methods]
    assert probe.links_add.by.low > 9
    assert found.advice.sentences[0].startswith("The links add to what the features say: acmgcn is +")
