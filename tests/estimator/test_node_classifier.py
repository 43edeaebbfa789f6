"""NodeClassifier: scikit-learn's manners, honest labels, calibrated probabilities, files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import pcnet
from pcnet import Graph, NodeClassifier, NodeIndexClassifier, PcnetError, csbm
from pcnet.experiment import Ensemble
from pcnet.graph import Column, Schema

QUICK = {"epochs": 30, "hidden": 8}


@pytest.fixture(scope="module")
def graph() -> Graph:
    """A planted graph with names for everything and a third of the labels missing."""
    whole = csbm(180, 0.5, classes=3, features=6, seed=3)
    y = whole.y.clone()
    y[::3] = -1
    ids = np.array([f"node {place}" for place in range(180)])
    schema = Schema(tuple(Column(f"c{place}", "number") for place in range(6)))
    return replace(whole, y=y, ids=ids, classes=("ant", "bee", "cow"), schema=schema)


@pytest.fixture(scope="module")
def truth() -> torch.Tensor:
    return csbm(180, 0.5, classes=3, features=6, seed=3).y


@pytest.fixture(scope="module")
def fitted(graph) -> NodeClassifier:
    return NodeClassifier(settings=QUICK).fit(graph)


def test_predictions(graph, truth, fitted):
    assert fitted.classes_.tolist() == ["ant", "bee", "cow"]
    assert fitted.n_features_in_ == 6
    probabilities = fitted.predict_proba()
    assert probabilities.shape == (180, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (fitted.predict() == fitted.classes_[probabilities.argmax(1)]).all()
    unknown = (graph.y < 0).numpy()
    right = fitted.predict()[unknown] == np.array(["ant", "bee", "cow"])[truth.numpy()[unknown]]
    assert right.mean() > 0.6
    with pytest.raises(PcnetError, match="no labelled node left to score on"):
        fitted.score()
    assert fitted.score(replace(graph, y=truth), nodes=unknown) == pytest.approx(right.mean())
    assert 0 <= fitted.calibration_error_ < 0.5


def test_the_filter(graph, fitted):
    eigenvalues, response = fitted.filter_response_
    assert len(eigenvalues) == len(response)
    assert (np.diff(eigenvalues) > 0).all()
    model = fitted.ensemble_.models
    expected = np.mean([each.conv.response(eigenvalues) for each in model], axis=0)
    np.testing.assert_allclose(response, expected.ravel())
    assert NodeClassifier("mlp", settings=QUICK, runs=1).fit(graph).filter_response_ is None


def test_labels_that_fit_is_not_given_change_nothing(graph, truth):
    known = (graph.y >= 0).nonzero().flatten()[:60]
    one = NodeClassifier(settings=QUICK).fit(replace(graph, y=truth), train_mask=known)
    wrong = torch.where(torch.isin(torch.arange(180), known), truth, (truth + 1) % 3)
    other = NodeClassifier(settings=QUICK).fit(replace(graph, y=wrong), train_mask=known)
    np.testing.assert_array_equal(one.predict_proba(), other.predict_proba())
    assert one.score() == pytest.approx(
        (one.predict() == np.array(["ant", "bee", "cow"])[truth])[~np.isin(np.arange(180), known)].mean()
    )


def test_a_validation_set_of_ones_own(graph):
    labelled = (graph.y >= 0).nonzero().flatten()
    mask = torch.zeros(180, dtype=torch.bool)
    mask[labelled[::4]] = True
    classifier = NodeClassifier(settings=QUICK, runs=2).fit(graph, val_mask=mask)
    assert len(classifier.train_nodes_) == len(labelled)
    with pytest.raises(PcnetError, match="is in train_mask and in val_mask"):
        NodeClassifier().fit(graph, labelled, mask)


def test_runs_do_not_depend_on_each_other(graph):
    three = NodeClassifier(settings=QUICK, runs=3).fit(graph)
    one = NodeClassifier(settings=QUICK, runs=1).fit(graph)
    for own, other in zip(three.ensemble_.models[0].parameters(), one.ensemble_.models[0].parameters(), strict=True):
        assert torch.equal(own, other)


def test_saved_and_loaded(graph, fitted, tmp_path):
    fitted.save(tmp_path / "bees")
    loaded = NodeClassifier.load(tmp_path / "bees")
    np.testing.assert_array_equal(loaded.predict_proba(graph), fitted.predict_proba())
    assert (loaded.method_, loaded.schema_, loaded.classes_.tolist()) == ("pcnet", graph.schema, ["ant", "bee", "cow"])
    with pytest.raises(PcnetError, match="has no graph; say which one to predict"):
        loaded.predict()
    assert {path.suffix for path in (tmp_path / "bees").rglob("*") if path.is_file()} == {".json", ".safetensors"}


DAMAGES = {
    "an unknown version": ({"format": 99}, "has format 99, and this pcnet reads formats up to 3"),
    "no version": ({"format": None}, "is no classifier of pcnet"),
    "no classes": ({"classes": None}, "is damaged"),
    "other classes": ({"classes": ["ant", "bee", "cat"]}, "is not as it was written"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_damaged_files(fitted, tmp_path, case):
    fitted.save(tmp_path)
    change, sentence = DAMAGES[case]
    path = tmp_path / "classifier.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(PcnetError, match=sentence):
        NodeClassifier.load(tmp_path)


def test_nothing_to_load(tmp_path):
    with pytest.raises(PcnetError, match="There is no classifier in"):
        NodeClassifier.load(tmp_path)


def test_another_graph(graph, fitted):
    more = csbm(90, 0.5, classes=3, features=6, seed=8)
    assert fitted.predict_proba(replace(more, schema=graph.schema)).shape == (90, 3)
    assert fitted.predict_proba(more).shape == (90, 3)
    with pytest.raises(PcnetError, match="The graph has 5 features; the classifier was trained with 6"):
        fitted.predict(csbm(90, 0.5, classes=3, features=5, seed=8))
    columns = graph.schema.columns
    swapped = Schema((columns[1], columns[0], *columns[2:]))
    renamed = Schema((Column("age", "number"), *columns[1:]))
    scaled = Schema((replace(columns[0], scale=2.0), *columns[1:]))
    for schema, sentence in (
        (renamed, "The column 'c0' is missing"),
        (scaled, "the column 'c0' read differently"),
        (swapped, "columns in another order"),
    ):
        with pytest.raises(PcnetError, match=sentence):
            fitted.predict(replace(more, schema=schema))


def test_features_of_the_structure_stay_at_home(graph):
    structural = Schema((Column("embedding", "structure", 6),))
    own = replace(graph, schema=structural)
    classifier = NodeClassifier(settings=QUICK, runs=1).fit(own)
    assert classifier.predict(own).shape == (180,)
    with pytest.raises(PcnetError, match="mean nothing on another one"):
        classifier.predict(csbm(90, 0.5, classes=3, features=6, seed=8))


def test_scikit_learns_tools(graph):
    classifier = NodeClassifier("gcn", settings=QUICK, runs=1, class_weight="balanced", metric="balanced_accuracy")
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    assert copy.set_params(model="mlp").model == "mlp"
    with pytest.raises(NotFittedError, match="call fit"):
        copy.predict(graph)
    by_node = NodeIndexClassifier(graph, NodeClassifier(settings=QUICK, runs=1))
    assert clone(by_node).graph is graph
    nodes = np.flatnonzero(graph.y.numpy() >= 0)
    labels = graph.y.numpy()[nodes]
    scores = cross_val_score(by_node, nodes, labels, cv=3)
    assert scores.mean() > 0.5
    search = GridSearchCV(by_node, {"classifier__model": ["mlp", "pcnet"]}, cv=2, scoring="neg_log_loss")
    search.fit(nodes.reshape(-1, 1), labels)
    assert search.best_params_["classifier__model"] in ("mlp", "pcnet")


def test_labels_may_be_names(graph):
    nodes = np.flatnonzero(graph.y.numpy() >= 0)
    names = np.array(graph.class_names, dtype=object)[graph.y.numpy()[nodes]]
    named, numbered = (NodeIndexClassifier(graph, NodeClassifier(settings=QUICK, runs=1)) for _ in range(2))
    named.fit(nodes[::2], names[::2])
    numbered.fit(nodes[::2], graph.y.numpy()[nodes[::2]])
    assert named.predict(nodes).tolist() == [graph.class_names[label] for label in numbered.predict(nodes)]
    assert cross_val_score(named, nodes, names, cv=3).mean() > 0.5
    with pytest.raises(PcnetError, match="The label 'wolf' is no class of the graph, which has"):
        named.fit(nodes[:2], ["wolf", "wolf"])
    with pytest.raises(PcnetError, match="Labels must be class numbers from 0 to"):
        named.fit(nodes[:2], [0, 99])


def test_a_metric_scores(graph):
    nodes = np.flatnonzero(graph.y.numpy() >= 0)
    fitted = {
        name: NodeClassifier(settings=QUICK, runs=2, metric=name).fit(graph, train_mask=nodes[::2])
        for name in ("accuracy", "roc_auc", "macro_f1", "log_loss")
    }
    truth = graph.y.numpy()[nodes[1::2]]
    probability = fitted["roc_auc"].predict_proba()[nodes[1::2]]
    expected = sklearn.metrics.roc_auc_score(truth, probability, multi_class="ovr")
    assert fitted["roc_auc"].score() == pytest.approx(expected)
    assert fitted["accuracy"].score() == np.mean(fitted["accuracy"].predict_proba()[nodes[1::2]].argmax(1) == truth)
    loss = sklearn.metrics.log_loss(truth, fitted["log_loss"].predict_proba()[nodes[1::2]])
    assert fitted["log_loss"].score() == pytest.approx(-loss)


def test_unbalanced_classes_are_scored_by_roc_auc(tmp_path):
    whole = csbm(400, 0.5, classes=2, features=8, seed=3)
    rare = replace(whole, y=torch.where((whole.y == 1) & (torch.arange(400) % 3 > 0), -1, whole.y))
    classifier = NodeClassifier(settings=QUICK, runs=2).fit(rare, train_mask=(rare.y >= 0) & (torch.arange(400) < 300))
    assert classifier.metric_ == "roc_auc"
    classifier.save(tmp_path)
    loaded = NodeClassifier.load(tmp_path)
    held = np.flatnonzero((rare.y >= 0) & (torch.arange(400) >= 300))
    assert loaded.score(rare, held) == classifier.score(nodes=held)


def test_a_fold_sees_its_own_labels_only(graph):
    nodes = np.flatnonzero(graph.y.numpy() >= 0)
    labels = graph.y.numpy()[nodes]
    half = NodeIndexClassifier(graph, NodeClassifier(settings=QUICK, runs=1)).fit(nodes[::2], labels[::2])
    blind = replace(graph, y=torch.where(torch.isin(torch.arange(180), torch.from_numpy(nodes[::2])), graph.y, -1))
    same = NodeIndexClassifier(blind, NodeClassifier(settings=QUICK, runs=1)).fit(nodes[::2], labels[::2])
    np.testing.assert_array_equal(half.predict_proba(nodes), same.predict_proba(nodes))


MISTAKES = {
    "no graph": (lambda g: NodeClassifier().fit(g.x), "Tensor is no graph that can be read: give a path"),
    "a wrong model": (lambda g: NodeClassifier("gcm").fit(g), "no method 'gcm'.*Did you mean 'gcn'"),
    "a wrong setting": (lambda g: NodeClassifier(settings={"depth": 3}).fit(g), "no setting 'depth'"),
    "a wrong metric": (lambda g: NodeClassifier(metric="f1").fit(g), "There is no metric 'f1'"),
    "a wrong weight": (lambda g: NodeClassifier(class_weight="even").fit(g), "class_weight cannot be 'even'"),
    "no runs": (lambda g: NodeClassifier(runs=0).fit(g), "runs must be at least 1, not 0"),
    "a share": (lambda g: NodeClassifier(val_share=1.5).fit(g), "val_share must lie between 0 and 1"),
    "a short mask": (lambda g: NodeClassifier().fit(g, torch.ones(3, dtype=torch.bool)), "3 entries for 180 nodes"),
    "an unlabelled node": (lambda g: NodeClassifier().fit(g, [0, 1]), "names node node 0, which has no label"),
    "a node too many": (lambda g: NodeClassifier().fit(g, [1, 180]), "numbered from 0 to 179"),
    "one class": (lambda g: NodeClassifier().fit(g, np.flatnonzero(g.y == 1)), "fewer than two classes"),
    "an empty mask": (lambda g: NodeClassifier().fit(g, np.zeros(180, bool)), "train_mask names no node"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(graph, case):
    attempt, sentence = MISTAKES[case]
    with pytest.raises(PcnetError, match=sentence):
        attempt(graph)


def test_one_node_a_class(graph):
    y = torch.full((180,), -1)
    y[1], y[2] = 0, 1
    with pytest.raises(PcnetError, match="none is left to validate on"):
        NodeClassifier().fit(replace(graph, y=y))


@pytest.mark.parametrize("method", ["gat", "linkx", "h2gcn", "bernnet"])
def test_any_method(graph, method, tmp_path):
    settings = {"epochs": 4, "hidden": 8} if method != "gat" else {"epochs": 4}
    classifier = NodeClassifier(method, settings=settings, runs=1).fit(graph)
    classifier.save(tmp_path)
    np.testing.assert_allclose(Ensemble.load(tmp_path).probabilities(graph).numpy(), classifier.predict_proba())


def test_auto_chooses_by_validation(graph):
    classifier = NodeClassifier("auto", settings={"epochs": 15}, runs=2).fit(graph)
    assert {"mlp", "gcn", "pcnet"} <= {*classifier.candidates_}
    assert classifier.candidates_[classifier.method_] == max(classifier.candidates_.values())


def test_the_names_are_there_without_being_loaded():
    assert pcnet.NodeClassifier is NodeClassifier
    with pytest.raises(AttributeError, match="NodeClassifer"):
        _ = pcnet.NodeClassifer


def test_auto_for_some_minutes(graph, tmp_path):
    """An ensemble of several models, which is kept like any other, and knows no label but those it may know."""
    some = np.flatnonzero(graph.y >= 0)[:100]
    classifier = NodeClassifier("auto", minutes=0.1, threads=1).fit(graph, train_mask=some)
    assert classifier.score() > 0.5
    assert {"pcnet"} <= {*classifier.candidates_}
    assert "linkx" not in classifier.candidates_
    classifier.save(tmp_path)
    np.testing.assert_array_equal(NodeClassifier.load(tmp_path).predict_proba(graph), classifier.predict_proba())
    with pytest.raises(PcnetError, match='minutes belong to model="auto"'):
        NodeClassifier("gcn", minutes=1).fit(graph)
