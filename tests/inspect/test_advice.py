"""The rules behind the sentences, one by one, on measures that a test makes up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from probes import probe, tried

from pcnet import Graph, PcnetError, csbm
from pcnet.compare import METRICS
from pcnet.experiment import resolve
from pcnet.inspect import (
    Advice,
    Classes,
    Degrees,
    Estimate,
    Features,
    Homophily,
    Links,
    Probe,
    inspect_graph,
    suggested_methods,
)
from pcnet.inspect._advice import advise, pattern_of, verdict_of, warnings_of
from pcnet.inspect._probe import MATTERS

LINKS = Links(100, 300, 0, 0, 1.0, 0, 1, 1.0, Degrees(1, 6, 6.0, 12, (0, 1, 99)))
CLASSES = Classes(("red", "blue"), (50, 50), 0)
FEATURES = Features(10, 0.1, 0, (), 0, False)


def homophily(adjusted: float | None, informativeness: float | None) -> Homophily:
    return Homophily(0.5, 0.5, 0.1, adjusted, informativeness, {})


def advice(found: Probe | None, features: Features = FEATURES, untrainable: str = "") -> Advice:
    metric = METRICS["accuracy"] if found is None else found.metric
    return advise(LINKS, CLASSES, homophily(0.5, 0.3), features, found, metric=metric, untrainable=untrainable)


@pytest.mark.parametrize(
    ("adjusted", "informativeness", "pattern"),
    [
        (0.77, 0.59, "alike"),  # Cora
        (-0.29, 0.19, "patterned"),  # Texas
        (0.00, 0.00, "silent"),  # Actor
        (-0.05, 0.11, "patterned"),  # Roman-empire (Platonov et al. 2023)
        (0.14, 0.04, "silent"),  # Amazon-ratings, there too
        (None, None, "unknown"),
    ],
)
def test_patterns_of_known_graphs(adjusted, informativeness, pattern):
    assert pattern_of(homophily(adjusted, informativeness)) == pattern


@pytest.mark.parametrize(
    ("scores", "spread", "verdict"),
    [
        ((77, 85, 88), 0.1, "both"),
        ((50, 97, 96), 0.1, "graph"),
        ((50, 72, 96), 0.1, "both"),  # alone no better than a guess, and with the links worth 24 points
        ((74, 50, 73), 0.1, "features"),
        ((74, 74, 74.3), 0.1, "either"),
        ((77, 76, 79), 5.0, "open"),
        ((50, 72, 96), 40.0, "open"),
        ((None, 80, None), 0.1, "graph"),
        ((80, None, None), 0.1, "features"),
    ],
)
def test_verdicts(scores, spread, verdict):
    found = probe(*scores, spread=spread)
    assert verdict_of(found) == verdict
    said = advice(found)
    assert said.verdict == verdict
    if verdict in ("features", "either") and None not in scores:
        assert any("(features model) is simpler and as good" in sentence for sentence in said.sentences)


def test_the_best_is_named_first_whatever_the_links_are_like():
    """And what is not clearly worse after it, with the difference; the rest is not advised."""
    ways = [tried("features", 70, name="mlp"), tried("both", 90, 2.0, name="linkx"), tried("both", 89, 2.0, name="gcn")]
    found = Probe(METRICS["accuracy"], tuple(ways), tried("guess", 50, 0.0))
    named = advice(found).methods
    assert [each.method for each in named] == ["linkx", "gcn"]
    assert named[0].why.startswith("accuracy 90.0 [")
    behind = found.difference(ways[2], ways[1])
    assert found.points(behind) in named[1].why
    assert behind.low < behind.mean == -1 < 0 < behind.high


def test_what_was_given_up_is_not_named():
    given_up = tried("both", 95, 30.0, name="gcn", splits=2)
    found = Probe(METRICS["accuracy"], (given_up, tried("both", 90, name="pcnet")), tried("guess", 50, 0.0))
    assert [each.method for each in advice(found).methods] == ["pcnet"]


scores = st.floats(40, 100)


@given(scores, scores, scores, st.floats(0.01, 20), st.floats(-10, 10), st.floats(0, 10), st.booleans())
def test_nothing_is_thrown_away_unless_an_interval_says_so(features, graph, both, spread, auc, half, asked):
    """Features and links are called dispensable, and labels doubted, only where no gain that matters is left."""
    signal = Estimate(auc, auc - half, auc + half) if asked else None
    found = probe(features, graph, both, spread=spread, signal=signal)
    text = " ".join(advice(found).sentences)
    assert ("Check that the labels" in text) == (signal is not None and signal.high < 5)
    for words, gain in (("A model can do without", found.features_add), ("simpler and as good", found.links_add)):
        assert (words in text) == (signal is None and gain.by.high < MATTERS)
        if signal is None:
            assert found.points(gain.by) in text


def test_a_guess_and_the_signal_are_printed():
    found = probe(50.4, 49.8, 50.1, spread=2.0, signal=Estimate(1.0, -1.5, 3.5))
    (sentence, *_) = advice(found).sentences
    assert "ROC-AUC of the best is 51.0 [48.5, 53.5] where a guess has 50" in sentence
    (sentence, *_) = advice(replace(found, signal=Estimate(4.0, -1.5, 9.5))).sentences
    assert found.points(found.over_guess.by) in sentence
    assert "100 labels do not settle it" in sentence
    (sentence, *_) = advice(replace(found, signal=Estimate(14.0, 9.5, 18.5))).sentences
    assert "something is known: ROC-AUC of the best is 64.0 [59.5, 68.5]" in sentence


def test_log_loss_is_better_when_it_is_lower():
    found = probe(0.9, 0.7, 0.5, spread=0.001, guess=1.1, metric="log_loss")
    assert found.ranked[0].way == "both"
    assert found.links_add.by.mean == pytest.approx(0.4)
    assert advice(found).methods[0].method == "pcnet"
    assert "both model is +0.400 [" in advice(found).sentences[0]


def test_without_a_probe_the_measures_speak():
    found = advise(LINKS, CLASSES, homophily(-0.3, 0.2), FEATURES, None, metric=METRICS["accuracy"])
    assert found.verdict == "unknown"
    (sentence,) = found.sentences
    assert "sharpen differences" in sentence
    skipped = Probe(METRICS["accuracy"], skipped="few")
    assert advise(LINKS, CLASSES, homophily(None, None), FEATURES, skipped, metric=skipped.metric).sentences == ()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([-1] * 6, "no node has a label. Name the column that holds them with --read label=COLUMN"),
        ([0, 0, 0, -1, -1, -1], "every label is 'red'. Label nodes of another class, too"),
        ([0, 0, 1, 1, -1, -1], "no class has three"),
    ],
)
def test_what_cannot_be_trained_is_not_suggested(y, words):
    ends = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    found = inspect_graph(Graph(ends, torch.eye(6), torch.tensor(y), classes=("red", "blue")))
    (sentence,) = found.advice.sentences
    assert sentence.startswith("Nothing can be trained yet")
    assert words in sentence
    assert found.advice.methods == ()
    assert found.as_dict()["methods"] == []


@pytest.mark.parametrize("pattern", [(0.8, 0.6), (-0.3, 0.2), (0.0, 0.0), (None, None)])
def test_suggestions_are_methods_with_settings_that_exist(pattern):
    graph = csbm(40, 0.5, features=5, average_degree=8)
    dense = replace(FEATURES, density=1.0)
    advised = advise(LINKS, CLASSES, homophily(*pattern), dense, None, metric=METRICS["accuracy"])
    found = [each.method for each in advised.methods]
    assert {"mlp", "gcn", "pcnet"} <= set(found)
    assert len(set(found)) == len(found)
    for each in advised.methods:
        resolve(graph, each.method).with_overrides(each.settings)
    assert any(each.settings for each in advised.methods)


def names(graph: Graph, known: torch.Tensor | None = None) -> list[str]:
    return [each.method for each in suggested_methods(graph, known)]


def test_suggestions_without_training():
    assert names(csbm(300, 1.0, average_degree=10)) == ["pcnet", "gcn", "mlp"]
    assert set(names(csbm(300, -1.0, average_degree=10))) > {"pcnet", "gcn", "mlp"}


def test_labels_of_other_nodes_are_not_looked_at():
    """Unknown labels that would turn a smooth graph into a rough one change nothing."""
    graph = csbm(400, 1.0, average_degree=20)
    known = torch.arange(200)
    lying = graph.y.clone()
    lying[200:] = torch.from_numpy(np.random.default_rng(0).integers(0, 2, size=200))
    for y in (graph.y, lying, torch.where(torch.arange(400) < 200, graph.y, -1)):
        assert names(replace(graph, y=y), known) == ["pcnet", "gcn", "mlp"]


@pytest.mark.parametrize(
    ("links", "classes", "features", "words"),
    [
        ({}, {"counts": (90, 10)}, {}, "unbalanced: 'red' has 90 % of the labels"),
        ({}, {"counts": (97, 3)}, {}, "Fewer than ten labels in the class 'blue'"),
        ({}, {"counts": (15, 15), "unlabelled": 70}, {}, "30 labels for 2 classes are few"),
        ({}, {"counts": (100, 0)}, {}, "All labelled nodes are of the class 'red'"),
        ({}, {"counts": (0, 0), "unlabelled": 100}, {}, "No node has a label"),
        ({"isolated": 5}, {}, {}, "Nodes without links: 5 of 100 (5.0 %)"),
        ({"duplicates": 7}, {}, {}, "Edges that repeat another: 7"),
        ({"reciprocal": 0.25}, {}, {}, "have a direction (25 % are listed both ways)"),
        ({"edges": 0, "isolated": 100}, {}, {}, "this is a table, not a graph"),
        ({}, {}, {"constant": 2, "constant_names": ("age", "town")}, "2 of 10 ('age', 'town'); drop them"),
        ({}, {}, {"empty": 4}, "features are all zero: 4 of 100"),
        ({}, {}, {"structural": True}, "computed from the links"),
    ],
)
def test_warnings(links, classes, features, words):
    parts = replace(LINKS, **links), replace(CLASSES, **classes), replace(FEATURES, **features)
    found = list(warnings_of(*parts, METRICS["accuracy"]))
    assert any(words in sentence for sentence in found), found


def test_a_tidy_graph_has_no_warnings():
    assert list(warnings_of(LINKS, CLASSES, FEATURES, METRICS["accuracy"])) == []


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("accuracy", "Accuracy hardly sees the small ones: --metric macro_f1"),
        ("log_loss", "Log loss hardly sees the small ones"),
        ("roc_auc", "ROC-AUC is blind to that, but the answers are not"),
        ("macro_f1", "--set class_weight=balanced trains with all of them alike, too"),
    ],
)
def test_what_to_do_about_unbalanced_classes_depends_on_the_metric(metric, words):
    (warning,) = warnings_of(LINKS, replace(CLASSES, counts=(90, 10)), FEATURES, METRICS[metric])
    assert words in warning
    assert "class_weight=balanced" in warning


def test_everything_is_json_without_numbers_that_json_lacks():
    graph = Graph(torch.empty(2, 0, dtype=torch.int64), torch.zeros(5, 1), torch.full((5,), -1))
    found = json.loads(json.dumps(inspect_graph(graph).as_dict(), allow_nan=False))
    assert found["homophily"] == dict.fromkeys(found["homophily"])
    assert set(found["homophily_undefined"]) == set(found["homophily"])
    assert "two classes" in found["probe"]["skipped"]
    assert (found["nodes"], found["edges"], found["labelled"], found["classes"]) == (5, 0, 0, 0)


@pytest.mark.parametrize("wrong", [{"splits": 1}, {"splits": 2.5}, {"seed": -1}])
def test_bad_arguments(wrong):
    with pytest.raises(PcnetError, match="must be"):
        inspect_graph(csbm(40, 0.5, average_degree=8), **wrong)
