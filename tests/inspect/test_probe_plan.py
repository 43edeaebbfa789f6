"""What is tried on graphs of different sizes, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet import Graph, csbm
from pcnet.graph import Column, Neighbours, Schema
from pcnet.inspect import Features, _race
from pcnet.inspect._race import BASIC, FIRST, OTHERS, USUAL, Plan, Size, candidates, planned

GRAPH = csbm(60, 0.5, features=3, average_degree=8)


def plan(graph: Graph = GRAPH, splits: int | None = None) -> Plan:
    return planned(graph, Neighbours.of(graph), Features.of(graph), splits, 0, None)


def test_a_small_graph_gets_every_method_with_its_defaults():
    found = plan()
    assert {each.method for each in found.candidates} - {""} == {*BASIC, *OTHERS}
    assert [each.name for each in found.candidates if not each.method] == [
        "gcn without features",
        "linkx without features",
    ]
    assert (found.splits, found.left_out, found.note) == (USUAL, {}, "")
    assert found.further(found.candidates) == USUAL - FIRST


def test_what_takes_long_is_left_out_and_said(monkeypatch):
    everything = plan().candidates
    wanted = sum(each.seconds for each in everything if each.basic or each.method == "acmgcn")
    monkeypatch.setattr(_race, "FIRST_BUDGET", FIRST * (wanted + 0.01))
    found = plan()
    assert {each.method for each in found.candidates} == {"", *BASIC, "acmgcn"}
    assert set(found.left_out) == {"linkx", "h2gcn"}
    assert all("min of one core for every split" in reason for reason in found.left_out.values())


def test_splits_follow_the_first_while_time_lasts(monkeypatch):
    found = plan()
    whole = sum(each.seconds for each in found.candidates)
    monkeypatch.setattr(_race, "BUDGET", (FIRST + 1.5) * whole)
    assert found.further(found.candidates) == 1
    assert found.further(found.candidates[:1]) == USUAL - FIRST
    monkeypatch.setattr(_race, "BUDGET", 0.0)
    assert found.further(found.candidates) == 0
    assert plan(splits=7).further(found.candidates) == 5


def test_the_largest_graphs_are_sampled(monkeypatch):
    monkeypatch.setattr(_race, "FIRST_BUDGET", 0.0)
    found = plan()
    assert [(each.way, each.method) for each in found.candidates] == [("features", ""), ("graph", ""), ("both", "")]
    assert set(found.left_out) == set(OTHERS)
    assert "30 of 60 labelled nodes" in found.note


def test_what_has_no_features_or_no_links_is_seen_alone():
    bare = replace(GRAPH, edge_index=torch.empty(2, 0, dtype=torch.int64))
    assert [(each.way, each.name) for each in plan(bare).candidates] == [("features", "mlp")]
    schema = Schema((Column("spectral embedding", "structure", width=GRAPH.num_features),))
    assert {each.way for each in plan(replace(GRAPH, schema=schema)).candidates} == {"graph"}


def test_few_numbers_are_tried_with_a_relu_too():
    """csbm's features are dense: PCNet's defaults, and the setting that is advised for such features."""
    names = [each.name for each in plan().candidates]
    assert [name for name in names if name.startswith("pcnet")] == ["pcnet", "pcnet activation=relu"]


def test_a_metric_that_is_asked_for_chooses_the_epoch():
    found = list(candidates(GRAPH, Neighbours.of(GRAPH), Features.of(GRAPH), "macro_f1"))
    assert {each.experiment.training.select for each in found} == {"val_macro_f1"}
    assert {each.experiment.metric for each in found} == {"macro_f1"}


@pytest.mark.parametrize("countable", [10**9, 0])
def test_sizes_by_hand(countable, monkeypatch):
    monkeypatch.setattr("pcnet.inspect._race.COUNTABLE", countable)
    size = Size.of(GRAPH, Neighbours.of(GRAPH))
    adjacency = np.zeros((60, 60))
    adjacency[tuple(GRAPH.edge_index.numpy())] = 1
    pairs = np.count_nonzero(adjacency @ adjacency)
    assert (size.nodes, size.links, size.values) == (60, adjacency.sum(), 180)
    assert size.pairs == pairs if countable else pairs <= size.pairs <= 60 * 60


def test_prices_grow_with_the_graph():
    small = Size(1000, 1000, 1000, 1000)
    for method in (*BASIC, *OTHERS):
        assert Size(values=10**7, links=10**7, nodes=10**6, pairs=10**8).seconds(method) > 10
        assert 0 < small.seconds(method) < 10
