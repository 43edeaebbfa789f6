"""What the report says about probabilities follows from numbers, on nodes that chose nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from guessed_results import scored
from test_write_report import words

from pcnet import Graph, Outcome
from pcnet.compare import reliability, temperature
from pcnet.experiment import Experiment, splits_of
from pcnet.nn import method_named
from pcnet.show._verdict import CHANCE, DRAWS, Trust


def said(confidence, right):
    """The diagram of predictions of the first of three classes."""
    p = torch.tensor(confidence, dtype=torch.float64)
    labels = torch.where(torch.tensor(right), 0, 1)
    return reliability(torch.stack([p, 0.6 * (1 - p), 0.4 * (1 - p)], dim=1), labels)


def overconfident(nodes, confidence, share, protocol="stratified-60-20-20"):
    """A result whose probabilities are right on validation nodes, so that T is 1, and less often on test nodes."""
    y = torch.arange(nodes) % 2
    ring = torch.arange(nodes)
    graph = Graph(torch.stack([ring, ring.roll(1)]), torch.randn(nodes, 3), y, classes=("no", "yes"), name="made up")
    model = method_named("mlp")()
    experiment = Experiment("made up", "defaults", protocol, (0,), model=model)
    [split] = splits_of(graph, experiment)
    logits = torch.zeros(nodes, 2)
    for part, often in ((split.val, confidence), (split.test, share)):
        right = torch.arange(len(part)) < round(often * len(part))
        answers = torch.where(right, y[part], 1 - y[part])
        logits[part, answers] = float(np.log(confidence / (1 - confidence)))
    outcome = Outcome(partial(model.build, 3, 2, 0), logits, 3, np.linspace(1, 0.5, 9), np.linspace(0.5, 0.7, 9))
    return graph, scored(experiment, [split], [outcome], graph)


@pytest.mark.parametrize("protocol", ["stratified-60-20-20", "random-60-20-20"])
def test_72_per_cent_that_are_63_are_no_word_to_take(page, protocol):
    graph, result = overconfident(3000, 0.72, 0.63, protocol)
    [split], [outcome] = result.splits, result.outcomes
    assert temperature(outcome.logits[split.val], split.labels[split.val]) == pytest.approx(1, abs=0.02)
    text = words(page(graph, result))
    assert "Warning. Do not take probabilities at their word: they are too sure, by 9.0 points on average." in text
    assert "Where it says 72 %, 63 % are right [59, 67]." in text
    assert "But its probabilities are too sure." in text
    assert "can be taken at their word" not in text


def test_what_is_kept_can_be_taken_at_its_word(page):
    text = words(page(*overconfident(8000, 0.72, 0.72)))
    assert "Probabilities can be taken at their word." in text
    assert "Checked on 1,600 test nodes" in text
    assert "Do not take" not in text


@pytest.mark.parametrize("seed", range(8))
def test_few_nodes_of_a_perfect_model_are_no_alarm(seed):
    """Nor are they a promise."""
    random = np.random.default_rng(seed)
    confidence = random.uniform(0.4, 1, 60)
    trust = Trust.of(said(confidence, random.random(60) < confidence))
    assert (trust.kind, trust.rough, trust.gaps) == ("kept", True, ())


def test_few_nodes_that_are_all_right_promise_nothing(page):
    assert Trust.of(said([1.0] * 8, [True] * 8)).rough
    text = words(page(*overconfident(100, 0.99, 1.0)))
    assert "Nothing speaks against taking probabilities at their word, but on 20 nodes an error below" in text


def test_alarms_are_about_as_rare_as_said_where_there_is_no_fire():
    """Two tests at 5 %, both of which must be clear of a few points too."""
    random = np.random.default_rng(0)
    kinds = []
    for _ in range(300):
        confidence = random.uniform(0.4, 1, 500)
        kinds.append(Trust.of(said(confidence, random.random(500) < confidence)).kind)
    assert kinds.count("kept") >= 0.88 * len(kinds)


def test_the_error_by_chance_is_that_of_labels_drawn_from_the_probabilities():
    """Drawn node by node here, and bin by bin there."""
    random = np.random.default_rng(1)
    confidence = random.uniform(0.4, 1, 400)
    draws = [said(confidence, random.random(400) < confidence).error for _ in range(DRAWS)]
    chance = Trust.of(said(confidence, random.random(400) < confidence)).chance
    assert chance == pytest.approx(100 * np.quantile(draws, CHANCE), rel=0.06)


def test_errors_that_cancel_are_seen():
    """60 % that are 75 and 90 % that are 75: right on average."""
    right = (np.arange(2000) % 4 > 0).tolist()
    trust = Trust.of(said([0.6] * 1000 + [0.9] * 1000, right))
    assert trust.kind == "uneven"
    assert abs(trust.overall.surplus) < 0.1
    assert {round(gap.said): round(gap.kept) for gap in trust.gaps} == {60: 75, 90: 75}


def test_modest_is_called_modest():
    trust = Trust.of(said([0.6] * 1000, (np.arange(1000) % 4 > 0).tolist()))
    assert trust.kind == "too modest"
    assert [round(gap.said) for gap in trust.gaps] == [60]


def test_a_large_graph_is_not_alarmed_by_a_trifle():
    trust = Trust.of(said([0.7] * 100_000, (np.arange(100_000) % 1000 < 685).tolist()))
    assert not trust.overall.interval[0] <= trust.overall.said <= trust.overall.interval[1]
    assert (trust.kind, trust.rough) == ("kept", False)


def test_only_test_nodes_are_looked_at(page):
    """What validation nodes say changes the temperature, and nothing else."""
    graph, result = overconfident(3000, 0.72, 0.63)
    [split], [outcome] = result.splits, result.outcomes
    rest = torch.ones(3000, dtype=torch.bool)
    rest[torch.cat([split.test, split.val])] = False
    logits = outcome.logits.clone()
    logits[rest] = 50 * torch.randn(int(rest.sum()), 2)
    assert page(graph, replace(result, outcomes=[replace(outcome, logits=logits)])) == page(graph, result)
