"""The rules behind the sentences, one by one, on measures that a test makes up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet import Graph, PcnetError, csbm
from pcnet.evaluation import summarise
from pcnet.experiments import graph_experiment
from pcnet.inspection import Classes, Degrees, Features, Homophily, Links, Probe, inspect_graph, suggested_methods
from pcnet.inspection._advice import advise, verdict_of
from pcnet.inspection._methods import pattern_of
from pcnet.inspection._warnings import warnings_of

LINKS = Links(100, 300, 0, 0, 1.0, 0, 1, 1.0, Degrees(1, 6, 6.0, 12, (0, 1, 99)))
CLASSES = Classes(("red", "blue"), (50, 50), 0)
FEATURES = Features(10, 0.1, 0, (), 0, False)


def homophily(adjusted: float | None, informativeness: float | None) -> Homophily:
    return Homophily(0.5, 0.5, 0.1, adjusted, informativeness, {})


def probe(features: float | None, graph: float | None, both: float | None, guess: float = 50.0) -> Probe:
    """Three splits whose scores are these, up and down by a tenth together."""
    ways = {"features": features, "graph": graph, "both": both}
    accuracy = {way: summarise([mean - 0.1, mean, mean + 0.2]) for way, mean in ways.items() if mean is not None}
    missing = {way: "There is none." for way, mean in ways.items() if mean is None}
    accuracy["guess"] = summarise([guess] * 3)
    return Probe(accuracy, accuracy, missing)


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
    ("scores", "verdict"),
    [
        ((77, 85, 88), "both"),
        ((50, 97, 96), "graph"),
        ((50, 92, 97), "graph"),  # features that are no better than a guess serve as names at most
        ((74, 50, 73), "features"),
        ((74, 74, 74.3), "either"),
        ((50, 50.4, 49.8), "nothing"),
        ((None, 80, 82), "graph"),
        ((80, None, None), "features"),
    ],
)
def test_verdicts(scores, verdict):
    found = probe(*scores)
    assert verdict_of(found) == verdict
    advice = advise(LINKS, CLASSES, homophily(0.5, 0.3), FEATURES, found)
    assert advice.verdict == verdict
    first = advice.methods[0].method
    assert first == ("mlp" if verdict in ("features", "either") else "pcnet")
    assert len(advice.sentences) == 2


def test_without_a_probe_the_measures_speak():
    advice = advise(LINKS, CLASSES, homophily(-0.3, 0.2), FEATURES, None)
    assert advice.verdict == "unknown"
    assert len(advice.sentences) == 1
    assert "high frequencies" in advice.sentences[0]
    assert advise(LINKS, CLASSES, homophily(None, None), FEATURES, Probe({}, {}, {}, skipped="few")).sentences == ()


@pytest.mark.parametrize("pattern", [(0.8, 0.6), (-0.3, 0.2), (0.0, 0.0), (None, None)])
def test_suggestions_are_methods_with_settings_that_exist(pattern):
    graph = csbm(40, 0.5, features=5, average_degree=8)
    advice = advise(LINKS, CLASSES, homophily(*pattern), replace(FEATURES, density=1.0), None)
    found = [each.method for each in advice.methods]
    assert {"mlp", "gcn", "pcnet"} <= set(found)
    assert len(set(found)) == len(found)
    for each in advice.methods:
        graph_experiment(graph, each.method).with_overrides(each.settings)
    assert any(each.settings for each in advice.methods)


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
    found = warnings_of(replace(LINKS, **links), replace(CLASSES, **classes), replace(FEATURES, **features))
    assert any(words in sentence for sentence in found), found


def test_a_tidy_graph_has_no_warnings():
    assert warnings_of(LINKS, CLASSES, FEATURES) == []


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
