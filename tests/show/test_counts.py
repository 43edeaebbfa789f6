"""What the report counts, against scikit-learn and against counting by hand."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics
import torch
from guessed_results import guessed
from hypothesis import given
from hypothesis import strategies as st

from pcnet import Graph
from pcnet.compare import reliability, temperature, wilson
from pcnet.graph import edge_homophily, node_homophily
from pcnet.show._counts import (
    COLUMNS,
    Surroundings,
    by_degree,
    by_likeness,
    class_scores,
    frequent_confusions,
    mistakes,
    tally,
    write_mistakes,
)
from strategies import graphs


@pytest.fixture(scope="module")
def result(small):
    return guessed(small, runs=3)


@pytest.fixture(scope="module")
def pairs(result):
    """Of all runs together: logits over the run's temperature, and true classes, of its test nodes."""
    logits, labels = [], []
    for split, outcome in zip(result.splits, result.outcomes, strict=True):
        scale = temperature(outcome.logits[split.val], split.labels[split.val])
        logits.append(outcome.logits[split.test].double() / scale)
        labels.append(split.labels[split.test])
    return torch.cat(logits), torch.cat(labels)


def test_classes_as_scikit_learn_scores_them(result, pairs, small):
    logits, labels = pairs
    found = tally(result)
    answers = logits.argmax(1)
    assert (found.confusion == sklearn.metrics.confusion_matrix(labels, answers)).all()
    expected = sklearn.metrics.precision_recall_fscore_support(labels, answers)
    rows = class_scores(found.confusion, small.class_names)
    for name, values in zip(("precision", "recall", "f1"), expected, strict=False):
        np.testing.assert_allclose([getattr(row, name) for row in rows], 100 * values)
    assert [row.support for row in rows] == expected[3].tolist()


def test_a_share_of_nothing_is_none():
    never_there, never_called = class_scores(np.array([[0, 0], [3, 0]]), ["a", "b"])
    assert (never_there.recall, never_there.precision) == (None, 0.0)
    assert (never_called.precision, never_called.recall) == (None, 0.0)
    assert class_scores(np.array([[4, 0], [0, 0]]), ["a", "b"])[1].f1 is None


@pytest.fixture(scope="module")
def each_node(result):
    """By hand: for each tested node the mean of the probabilities of the runs that tested it."""
    found = {}
    for split, outcome in zip(result.splits, result.outcomes, strict=True):
        scale = temperature(outcome.logits[split.val], split.labels[split.val])
        for node in split.test.tolist():
            found.setdefault(node, []).append(torch.softmax(outcome.logits[node].double() / scale, 0).numpy())
    return {node: np.mean(each, axis=0) for node, each in sorted(found.items())}


def test_diagrams_count_every_node_once(result, each_node, small):
    probabilities = torch.from_numpy(np.array([*each_node.values()]))
    together, found = reliability(probabilities, small.y[[*each_node]]), tally(result).calibrated
    assert found.count == together.count
    np.testing.assert_allclose(found.accuracy, together.accuracy)
    np.testing.assert_allclose(found.confidence, together.confidence)


def test_an_estimate_counts_every_node_once(small):
    """The table of classes, the bins and the headline are about the same predictions."""
    result = guessed(small, runs=7, protocol="stratified-60-20-20")
    found, pooled = tally(result), result.pooled
    answers = pooled.probabilities.argmax(1)
    assert (found.confusion == sklearn.metrics.confusion_matrix(pooled.labels, answers)).all()
    assert found.counted.sum() == found.confusion.sum() == len(pooled.nodes) == small.num_nodes
    assert found.tested.sum() == sum(len(split.test) for split in result.splits) > small.num_nodes
    assert 100 * found.confusion.trace() / found.confusion.sum() == pytest.approx(result.headline.measured)
    assert 100 * found.right.sum() / found.counted.sum() == pytest.approx(result.headline.measured)


def test_test_labels_change_no_temperature(result):
    turned = []
    for split in result.splits:
        labels = split.labels.clone()
        labels[split.test] = (labels[split.test] + 1) % 3
        turned.append(replace(split, labels=labels))
    assert tally(replace(result, splits=turned)).temperatures == tally(result).temperatures


def test_frequent_confusions_are_sorted_and_no_hits():
    confusion = np.array([[9, 2, 0], [5, 9, 1], [0, 0, 9]])
    assert frequent_confusions(confusion) == [(1, 0, 5), (0, 1, 2), (1, 2, 1)]


@given(edges=graphs(max_nodes=12, weighted=False, directed=True, min_nodes=2), seed=st.integers(0, 99))
def test_neighbours_are_counted_as_by_hand(edges, seed):
    n = edges.num_nodes
    y = np.random.default_rng(seed).integers(-1, 3, n)
    y[:2] = 0, 2
    graph = Graph(edges.edge_index, torch.zeros(n, 1), torch.from_numpy(y))
    found = Surroundings.of(graph)
    around = [set() for _ in range(n)]
    for a, b in edges.edge_index.T.tolist():
        if a != b:
            around[a].add(b)
            around[b].add(a)
    assert found.degree.tolist() == [len(each) for each in around]
    by_hand = np.array([[sum(y[v] == k for v in each) for k in range(3)] for each in around])
    assert (found.by_class.toarray() == by_hand).all()
    assert (found.mixing == [by_hand[y == k].sum(axis=0) for k in range(3)]).all()
    if found.mixing.any():
        assert found.mixing.trace() / found.mixing.sum() == pytest.approx(edge_homophily(graph, loops=False))
        assert np.nanmean(found.likeness) == pytest.approx(node_homophily(graph, loops=False))
    else:
        assert np.isnan(found.likeness).all()


def test_bins_hold_every_tested_node_once(result, small):
    found, around = tally(result), Surroundings.of(small)
    times = found.counted > 0
    assert sum(each.nodes for each in by_degree(found, around)) == times.sum()
    assert sum(each.nodes for each in by_likeness(found, around)) == (times & np.isfinite(around.likeness)).sum()
    for each in (*by_degree(found, around), *by_likeness(found, around)):
        assert each.interval[0] - 1e-9 <= each.accuracy <= each.interval[1] + 1e-9


@pytest.mark.parametrize(
    ("degree", "label"), [(0, "0"), (1, "1"), (2, "2"), (3, "3–4"), (4, "3–4"), (5, "5–8"), (64, "33–64"), (65, "> 64")]
)
def test_degrees_are_in_the_bin_that_names_them(result, small, degree, label):
    around = replace(Surroundings.of(small), degree=np.full(small.num_nodes, degree))
    assert [each.label for each in by_degree(tally(result), around)] == [label]


@pytest.mark.parametrize(
    ("share", "label"), [(0.0, "0–20 %"), (3 / 5, "60–80 %"), (0.1 * 6, "60–80 %"), (1.0, "80–100 %")]
)
def test_shares_are_in_the_bin_that_names_them(result, small, share, label):
    around = replace(Surroundings.of(small), likeness=np.full(small.num_nodes, share))
    assert [each.label for each in by_likeness(tally(result), around)] == [label]


@given(st.integers(0, 60), st.integers(1, 60))
def test_wilson_inverts_the_score_test(right, count):
    """Its ends are the shares p from which the observed one is just 1.96 standard errors away."""
    right = min(right, count)
    for end in wilson(right / count, count):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(right / count - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / count), abs=1e-9)


def test_mistakes_are_all_that_is_wrong_and_the_surest_come_first(result, small, each_node, tmp_path):
    wrong = {node: p for node, p in each_node.items() if p.argmax() != small.y[node]}
    around = Surroundings.of(small)
    found = [*mistakes(tally(result), around, small.y.numpy(), small.node_names, small.class_names)]
    assert {each.node for each in found} == {f"node {node}" for node in wrong}
    assert [each.probability for each in found] == sorted((each.probability for each in found), reverse=True)
    for each in found:
        node = int(each.node.removeprefix("node "))
        assert each.truth == f"kind {small.y[node]}" != each.answer == f"kind {wrong[node].argmax()}"
        assert each.probability == pytest.approx(wrong[node].max())
        tested = [run for run, split in enumerate(result.splits) if node in split.test]
        assert each.times == len(tested)
        assert each.wrong == sum(int(result.outcomes[run].logits[node].argmax()) != small.y[node] for run in tested)
        others = {*small.edge_index[1][small.edge_index[0] == node].tolist()}
        assert each.degree == len(others)
        assert all(
            f"{sum(small.y[v] == k for v in others)} × kind {k}" in each.around
            for k in {int(small.y[v]) for v in others}
        )
    write_mistakes(tmp_path / "all.csv", iter(found))
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert [*rows[0]] == [*COLUMNS]
    for row, each in zip(rows, found, strict=True):
        assert float(row["probability"]) == pytest.approx(each.probability, abs=1e-6)
        assert (row["node"], row["label"], row["predicted"]) == (each.node, each.truth, each.answer)
        assert (int(row["wrong_in"]), int(row["tested_in"])) == (each.wrong, each.times)
        assert (int(row["neighbours"]), row["neighbour_classes"]) == (each.degree, each.around)
