"""What was asked for becomes an experiment: datasets, graphs, tables, files, and options that contradict."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from pcnet import Graph, PcnetError, PCNetSettings, csbm
from pcnet.experiment import method_file, resolve

ENTRY = {
    "dataset": "texas",
    "protocol": "random-60-20-20",
    "seeds": [3, 4],
    "model": {"K": 3, "t": 0.25},
    "training": {"lr": {"all": 0.1}, "epochs": 7},
    "paper": [99.0, 0.1],
    "what else": "is not read",
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps(ENTRY))
    return path


def test_an_experiment_from_a_file(file):
    experiment = resolve(preset=file)
    assert (experiment.dataset, experiment.preset, experiment.protocol) == ("texas", "tuned", "random-60-20-20")
    assert experiment.seeds == (3, 4)
    assert experiment.model == PCNetSettings(K=3, t=0.25)
    assert (experiment.training.lr, experiment.training.epochs) == ({"all": 0.1}, 7)
    # Whatever a file says, its figures are not the paper's.
    assert (experiment.paper, experiment.rerun) == (None, None)
    # For another dataset, too.
    assert resolve("Wisconsin", preset=file).dataset == "wisconsin"


def test_what_a_command_means(file):
    assert resolve() == resolve("citeseer", preset="table2")
    assert resolve(preset="table1") == resolve("citeseer", preset="table1")
    assert resolve(preset=str(file)) == resolve(preset=file)
    assert resolve("cornell", preset=str(file)) == resolve("cornell", preset=file)


def test_by_protocol():
    assert resolve("texas", protocol="fixed-48-32-20") == resolve("texas", preset="table3")
    assert resolve("cora", protocol="semi-20-500-1000") == resolve("cora", preset="table1")
    other = resolve("wisconsin", protocol="random-60-20-20")
    assert (other.preset, other.seeds, other.model) == ("defaults", tuple(range(10)), PCNetSettings())
    with pytest.raises(PcnetError, match="Did you mean 'fixed-48-32-20'"):
        resolve("texas", protocol="fixed-48-32")


@pytest.fixture(scope="module")
def own() -> Graph:
    """Of one's own: a fifth of the nodes is of the second class."""
    graph = csbm(60, 0.5, features=3, seed=0)
    return replace(graph, y=(torch.arange(60) % 5 == 0).long(), name="mine")


def test_a_graph_has_defaults(own, file):
    found = resolve(own, "gcn")
    assert (found.dataset, found.preset, found.protocol) == ("mine", "defaults", "stratified-60-20-20")
    assert found.model == method_file("gcn").for_unknown_graphs.model
    # Two classes that are far from equal.
    assert (found.metric, found.training.select, found.preset) == ("roc_auc", "val_roc_auc", "defaults")
    assert resolve(own, "GCN", metric="accuracy").training.select == "val_accuracy"
    assert (
        resolve(csbm(60, 0.5, features=3, seed=0), "gcn").training.select == method_file("gcn").defaults.training.select
    )
    changed = resolve(own, overrides=["K=3"], runs=2, seed=7)
    assert (changed.model.K, changed.seeds, changed.preset) == (3, (7, 8), "defaults, changed")
    assert (resolve(own, preset=file).dataset, resolve(own, preset=file).model.K) == ("mine", 3)
    with pytest.raises(PcnetError, match="table2 has no settings for your own graph"):
        resolve(own, preset="table2")


def test_fixed_splits_are_all_used(own):
    nodes = torch.arange(60)
    splits = replace(own, fixed_splits=((nodes[:30], nodes[30:45], nodes[45:]),) * 3)
    assert (resolve(splits).protocol, resolve(splits).seeds) == ("official-50-25-25", (0, 1, 2))
    assert resolve(splits, protocol="stratified-60-20-20").seeds == tuple(range(10))


def test_a_table_without_the_method():
    with pytest.raises(PcnetError, match="table1 has no settings of mixhop for texas; it has none"):
        resolve("texas", "mixhop", preset="table1")
    found = resolve("texas", "mixhop", preset="table1", fallback=True)
    assert (found.protocol, found.seeds) == ("sparse-2.5-2.5-95", resolve("texas", preset="table1").seeds)
    assert (found.model, found.source, found.paper) == (method_file("mixhop").defaults.model, "", None)
    with pytest.raises(PcnetError, match="table1 has no dataset wisconsin"):
        resolve("wisconsin", preset="table1", fallback=True)


def test_what_contradicts(file):
    assert resolve("texas", preset="table3", protocol="fixed-48-32-20") == resolve("texas", preset="table3")
    with pytest.raises(PcnetError, match="table3 splits by fixed-48-32-20, not by random-60-20-20"):
        resolve("texas", preset="table3", protocol="random-60-20-20")
    with pytest.raises(PcnetError, match="leave one of the two out"):
        resolve(preset=file, protocol="fixed-48-32-20")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "texs"}, "Did you mean 'texas'?"),
        ({"model": {"KK": 3}}, "is no preset"),
        ({"model": 3}, "is no preset"),
        ({"training": {"epochs": "many"}}, "is no preset"),
        ({"training": {"lr": 0.1}}, "is no preset"),
        ({"training": {"epochs": 0}}, "epochs must be at least 1"),
        ({"seeds": 3}, "is no preset"),
        ({"seeds": []}, "its seeds must be whole numbers"),
        ({"seeds": [0.5]}, "its seeds must be whole numbers"),
        ({"seeds": ["1"]}, "its seeds must be whole numbers"),
    ],
)
def test_refused(file, change, words):
    file.write_text(json.dumps({**ENTRY, **change}))
    with pytest.raises(PcnetError) as error:
        resolve(preset=file)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["dataset", "protocol", "seeds", "model", "training"])
def test_what_a_preset_needs(file, key):
    file.write_text(json.dumps({name: value for name, value in ENTRY.items() if name != key}))
    with pytest.raises(PcnetError, match=rf"is no preset \('{key}'\)"):
        resolve(preset=file)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '"texas"'])
def test_damaged(file, content):
    file.write_text(content)
    with pytest.raises(PcnetError, match=r"tuned\.json"):
        resolve(preset=file)
