"""From an experiment to scored runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from pcnet import PcnetError, TrainingSettings, csbm, load_dataset, make_split
from pcnet.compare import METRICS, scores
from pcnet.experiment import Experiment, resolve, run_experiment

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = Experiment("mine", "quick", "random-60-20-20", (3, 1), training=TrainingSettings(epochs=30))


@pytest.fixture(scope="module")
def graph():
    return csbm(300, 0.5, features=30, seed=2)


def test_on_a_block_model(graph):
    result = run_experiment(graph, QUICK)
    assert [split.seed for split in result.splits] == [3, 1]
    assert {*result.test} == {*METRICS}
    for place, (seed, outcome) in enumerate(zip((3, 1), result.outcomes, strict=True)):
        split = make_split(graph, "random-60-20-20", seed)
        assert split.hash == result.splits[place].hash
        for part in ("test", "val"):
            expected = scores(outcome.logits, graph.y, getattr(split, part))
            assert {name: s.per_run[place] for name, s in getattr(result, part).items()} == expected
    assert result.test["accuracy"].mean > 60
    assert result.seconds > 0


def test_each_run_is_that_of_its_seed(graph):
    both, one = run_experiment(graph, QUICK), run_experiment(graph, replace(QUICK, seeds=(1,)))
    assert torch.equal(both.outcomes[1].logits, one.outcomes[0].logits)
    assert both.test["accuracy"].per_run[1:] == one.test["accuracy"].per_run


def test_on_the_embedded_graph(monkeypatch):
    monkeypatch.delenv("PCNET_DATA", raising=False)
    experiment = resolve("citeseer").with_overrides(["epochs=150"]).with_runs(1, None)
    result = run_experiment(load_dataset("citeseer"), experiment)
    assert result.test["accuracy"].mean > 55
    assert any("class 0" in note for note in result.notes)
    assert len(result.notes) == len(set(result.notes))


@pytest.mark.parametrize(("method", "told"), [("pcnet", True), ("pcnet-by-validation", False), ("gcn", False)])
def test_settings_that_test_chose_are_said_to_be_so(monkeypatch, method, told):
    """Wherever a result is shown, and also where some of them are changed."""
    monkeypatch.delenv("PCNET_DATA", raising=False)
    experiment = resolve("citeseer", method, overrides=["epochs=2"], runs=1)
    result = run_experiment(load_dataset("citeseer"), experiment)
    assert any("chosen by test" in note for note in result.notes) == told


def test_fixed_splits_start_over(graph):
    ids = [torch.arange(start, 300, 3) for start in range(3)]
    rotated = [tuple(ids[(turn + place) % 3] for place in range(3)) for turn in range(3)]
    fixed = replace(graph, fixed_splits=tuple(rotated))
    experiment = replace(QUICK, protocol="fixed-48-32-20", seeds=(0, 1, 2, 3, 4), training=TrainingSettings(epochs=3))
    result = run_experiment(fixed, experiment)
    assert [split.seed for split in result.splits] == [0, 1, 2, 0, 1]
    assert torch.equal(result.splits[3].train, ids[0])
    # The same split with another seed is another run.
    assert not torch.equal(result.outcomes[0].logits, result.outcomes[3].logits)


def test_no_fixed_splits(graph):
    with pytest.raises(PcnetError, match="no fixed splits"):
        run_experiment(graph, replace(QUICK, protocol="fixed-48-32-20"))


def test_diverged(graph):
    wild = replace(QUICK, seeds=(5,), training=TrainingSettings(lr={"all": 1e38}, epochs=5))
    with pytest.raises(PcnetError, match="seed 5 diverged"):
        run_experiment(graph, wild)


@pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
def test_advice_names_what_made_it_diverge(graph):
    steep = replace(QUICK.with_overrides(["t=1e10"]), seeds=(5,))
    with pytest.raises(PcnetError, match=r"more than single precision holds.*Take a smaller t"):
        run_experiment(graph, steep)


def test_runs_that_learned_nothing_say_so(graph):
    wild = replace(QUICK, training=TrainingSettings(lr={"all": 1e6}, epochs=5))
    assert "learned nothing" in run_experiment(graph, wild).notes[-1]
    assert not [note for note in run_experiment(graph, QUICK).notes if "learned nothing" in note]
