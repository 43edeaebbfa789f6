"""Each split chooses for itself: by its own validation nodes, one setting and ensembles, and nothing leaks."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from by_hand import by_hand
from stored_search import known, rows

from pcnet import PcnetError, Run, Targets, make_split, train
from pcnet.compare import logits_of, metric_named, temperature
from pcnet.experiment import Ensemble, Experiment, resolve, run_experiment
from pcnet.tune import WIDE, Search, Tuned, is_shared, searched, space_of, tune
from pcnet.tune._select import greedy
from pcnet.tune._tune import overlap

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.fixture
def alone(search: Callable[..., Tuned]) -> Callable[..., Tuned]:
    def run(folder: str = "store", **changes: object) -> Tuned:
        return search(folder, shared=False, **changes)

    return run


def test_each_split_has_what_its_own_nodes_say_is_best(graph, experiment, space, alone):
    best = alone(leak=True).best
    val, test, losses = by_hand(graph, experiment, space, 10)
    numbers, splits = np.array([*range(10), -1]), range(3)
    first = [np.lexsort((numbers, losses[:, split], -val[:, split].round(9)))[0] for split in splits]
    assert [{*each["trials"]} for each in best["per_split"]] == [{str(numbers[place])} for place in first]
    np.testing.assert_allclose(best["val"]["per_run"], [val[place, split] for split, place in enumerate(first)])
    np.testing.assert_allclose(best["test"]["per_run"], [test[place, split] for split, place in enumerate(first)])
    np.testing.assert_allclose(best["defaults"]["test"]["per_run"], test[-1])
    # The same choice by test scores, split by split.
    np.testing.assert_allclose(best["leak"]["test_selected"]["per_run"], test.max(0))
    assert best["leak"]["gap"] == pytest.approx(test.max(0).mean() - best["test"]["mean"])
    assert not is_shared(best)


def test_ensembles_are_those_of_a_loop(graph, experiment, space, asked, alone):
    """Every trial trained anew on the split: its probabilities there, greedy selection, and the mean's test score."""
    best, metric = alone().best, metric_named("accuracy")
    for place, number in enumerate(experiment.seeds):
        split = make_split(graph, experiment.protocol, number)
        own, answers = Targets.from_split(split), {}
        for trial in range(-1, 10):
            settings = asked.settings(trial, {} if trial < 0 else space.draw(0, trial))
            (outcome,) = train(graph, [Run(*settings, own, number)], threads=1)
            z = outcome.logits.double()
            answers[trial] = torch.softmax(z / temperature(z[own.val], own.val_labels), dim=1)
        counts = greedy(torch.stack([p[own.val] for p in answers.values()]), own.val_labels, metric)
        weights = {str(trial): count for trial, count in zip(answers, counts, strict=True) if count}
        found = best["ensembles"]["greedy"]
        assert found["per_split"][place]["trials"] == weights
        together = sum(answers[int(trial)] * count for trial, count in weights.items()) / sum(counts)
        for part, nodes in (("val", split.val), ("test", split.test)):
            score = metric.score(logits_of(together)[nodes], split.labels[nodes])
            assert found[part]["per_run"][place] == pytest.approx(score)


def test_no_label_of_another_split_has_a_say(graph, alone, experiment, monkeypatch):
    """Labels of one split are wrong on all nodes that it does not train on: the other splits choose what they chose."""
    honest = alone("honest").best

    def split_with_wrong_labels(_, protocol, seed):
        split = make_split(graph, protocol, seed)
        labels, nodes = split.labels.clone(), torch.cat([split.val, split.test])
        labels[nodes] = (labels[nodes] + (seed == experiment.seeds[0])) % 3
        return dataclasses.replace(split, labels=labels)

    monkeypatch.setattr("pcnet.experiment._runner.make_split", split_with_wrong_labels)
    fooled = alone("fooled").best
    for rule in ("greedy", "mean"):
        assert honest["ensembles"][rule]["per_split"][1:] == fooled["ensembles"][rule]["per_split"][1:]
    assert honest["per_split"][1:] == fooled["per_split"][1:]
    assert honest["val"]["per_run"][0] != fooled["val"]["per_run"][0]


@pytest.mark.parametrize("strategy", ["optuna", "evolve"])
def test_where_trials_follow_from_scores_each_split_searches_alone(alone, experiment, strategy):
    if strategy == "optuna":
        pytest.importorskip("optuna")
    options = {"strategy": strategy, "batch": 2, "trials": 6, "seed": 3}
    first = alone("all", **options)
    assert first.best["search"]["runs"] == 3 * (6 + 1)
    on = [sorted(trial for trial, own in first.results.scores.items() if split in own) for split in range(3)]
    assert on == [[-1, *range(6)], [-1, *range(6, 12)], [-1, *range(12, 18)]]
    # Of one split without the others, the same trials.
    only = dataclasses.replace(experiment, seeds=experiment.seeds[1:2])
    second = alone("one", experiment=only, **options)
    assert [first.results.values[6 + trial] for trial in range(6)] == [
        second.results.values[trial] for trial in range(6)
    ]


def test_halving_is_for_all_splits_together(asked):
    with pytest.raises(PcnetError, match=r"scores on other splits.*--shared"):
        dataclasses.replace(asked, shared=False, strategy="halving")


def test_what_is_kept(alone, tmp_path, monkeypatch):
    """Of a split the best trials and the defaults, however long the search is; and the choice is the same."""
    whole = alone("whole")
    assert rows(tmp_path / "whole" / "answers.sqlite", "SELECT count(*) FROM logits") == [(33,)]
    for module in ("_tune", "_choice"):
        monkeypatch.setattr(f"pcnet.tune.{module}.LIBRARY", 4)
    few = alone("few")
    kept = rows(tmp_path / "few" / "answers.sqlite", "SELECT trial, split FROM logits")
    for split in range(3):
        ranking = [each.trial for each in whole.results.ranking_on([split])]
        assert {trial for trial, of in kept if of == split} == {*ranking[:4], -1}
    assert few.best["per_split"] == whole.best["per_split"]
    assert few.best["defaults"]["test"] == whole.best["defaults"]["test"]


def test_interrupted_before_it_is_scored(alone, tmp_path, monkeypatch):
    """All choices are on disk before any test label is read, and the scores come with the next attempt."""
    whole = alone("whole").best

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pcnet.tune._tune._scored", stop)
        with pytest.raises(KeyboardInterrupt):
            alone()
    best, ensemble = (json.loads((tmp_path / "store" / name).read_text()) for name in ("best.json", "ensemble.json"))
    assert best["per_split"] == whole["per_split"]
    assert ensemble["per_split"] == whole["ensembles"]["greedy"]["per_split"]
    assert "test" not in best
    assert "test" not in ensemble
    assert "Test labels" not in (tmp_path / "store" / "tune.log").read_text()
    assert alone().best["test"] == whole["test"]
    assert known(tmp_path / "store") == known(tmp_path / "whole")


@pytest.mark.parametrize("name", ["best.json", "ensemble.json"])
def test_both_files_are_presets_of_their_splits(graph, alone, tmp_path, name):
    """Trained again they give the same scores; saved and loaded, the same bits."""
    best = alone().best
    mine = dataclasses.replace(graph, name="mine")
    experiment = resolve(mine, preset=tmp_path / "store" / name)
    result = run_experiment(mine, experiment)
    expected = best if name == "best.json" else best["ensembles"]["greedy"]
    assert result.test["accuracy"].as_dict() == expected["test"]
    assert result.val["accuracy"].as_dict() == expected["val"]
    counts = [len(own["trials"]) for own in expected["per_split"]]
    assert len(result.predictor) == sum(counts)
    ensemble = Ensemble.of(mine, result.predictor, "accuracy", result.weights)
    ensemble.save(tmp_path / "kept")
    loaded = Ensemble.load(tmp_path / "kept")
    assert torch.equal(loaded.probabilities(mine), ensemble.probabilities(mine))
    weights = [weight for own in expected["per_split"] for weight in own["trials"].values()]
    assert [member.weight for member in loaded.members] == weights
    # Models that know every label: those of the first splits' choices.
    final = run_experiment(mine, experiment, members=2)
    assert [run.model for run, _ in final.members] == [run.model for run, _ in result.runs[: sum(counts[:2])]]


def test_other_splits_are_refused(graph, alone, tmp_path):
    alone()
    path = tmp_path / "store" / "best.json"
    mine = dataclasses.replace(graph, name="mine")
    assert len(run_experiment(mine, resolve(mine, preset=path, runs=2)).outcomes) == 2
    with pytest.raises(PcnetError, match=r"with the seeds 5, 0, 3 of one graph, and none for the split of seed 1"):
        run_experiment(mine, resolve(mine, preset=path, runs=4))
    changed = resolve(mine, preset=path, overrides=["epochs=2"])
    assert {each.training.epochs for own in changed.per_split.values() for each in own} == {2}


def test_a_shared_search_is_another_one(alone, search, tmp_path):
    alone(trials=2)
    with pytest.raises(PcnetError, match="has another choice of --shared"):
        search(trials=2)
    search("shared", trials=2)
    assert not (tmp_path / "shared" / "answers.sqlite").exists()
    assert is_shared(json.loads((tmp_path / "shared" / "best.json").read_text()))


def test_overlap(graph, search):
    """Counted node by node, and said with the score."""
    splits = [make_split(graph, "random-60-20-20", number) for number in (5, 0, 3)]
    shares = [
        np.mean([any(node in other.val for other in splits if other is not split) for node in split.test])
        for split in splits
    ]
    assert overlap(splits) == pytest.approx(np.mean(shares))
    assert overlap(splits[:1]) == 0
    assert search(trials=2).best["overlap"] == pytest.approx(np.mean(shares))


def test_a_method_to_compare(graph, experiment: Experiment, tmp_path: Path):
    """Its scores are those of a search of its wide space."""
    short = dataclasses.replace(resolve(graph, "mlp", overrides=["epochs=3", "hidden=4"]), seeds=experiment.seeds)
    fixed = ["wd=0", "epochs=3", "hidden=4"]
    found = searched(graph, "mlp", short, tmp_path / "mlp", trials=3, fixed=fixed)
    best = json.loads((tmp_path / "mlp" / "best.json").read_text())
    assert (best["search"]["strategy"], best["search"]["trials"]) == ("random", 3)
    assert {*best["search"]["space"]} == {*space_of("mlp", WIDE).axes} - {"wd", "hidden"}
    assert found.test.as_dict() == {key: best["test"][key] for key in ("mean", "ci95", "std", "per_run")}
    assert found.test.nodes == best["test"]["nodes"] > 0
    again = searched(graph, "mlp", short, tmp_path / "mlp", trials=3, fixed=fixed)
    assert again == found


def test_defaults_everywhere(graph, experiment, space, tmp_path):
    """Where no drawn setting is any good, every split has the defaults."""
    hopeless = Search(experiment, type(space).from_json({"lr": [1e-9]}, "f"), trials=2)
    best = tune(graph, hopeless, tmp_path / "s", threads=1).best
    assert [each["trials"] for each in best["per_split"]] == [{"-1": 1}] * 3
    assert best["defaults"]["test"] == best["test"]
