"""A search as a whole: what it finds, what it keeps, and what it does not look at."""

from __future__ import annotations

import ast
import dataclasses
import json
from importlib.resources import files

import numpy as np
import pytest
import torch
from by_hand import by_hand
from stored_search import claims, description, known, rows, scores_on_test
from stored_search import scores as kept_scores

from pcnet import PcnetError, PCNetSettings, Run, Targets, TrainingSettings, make_split, train
from pcnet.compare import METRICS
from pcnet.experiment import Experiment, resolve, run_experiment
from pcnet.training import _division, train_each
from pcnet.tune import Score, Search, Space, tune
from pcnet.tune import _tune as module
from pcnet.tune._space import settings_of

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


def test_it_finds_what_a_loop_finds(graph, experiment, space, search, tmp_path):
    tuned = search(leak=True)
    val, test, losses = by_hand(graph, experiment, space, 10)
    numbers = np.array([*range(10), -1])
    order = numbers[np.lexsort((numbers, losses.mean(1), -val.mean(1).round(9)))]
    assert [standing.trial for standing in tuned.results.ranking(3)] == order.tolist()
    best = tuned.best
    chosen = int(order[0])
    assert chosen >= 0
    assert best["search"]["trial"] == chosen
    np.testing.assert_allclose(best["val"]["per_run"], val[chosen])
    np.testing.assert_allclose(best["test"]["per_run"], test[chosen])
    model, training = settings_of(space.draw(0, chosen), (experiment.model, experiment.training))
    assert best["model"] == dataclasses.asdict(model)
    assert best["training"] == dataclasses.asdict(training)
    # The usual leak, measured.
    leak, on_test = best["leak"], test.mean(1)
    assert leak["trials"] == 11
    assert leak["test_selected"]["trial"] == int(on_test.argmax())
    assert leak["test_selected"]["mean"] == pytest.approx(on_test.max())
    assert leak["validation_selected"]["mean"] == pytest.approx(on_test[chosen])
    assert leak["gap"] == pytest.approx(on_test.max() - on_test[chosen])
    kept = scores_on_test(tmp_path / "store")
    for (trial, split), accuracy in kept.items():
        assert accuracy == pytest.approx(test[trial, split])
    assert len(kept) == 33
    # And the defaults beside the choice.
    defaults = best["defaults"]
    assert defaults["trial"] == -1
    np.testing.assert_allclose(defaults["val"]["per_run"], val[-1])
    np.testing.assert_allclose(defaults["test"]["per_run"], test[-1])
    better = defaults["better_by"]
    assert better["val"] == pytest.approx(val[chosen].mean() - val[-1].mean())
    assert better["test"] == pytest.approx(on_test[chosen] - on_test[-1])
    low, high = better["interval"]
    assert (low + high) / 2 == pytest.approx(better["test"])


def test_what_is_written(search, tmp_path, experiment):
    tuned = search()
    folder = tmp_path / "store"
    names = {path.name for path in folder.iterdir()}
    assert names == {"trials.sqlite", "best.json", "tune.log"}
    assert claims(folder) == []
    best = json.loads((folder / "best.json").read_text())
    assert best.pop("hash")
    assert best == tuned.best
    assert {"dataset", "preset", "protocol", "seeds", "model", "training", "val", "test", "search"} <= {*best}
    assert best["search"]["runs"] == best["search"]["runs_of_random_search"] == 33
    assert best["search"]["seconds"] > 0
    assert "leak" not in best
    seconds = rows(folder / "trials.sqlite", "SELECT sum(seconds) FROM scores")[0][0]
    assert seconds == pytest.approx(best["search"]["seconds"])
    log = (folder / "tune.log").read_text().splitlines()
    trial = best["search"]["trial"]
    assert "One setting was chosen by a mean validation accuracy" in log[-4]
    assert f"Test labels were read once, for trial {trial} and the defaults, after trial {trial} had been" in log[-3]
    assert "chosen by all splits together (--shared)" in log[-2]
    assert "The defaults: validation " in log[-1]
    assert "(scored afterwards)" in log[-1]


def test_the_result_is_a_preset(graph, search, tmp_path):
    best = search().best
    mine = dataclasses.replace(graph, name="mine")
    experiment = resolve(mine, preset=tmp_path / "store" / "best.json")
    assert (experiment.dataset, experiment.preset, experiment.seeds) == ("mine", "best", (5, 0, 3))
    result = run_experiment(graph, experiment)
    assert result.test["accuracy"].as_dict() == best["test"]
    assert result.val["accuracy"].as_dict() == best["val"]


def forbidden(*_, **__):
    raise AssertionError("a finished search was touched again")


def test_a_finished_search_is_read_back(search, tmp_path, monkeypatch):
    first = search(leak=True)
    before = {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir() if path.is_file()}
    monkeypatch.setattr(module, "run_experiment", forbidden)
    monkeypatch.setattr(module, "shared_choice", forbidden)
    monkeypatch.setattr("pcnet.tune._worker.train_each", forbidden)
    again = search(leak=True)
    assert again.best == first.best
    assert again.results == first.results
    assert {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir() if path.is_file()} == before


def test_the_choice_is_on_disk_before_it_is_scored(search, tmp_path, monkeypatch):
    seen = []

    def stop(graph, experiment, **_):
        seen.append(json.loads((tmp_path / "store" / "best.json").read_text()))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "run_experiment", stop)
        with pytest.raises(KeyboardInterrupt):
            search()
    assert "test" not in seen[0]
    assert "Test labels" not in (tmp_path / "store" / "tune.log").read_text()
    assert seen[0].pop("hash")
    tuned = search()
    assert seen[0]["defaults"].items() <= tuned.best["defaults"].items()
    assert {**seen[0], "notes": 0, "defaults": 0}.items() <= {**tuned.best, "notes": 0, "defaults": 0}.items()
    assert tuned.best == search().best


@pytest.mark.parametrize("leak", [False, True])
def test_no_test_label_has_a_say(graph, search, tmp_path, monkeypatch, leak):
    """Wrong labels on every test node: the same journal and the same choice, and only the scores notice."""

    def split_with_wrong_test_labels(_, protocol, seed):
        split = make_split(graph, protocol, seed)
        labels = split.labels.clone()
        labels[split.test] = (labels[split.test] + 1) % 3
        return dataclasses.replace(split, labels=labels)

    honest = search("honest", strategy="halving", leak=leak)
    with monkeypatch.context() as patch:
        patch.setattr("pcnet.experiment._runner.make_split", split_with_wrong_test_labels)
        everywhere = dataclasses.replace(graph, y=torch.zeros_like(graph.y))
        fooled = search("fooled", on=everywhere, strategy="halving", leak=leak)
    assert known(tmp_path / "honest") == known(tmp_path / "fooled")
    assert description(tmp_path / "honest") == description(tmp_path / "fooled")
    choices = [
        {key: value for key, value in best.items() if key not in ("test", "test_metrics", "leak", "search", "defaults")}
        | {key: value for key, value in best["defaults"].items() if key not in ("test", "better_by")}
        | {key: value for key, value in best["search"].items() if key != "seconds"}
        for best in (honest.best, fooled.best)
    ]
    assert choices[0] == choices[1]
    assert {"model", "training", "val", "trial"} <= {*choices[0]}
    assert honest.best["test"] != fooled.best["test"]


def test_a_search_with_leak_makes_the_same_choice(search, tmp_path):
    plain, leaky = search("plain"), search("leaky", leak=True)
    assert known(tmp_path / "plain") == known(tmp_path / "leaky")
    for key in ("model", "training", "val", "test"):
        assert plain.best[key] == leaky.best[key]
    log = (tmp_path / "leaky" / "tune.log").read_text()
    assert "Because --leak was asked for, test labels were also read for every trial" in log
    assert "read once" not in log


def test_what_searches_and_chooses_cannot_name_the_test_scores():
    """Few modules know of test nodes, and none of the others imports them."""
    blind = {path.name: path for path in files("pcnet.tune").iterdir() if path.name.endswith(".py")}
    for name in ("__init__.py", "_tune.py", "_leak.py", "_reading.py", "_searched.py", "_auto.py"):
        del blind[name]
    assert {"_search.py", "_worker.py", "_strategies.py", "_store.py", "_contest.py", "_select.py"} <= {*blind}
    assert {"_answers.py", "_choice.py"} <= {*blind}
    for name, path in blind.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                seeing = ("_tune", "_leak", "_reading", "_searched", "_auto")
                assert node.module not in [f"pcnet.tune.{own}" for own in seeing], name
            if isinstance(node, ast.Attribute):
                assert node.attr != "test", name
            # Sentences may speak of it; names of files and attributes have no space.
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
                assert "test" not in node.value, f"{name} says {node.value!r}"


def test_published_settings_are_scored_beside(graph, experiment, space, tmp_path):
    published = Experiment(
        "mine", "table9", experiment.protocol, (0, 1), training=TrainingSettings(epochs=8), paper=(50, 1)
    )
    asked = Search(experiment, space, trials=3, leak=True, published=published, shared=True)
    best = tune(graph, asked, tmp_path / "s", threads=1).best
    # On the splits of the search, and no trial of it.
    expected = run_experiment(graph, dataclasses.replace(published, seeds=experiment.seeds))
    assert best["published"]["test"] == expected.test["accuracy"].as_dict()
    assert best["published"]["paper"] == [50, 1]
    # Three trials and the defaults.
    assert best["leak"]["trials"] == best["search"]["complete_trials"] == 4
    quiet = tune(graph, dataclasses.replace(asked, leak=False), tmp_path / "quiet", threads=1).best
    assert quiet["published"] == {"paper": [50, 1], "rerun": None}


def test_diverging_trials_score_worst(graph, experiment, tmp_path):
    # A learning rate of 1e38 leaves no finite loss.
    space = Space.from_json({"lr": [1e38, 0.01]}, "f")
    tuned = tune(graph, Search(experiment, space, trials=6, shared=True), tmp_path / "s", threads=1)
    wild = {trial for trial, values in tuned.results.values.items() if values.get("lr", 0) > 1}
    assert 0 < len(wild) < 6
    assert {standing.trial for standing in tuned.results.ranking(3)[-len(wild) :]} == wild
    assert all(row[:2] == (None, None) for (trial, _), row in kept_scores(tmp_path / "s").items() if trial in wild)
    assert tuned.best["training"]["lr"]["all"] < 1


def test_only_diverging_trials(graph, experiment, tmp_path):
    """The defaults are left; or nothing, where they diverge too."""
    space = Space.from_json({"lr": [1e38]}, "f")
    best = tune(graph, Search(experiment, space, trials=2, shared=True), tmp_path / "s", threads=1).best
    assert best["search"]["trial"] == best["defaults"]["trial"] == -1
    assert best["training"] == dataclasses.asdict(experiment.training)
    assert best["defaults"]["test"] == best["test"]
    assert "No trial was better in validation than the defaults" in (tmp_path / "s" / "tune.log").read_text()
    wild = dataclasses.replace(experiment, training=TrainingSettings(lr={"all": 1e38}, epochs=3))
    with pytest.raises(PcnetError, match="Every trial diverged"):
        tune(graph, Search(wild, space, trials=2, shared=True), tmp_path / "t", threads=1)


def test_diverging_defaults(graph, experiment, tmp_path):
    wild = dataclasses.replace(experiment, training=TrainingSettings(lr={"all": 1e38}, epochs=3))
    asked = Search(wild, Space.from_json({"lr": [0.01, 0.02]}, "f"), trials=3, shared=True)
    best = tune(graph, asked, tmp_path / "s", threads=1).best
    assert best["search"]["trial"] >= 0
    assert (best["defaults"]["val"], "test" in best["defaults"]) == (None, False)
    assert "The defaults diverged." in (tmp_path / "s" / "tune.log").read_text()


@pytest.mark.parametrize("strategy", ["random", "halving", "grid"])
def test_never_worse_than_the_defaults(graph, experiment, tmp_path, strategy):
    """Where every drawn setting is hopeless, the choice is the defaults."""
    space = Space.from_json({"lr": [1e-9, 1e-8]}, "f")
    asked = Search(experiment, space, trials=2, strategy=strategy, shared=True)
    best = tune(graph, asked, tmp_path / "s", threads=1).best
    assert best["search"]["trial"] == -1
    assert best["model"] == dataclasses.asdict(experiment.model)
    assert best["val"] == best["defaults"]["val"]
    result = run_experiment(graph, experiment, threads=1)
    assert best["val"] == result.val["accuracy"].as_dict()
    assert best["test"] == best["defaults"]["test"] == result.test["accuracy"].as_dict()


def test_defaults_that_are_a_point_of_the_grid_are_tried_once(graph, experiment, tmp_path):
    space = Space.from_json({"lr": [0.01, 0.02], "K": [2, experiment.model.K]}, "f")
    asked = Search(experiment, space, strategy="grid", shared=True)
    tuned = tune(graph, asked, tmp_path / "s", threads=1)
    assert {*tuned.results.values} == {0, 1, 2, 3}
    assert tuned.best["defaults"]["trial"] == 3
    assert tuned.best["search"]["runs"] == asked.runs == 12
    assert tuned.best["defaults"]["values"] == tuned.results.values[3]


def test_defaults_of_ones_own(graph, experiment, tmp_path):
    """Where the search starts from published settings, which test scores chose, the defaults are others."""
    model, training = PCNetSettings(hidden=3), TrainingSettings(epochs=5)
    asked = Search(experiment, Space.from_json({"lr": [1e-9]}, "f"), trials=1, defaults=(model, training), shared=True)
    best = tune(graph, asked, tmp_path / "s", threads=1).best
    assert (best["search"]["trial"], best["model"]["hidden"], best["training"]["epochs"]) == (-1, 3, 5)


@pytest.mark.parametrize("metric", ["macro_f1", "roc_auc", "log_loss"])
def test_other_metrics(graph, experiment, space, tmp_path, metric):
    """They choose the epoch and the trial, and a lower log loss is a better one."""
    scored = experiment.with_metric(metric)
    tuned = tune(graph, Search(scored, space, trials=6, leak=True, shared=True), tmp_path / "s", threads=1)
    val, test, losses = by_hand(graph, scored, space, 6, metric)
    sign = -1 if metric == "log_loss" else 1
    numbers = np.array([*range(6), -1])
    order = numbers[np.lexsort((numbers, losses.mean(1), -sign * val.mean(1).round(9)))]
    assert [standing.trial for standing in tuned.results.ranking(3)] == order.tolist()
    best, chosen = tuned.best, int(order[0])
    assert best["metric"] == metric
    np.testing.assert_allclose(best["val"]["per_run"], val[chosen])
    np.testing.assert_allclose(best["test"]["per_run"], test[chosen])
    leak, on_test = best["leak"], sign * test.mean(1)
    assert leak["test_selected"]["mean"] == pytest.approx(sign * on_test.max())
    assert leak["gap"] == pytest.approx(on_test.max() - on_test[chosen])
    with pytest.raises(PcnetError, match="has another metric"):
        tune(
            graph, Search(dataclasses.replace(scored, metric="accuracy"), space, trials=6, shared=True), tmp_path / "s"
        )


def test_accuracy_is_what_training_counted(graph, experiment):
    """To the bit: searches from before there were other metrics chose by that."""
    splits = [make_split(graph, experiment.protocol, number) for number in range(8)]
    targets = [Targets.from_split(split) for split in splits]
    runs = [Run(experiment.model, experiment.training, own, 0) for own in targets]
    for run, outcome in zip(runs, train(graph, runs, threads=1), strict=True):
        assert Score.of(outcome, run.targets, METRICS["accuracy"]).gain == outcome.val_score[outcome.best_epoch]


@pytest.mark.parametrize("strategy", ["random", "halving"])
def test_no_size_of_a_training_changes_the_results(search, tmp_path, monkeypatch, strategy):
    search("large", strategy=strategy)
    monkeypatch.setattr(_division, "HOST_RUNS", 4)
    search("small", strategy=strategy)
    assert known(tmp_path / "large") == known(tmp_path / "small")
    assert len(kept_scores(tmp_path / "small")) == 3 + (30 if strategy == "random" else 10 + 2 * 4)


def test_trials_that_can_share_a_block_are_trained_together(graph, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 12)
    chunks = []

    def watch(graph, runs, **options):
        chunks.append(list(runs))
        return train_each(graph, runs, **options)

    monkeypatch.setattr("pcnet.tune._worker.train_each", watch)
    tune(graph, dataclasses.replace(asked, trials=20), tmp_path / "s", threads=1)
    assert sum(map(len, chunks)) == 63
    assert max(map(len, chunks)) <= 12
    # Two values of η and twelve runs at a time: no training is without need of two kinds.
    assert sum(len({run.model.eta for run in chunk}) > 1 for chunk in chunks) <= 1
    assert len(chunks) <= 63 / 12 + 2


def test_interrupted_and_continued(search, tmp_path, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 6)
    search("whole")
    calls = 0

    def interrupted(graph, runs, **options):
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise KeyboardInterrupt
        return train_each(graph, runs, **options)

    monkeypatch.setattr("pcnet.tune._worker.train_each", interrupted)
    attempts = 0
    while True:
        attempts += 1
        try:
            tuned = search("broken")
            break
        except KeyboardInterrupt:
            assert {path.name for path in (tmp_path / "broken").iterdir()} == {"trials.sqlite", "tune.log"}
    assert attempts > 2
    assert known(tmp_path / "broken") == known(tmp_path / "whole")
    assert len(kept_scores(tmp_path / "broken")) == tuned.best["search"]["runs"]


REFUSED = {
    "no trials": ({"trials": 0}, "--trials must be at least 1, not 0"),
    "negative seed": ({"seed": -1}, "--seed must be at least 0, not -1"),
    "no batch": ({"batch": 0}, "--batch must be at least 1"),
    "unknown strategy": ({"strategy": "halfing"}, "Did you mean 'halving'?"),
    "unknown sampler": ({"strategy": "optuna", "sampler": "tpee"}, "Did you mean 'tpe'?"),
    "sampler without Optuna": ({"sampler": "tpe"}, "A sampler belongs to the strategy optuna; random has none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(asked, case):
    changes, words = REFUSED[case]
    if changes.get("strategy") == "optuna":
        pytest.importorskip("optuna")
    with pytest.raises(PcnetError) as error:
        dataclasses.replace(asked, **changes)
    assert words in str(error.value)


def test_another_graph_is_another_search(graph, search):
    search(trials=2)
    with pytest.raises(PcnetError, match="has another graph;"):
        search(trials=2, on=dataclasses.replace(graph, x=graph.x * 2))
    with pytest.raises(PcnetError, match="has another trials"):
        search(trials=3)
    with pytest.raises(PcnetError, match=r"has another choice of --leak"):
        search(trials=2, leak=True)
