"""The verdict, the score and what a guess would get, against scikit-learn where it has the same."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import sklearn.dummy
import sklearn.metrics
import torch
from guessed_results import guessed, named, scored
from test_write_report import words

from pcnet import Graph, csbm
from pcnet.compare import METRICS, Metric
from pcnet.experiment import Estimate, Experiment, run_experiment
from pcnet.show._counts import tally
from pcnet.show._verdict import all_scores, guess_score
from pcnet.training import TrainingSettings

STRATIFIED = "stratified-60-20-20"


@pytest.fixture(scope="module")
def rare() -> Graph:
    """Two classes, one in eight the second; a quarter has no label."""
    graph = csbm(800, 0.5, features=6, seed=2)
    random = np.random.default_rng(0)
    y = torch.from_numpy((random.random(800) < 0.125).astype(np.int64))
    y[torch.from_numpy(random.random(800) < 0.25)] = -1
    return replace(named(graph, "#"), y=y, classes=("healthy", "ill"))


@pytest.mark.parametrize("classes", [2, 5])
def test_a_guess_is_scored_as_scikit_learn_scores_one(classes):
    random = np.random.default_rng(classes)
    labels = np.sort(random.choice(classes, 200, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()))
    dummy = sklearn.dummy.DummyClassifier(strategy="prior").fit(labels[:, None], labels)
    answers, p = dummy.predict(labels[:, None]), dummy.predict_proba(labels[:, None])
    several = classes > 2
    onehot = np.eye(classes)[labels]
    expected = {
        "accuracy": sklearn.metrics.accuracy_score(labels, answers),
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(labels, answers),
        "macro_f1": sklearn.metrics.f1_score(labels, answers, average="macro"),
        "roc_auc": sklearn.metrics.roc_auc_score(labels, p if several else p[:, 1], multi_class="ovr"),
        "average_precision": sklearn.metrics.average_precision_score(
            onehot if several else labels, p if several else p[:, 1]
        ),
        "log_loss": sklearn.metrics.log_loss(labels, p),
    }
    for name, value in expected.items():
        metric = METRICS[name]
        found = guess_score(metric, torch.from_numpy(labels), classes)
        assert found == pytest.approx(100 * value if metric.percent else value), name


def test_every_metric_says_what_it_is():
    assert all(metric.meaning != Metric.meaning for metric in METRICS.values())


def test_a_metric_that_a_user_added_has_its_row(page, small, monkeypatch):
    monkeypatch.setitem(METRICS, "hits", Metric("hits", "hits", METRICS["accuracy"].of))
    text = words(page(small, guessed(small, runs=5, protocol=STRATIFIED)))
    assert re.search(r"hits [\d.]+ % [\d.]+ to [\d.]+ % [\d.]+ % a metric of your own", text)


@pytest.mark.parametrize("metric", METRICS)
def test_the_metric_that_counts_is_the_headline(page, rare, metric):
    result = guessed(rare, runs=5, skill=4.0, protocol=STRATIFIED, metric=metric)
    assert isinstance(result.headline, Estimate)
    text = words(page(rare, result))
    figure = f"{result.headline.mean:.1f} %" if METRICS[metric].percent else f"{result.headline.mean:.3f}"
    unlabelled = int((rare.y < 0).sum())
    assert f"{figure} {METRICS[metric].title} is to be expected on the {unlabelled} nodes without a label" in text
    assert "Clearly better than a guess" in text
    assert "Always naming “healthy”, the largest class, would be right for" in text
    for name, estimate in result.test.items():
        low, high = (f"{end:.1f}" if METRICS[name].percent else f"{end:.3f}" for end in estimate.ci95)
        assert f"{low} to {high}" in text


def test_with_all_labels_known_it_is_about_nodes_like_these(page, small):
    text = words(page(small, guessed(small, runs=5, protocol=STRATIFIED)))
    assert "is to be expected on nodes like these" in text
    assert "Each of the 240 tested nodes has one prediction here" in text


def test_noise_is_warned_of(page, small):
    text = words(page(small, guessed(small, runs=5, skill=0.0, protocol=STRATIFIED)))
    assert "Warning. N" in text
    assert "better than a guess: accuracy is" in text
    assert "pcnet inspect shows" in text
    assert "Clearly better" not in text


def test_skill_is_seen_however_few_nodes_have_no_label(page, small):
    """The interval for three nodes reaches below any guess; whether the model learned something is another question."""
    y = small.y.clone()
    y[:3] = -1
    graph = replace(small, y=y)
    result = guessed(graph, runs=5, skill=2.0, protocol=STRATIFIED)
    [accuracy] = [each for each in all_scores(result, tally(result)) if each.metric.name == "accuracy"]
    assert accuracy.interval[0] < accuracy.guess
    assert accuracy.beats_guess
    assert "Clearly better than a guess" in words(page(graph, result))


@pytest.mark.parametrize("protocol", [STRATIFIED, "random-60-20-20"])
def test_a_class_that_is_never_found_is_named(page, small, protocol):
    result = guessed(small, runs=5, protocol=protocol)
    logits = 4.0 * torch.nn.functional.one_hot(small.y.clamp(max=1), 3)
    never = [replace(outcome, logits=logits) for outcome in result.outcomes]
    text = words(page(small, scored(result.experiment, result.splits, never, small)))
    assert "Warning. A class is never found: “kind 2” (0 of" in text
    assert "class_weight=balanced" in text
    assert "better than a guess" not in text


def test_always_naming_the_largest_class_is_no_better_than_that(page, rare):
    result = guessed(rare, runs=5, protocol=STRATIFIED)
    always = [replace(outcome, logits=torch.tensor([[2.0, 0.0]]).repeat(800, 1)) for outcome in result.outcomes]
    text = words(page(rare, scored(result.experiment, result.splits, always, rare)))
    assert "Warning. No better than a guess: accuracy is" in text
    assert "Warning. A class is never found: “ill” (0 of" in text


def test_a_ranking_that_is_better_than_the_answers_is_told(page, rare):
    """Never the rare class by its answers, and yet its nodes are the more probable ones."""
    result = guessed(rare, runs=5, skill=1.5, protocol=STRATIFIED)
    timid = [replace(o, logits=0.3 * o.logits + torch.tensor([3.0, 0.0])) for o in result.outcomes]
    text = words(page(rare, scored(result.experiment, result.splits, timid, rare)))
    assert "Warning. No" in text
    assert "The ranking is better: ROC-AUC is" in text


def test_few_tested_nodes_are_rough(page):
    graph = named(csbm(60, 0.5, features=5, seed=1), "kind #")
    y = graph.y.clone()
    y[30:] = -1
    graph = replace(graph, y=y)
    text = words(page(graph, guessed(graph, runs=2, skill=5.0, protocol=STRATIFIED)))
    assert "Warning. Only 12 nodes were tested, so every number here is rough" in text


def test_one_run_by_a_metric_without_an_interval(page, small):
    text = words(page(small, guessed(small, runs=1, metric="roc_auc")))
    assert "ROC-AUC on the test nodes. That is one run on" in text


def test_which_models_gave_the_estimate_and_which_predict(page, small):
    training = TrainingSettings(epochs=5)
    experiment = Experiment("small", "defaults", STRATIFIED, (0, 1, 2), training=training)
    result = run_experiment(small, experiment, members=2)
    text = words(page(small, result))
    assert result.headline.gain > 0
    assert f"The runs together got {result.headline.measured:.1f} %; by what validation nodes tell, these" in text
    assert f"models are better by {result.headline.gain:.1f} points, which the estimate counts in." in text
    assert "3 runs gave this estimate, each trained on 144 labels, with 48 more to choose the epoch" in text
    assert "pcnet predict uses 2 other models that know every label" in text
    assert "pcnet predict uses the models of these runs." in words(page(small, run_experiment(small, experiment)))


@pytest.mark.parametrize(
    ("metric", "axis"), [("roc_auc", "validation ROC-AUC, %"), ("log_loss", "validation accuracy, %")]
)
def test_curves_are_of_the_metric_that_was_watched(page, small, metric, axis):
    assert axis in words(page(small, guessed(small, metric=metric)))
