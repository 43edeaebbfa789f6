"""`auto`: what it chooses follows from what it may know, whatever happens on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from pcnet import PcnetError, csbm, make_split
from pcnet._progress import Silent
from pcnet.experiment import VAL_SHARE, Ensemble, resolve, starters, targets_of_all
from pcnet.graph import Graph
from pcnet.tune import CONTENDERS, Chosen, Contest, Results, Score, auto, compete, train_members
from pcnet.tune._answers import Answers
from pcnet.tune._contest import ROUND
from pcnet.tune._room import Room

METHODS = ("pcnet", "mlp", "gcn")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return csbm(150, 0.6, features=8, classes=3, average_degree=12, seed=0)


def contest_on(graph: Graph, trials: int = 6, **more: Any) -> Contest:
    """The usual settings of few methods begin it, and train for few epochs."""
    found, short = Contest.on(graph, 120, trials=trials, methods=METHODS, **more), {}
    for name, (model, training) in found.entrants.items():
        short[name] = replace(model, hidden=8), replace(training, epochs=25)
    return replace(found, entrants=short, starters=[*short.values()])


def parts_of(graph: Graph) -> tuple[torch.Tensor, torch.Tensor]:
    split = make_split(graph, "stratified-60-20-20", 0)
    return torch.cat([split.train, split.val]).sort().values, split.test


@pytest.fixture(scope="module")
def ended(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> tuple[Contest, Chosen]:
    """A contest with more than one trial on all folds."""
    (known, held), contest = parts_of(graph), contest_on(graph, trials=6)
    return contest, compete(graph, contest, known, tmp_path_factory.mktemp("ended"), held=held, threads=1)


class Interrupting(Silent):
    """An interrupt after so many units of work."""

    def __init__(self, units: int) -> None:
        self.left = units

    def advance(self, units: int = 1) -> None:
        self.left -= units
        if self.left < 0:
            self.left = 10**9
            raise KeyboardInterrupt


def same(one: Any, other: Any) -> None:
    assert [(each.trial, each.values, each.score, each.weight) for each in one.ranking] == [
        (each.trial, each.values, each.score, each.weight) for each in other.ranking
    ]
    assert torch.equal(one.held, other.held)
    assert torch.equal(one.probabilities, other.probabilities)


def test_the_same_trials_end_in_the_same_ensemble(graph, tmp_path):
    """Whoever interrupts it, and however many threads there are."""
    known, held = parts_of(graph)
    whole = compete(graph, contest_on(graph), known, tmp_path / "whole", held=held, threads=2)
    parts = {"held": held, "threads": 1}
    stopped = compete(graph, contest_on(graph), known, tmp_path / "parts", **parts, progress=Interrupting(400))
    assert stopped.runs < whole.runs
    assert stopped.members
    same(compete(graph, contest_on(graph), known, tmp_path / "parts", **parts), whole)


def test_half_of_a_later_round_is_bred_from_the_best(graph):
    """From any method: no trial is new in more than a few values to the best of its method before."""
    contest = contest_on(graph, trials=3 + 2 * ROUND)
    results, rounds = Results(), [*contest.rounds()]
    for trials in rounds[:-1]:
        results.values |= {trial: contest.values(trial) for trial in trials}
    # GCN is best, its last trials most of all.
    for trial, values in results.values.items():
        gain = (values["method"] == "gcn") + trial / 1000
        results.scores[trial] = {fold: Score(gain, 1.0, 1) for fold in range(contest.splits)}
    bred = contest.of_round(rounds[-1], results)
    assert bred == contest.of_round(rounds[-1], results)
    new = {trial: values for trial, values in bred.items() if values != contest.values(trial)}
    assert [*new] == [trial for trial in rounds[-1] if trial % 2]
    assert {values["method"] for values in new.values()} == {"gcn"}
    results.values |= {trial: bred[trial] for trial in [*bred][2:]}
    assert contest.of_round(rounds[-1], results) == dict([*bred.items()][2:])


def test_it_begins_with_what_did_well_elsewhere(graph):
    """The usual settings of the first method, then the list, then those of methods that are not on it."""
    contest = Contest.on(graph, 120)
    first, *others = contest.starters
    assert first == contest.entrants["pcnet"]
    listed = [(entry.model, replace(entry.training, select=first[1].select)) for _, entry in starters()]
    elsewhere = [settings for settings in listed if settings != first]
    assert others[: len(elsewhere)] == elsewhere
    assert {model.method for model, _ in contest.starters} == {*CONTENDERS}
    for trial, (settings, training) in enumerate(contest.starters):
        values = contest.values(trial)
        assert values["method"] == settings.method
        assert contest.settings(trial, values) == (settings, training)


@pytest.mark.parametrize(("labels", "folds"), [(20, 5), (1500, 5), (2500, 3), (5000, 2), (7500, 1), (10**6, 1)])
def test_many_labels_need_few_folds(graph, labels, folds):
    """Each fold is a fifth of the labels; 1,500 of them are enough to choose by."""
    assert Contest.on(graph, labels, methods=("mlp",)).splits == folds


def test_an_interrupt_before_anything_is_complete(graph, tmp_path):
    known, held = parts_of(graph)
    with pytest.raises(KeyboardInterrupt):
        compete(graph, contest_on(graph), known, tmp_path, held=held, threads=1, progress=Interrupting(0))


def test_no_label_of_the_nodes_held_back_is_reachable(graph, tmp_path):
    known, held = parts_of(graph)
    wrong = graph.y.clone()
    wrong[held] = (wrong[held] + 1) % 3
    same(
        compete(graph, contest_on(graph), known, tmp_path / "right", held=held, threads=1),
        compete(replace(graph, y=wrong), contest_on(graph), known, tmp_path / "wrong", held=held, threads=1),
    )


def test_every_score_is_of_models_that_did_not_know_the_label(graph, tmp_path):
    """Written out: the folds of the known nodes, each answered by the model that stopped by it."""
    known, held = parts_of(graph)
    contest = contest_on(graph)
    chosen = compete(graph, contest, known, tmp_path, held=held, threads=1)
    assert torch.equal(chosen.known, known)
    targets = [targets_of_all(graph, known, VAL_SHARE, fold) for fold in range(contest.splits)]
    assert not any({*own.train.tolist()} & {*own.val.tolist()} for own in targets)
    with Answers(tmp_path, targets, [held] * contest.splits) as answers:
        for member in chosen.ranking:
            val = [answers.of(member.trial, fold)[0] for fold in range(contest.splits)]
            right = sum(int((z.argmax(1) == own.val_labels).sum()) for z, own in zip(val, targets, strict=True))
            assert member.score == pytest.approx(100 * right / len(known))


def test_members_are_trained_once_more_with_every_label(graph, ended, tmp_path):
    contest, chosen = ended
    found = train_members(graph, contest, chosen.members, refit=True, threads=1)
    assert len(found.trained) == len(found.weights) == len(found.refitted) == contest.splits * len(chosen.members)
    assert {node for run, _ in found.trained for node in run.targets.val.tolist()} == {*range(150)}
    for place, pairs in enumerate((found.trained, found.refitted)):
        ensemble = Ensemble.of(graph, pairs, "accuracy", found.weights, found.trained)
        ensemble.save(tmp_path / f"kept-{place}")
        kept = Ensemble.load(tmp_path / f"kept-{place}")
        assert torch.equal(kept.probabilities(graph), ensemble.probabilities(graph))
        assert kept.members[0].temperature == ensemble.members[0].temperature


def test_an_interrupt_keeps_the_members_that_are_trained(graph, ended):
    """At least the heaviest one: a first interrupt before it is trained only makes it begin anew."""
    contest, chosen = ended
    members = [*chosen.ranking[:2]]
    whole = train_members(graph, contest, members, threads=1)
    assert len(whole.trained) == 2 * contest.splits
    for units in (0, contest.splits * members[0].settings[1].epochs):
        kept = train_members(graph, contest, members, threads=1, progress=Interrupting(units))
        assert len(kept.trained) == len(kept.weights) == contest.splits
        for (run, outcome), (other, same) in zip(kept.trained, whole.trained, strict=False):
            assert run.model == other.model
            assert torch.equal(outcome.logits, same.logits)


def test_what_does_not_fit_into_memory_is_left_out(graph, tmp_path, monkeypatch):
    """A run takes at least what is kept of its nodes; the first method is trained in any case."""
    known, held = parts_of(graph)
    contest, room = contest_on(graph, trials=3), Room.on(graph, workers=1)
    pcnet, mlp, gcn = (room.bytes_of(contest.entrants[name][0]) for name in METHODS)
    assert mlp < min(pcnet, gcn)
    monkeypatch.setattr("pcnet.tune._room.MOST", mlp)
    chosen = compete(graph, contest, known, tmp_path, held=held, threads=1)
    assert chosen.too_big == {"gcn": 1}
    assert chosen.trials == 2


def test_the_estimate_is_about_the_nodes_that_were_held_back(graph, tmp_path):
    experiment = resolve(graph, runs=1)
    found = auto(graph, experiment, tmp_path, trials=1, methods=("mlp", "gcn"), threads=2)
    split, [chosen] = found.result.splits[0], found.contests
    right = float((chosen.held.argmax(1) == split.labels[split.test]).double().mean())
    assert found.result.headline.measured == pytest.approx(100 * right)
    assert found.result.headline.nodes == len(split.test)
    low, high = found.result.headline.ci95
    assert low < 100 * right < high
    assert found.result.experiment.title == "Auto"


def test_one_rule_for_the_epochs(graph, tmp_path):
    """The loss chooses them, and a metric where it is named: in `auto` as in the contest of a classifier."""
    for metric in (None, "macro_f1"):
        found = auto(
            graph,
            resolve(graph, runs=1, metric=metric),
            tmp_path / str(metric),
            trials=1,
            methods=("mlp", "gcn"),
            threads=1,
        )
        contest = Contest.on(graph, 120, metric, methods=("mlp", "gcn"))
        best = found.contests[0].ranking[0]
        assert best.settings == contest.entrants[best.values["method"]]
        assert contest.entrants["gcn"][1].select == ("val_loss" if metric is None else "val_macro_f1")


def test_the_best_so_far_are_shown(graph, tmp_path):
    class Titles(Silent):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def stage(self, title: str, total: int) -> None:
            self.seen.append(title)

    known, held = parts_of(graph)
    shown = Titles()
    chosen = compete(graph, contest_on(graph, trials=3), known, tmp_path, held=held, threads=1, progress=shown)
    heading, *lines = shown.seen[-1].splitlines()
    assert (shown.seen[0], heading) == ("searching, 0 settings tried", "searching, 3 settings tried; accuracy:")
    assert len(lines) == len(chosen.ranking)
    scores = [float(line.split()[0]) for line in lines]
    assert scores == sorted(scores, reverse=True)
    assert 0 < min(each.ended for each in chosen.ranking) < sum(each.seconds for each in chosen.ranking) + 1e-9


def test_time_ends_the_contest(graph, tmp_path):
    """With what there is: runs end at their best epoch so far; without any, one sentence and nothing left behind."""
    contest = contest_on(graph, seconds=1e-3)
    known, held = parts_of(graph)
    with pytest.raises(PcnetError, match=r"0.001 seconds are not enough to train a single method"):
        compete(graph, contest, known, tmp_path / "none", held=held, seconds=1e-3, threads=1)
    assert not (tmp_path / "none").exists()
    endless = [(model, replace(training, epochs=10**5, stopping="none")) for model, training in contest.starters]
    long = replace(contest, trials=None, starters=endless, seconds=1.0)
    chosen = compete(graph, long, known, tmp_path / "some", held=held, seconds=1.0, threads=1)
    assert chosen.members
    assert {each.trial for each in chosen.ranking} <= {0, 1, 2}


def test_slow_settings_are_left_out_where_time_ends_the_contest(graph, tmp_path):
    """By the time that the first trial took."""
    known, held = parts_of(graph)
    contest = replace(contest_on(graph, trials=3), seconds=1e-3)
    chosen = compete(graph, contest, known, tmp_path, held=held, threads=1)
    assert {*chosen.slow} == {"mlp", "gcn"}
    assert {each.values["method"] for each in chosen.ranking} == {"pcnet"}
