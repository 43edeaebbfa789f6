"""The epochs that authors tested, where validation chooses another one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError, Run, Split, Targets, TrainingSettings, csbm, make_split, train
from pcnet.compare import scores
from pcnet.experiment import CandidateEpochs, Experiment, method_file, method_files, run_experiment
from pcnet.nn import MixHopSettings
from pcnet.paper import ORIGINAL

NODES, SEEDS = 40, (0, 1, 2)
#: Few validation nodes tie often.
TRAINING = TrainingSettings(lr={"all": 0.02}, epochs=60, stopping="none", select="val_accuracy")
EXPERIMENT = Experiment("mine", "quick", "random-60-20-20", SEEDS, MixHopSettings(hidden=9), TRAINING)


@pytest.fixture(scope="module")
def graph():
    return csbm(120, 0.3, features=10, seed=1)


def runs_of(graph) -> list[Run]:
    splits = [make_split(graph, EXPERIMENT.protocol, seed) for seed in SEEDS]
    return [Run(EXPERIMENT.model, TRAINING, Targets.from_split(s), seed) for seed, s in enumerate(splits)]


def accuracy(logits, split: Split, part: str = "test") -> float:
    return scores(logits, split.labels, getattr(split, part))["accuracy"]


def test_every_epoch_is_watched_and_none_is_changed(graph):
    seen: list[list[tuple[float, torch.Tensor]]] = [[] for _ in SEEDS]
    watched = train(graph, runs_of(graph), threads=2, on_epoch=lambda run, *what: seen[run].append(what))
    for epochs, outcome, alone in zip(seen, watched, train(graph, runs_of(graph), threads=1), strict=True):
        assert [score for score, _ in epochs] == outcome.val_score.tolist() == alone.val_score.tolist()
        assert torch.equal(outcome.logits, alone.logits)
        torch.testing.assert_close(epochs[outcome.best_epoch][1], outcome.logits)


def test_watching_is_for_the_cpu(graph):
    with pytest.raises(PcnetError, match="on the CPU only"):
        train(graph, runs_of(graph), device="cuda", on_epoch=print)


@given(
    validation=st.lists(st.sampled_from([0.25, 0.5, 0.75]), min_size=1, max_size=12),
    rule=st.sampled_from(["first of equals", "best test of equals", "best test", "last"]),
    seed=st.integers(0, 2**16),
)
def test_rules(validation, rule, seed):
    """Of all epochs written down, the one that the rule's words say."""
    generator = torch.Generator().manual_seed(seed)
    epochs = [torch.randn(NODES, 3, generator=generator) for _ in validation]
    labels = torch.randint(3, (NODES,), generator=generator)
    parts = torch.arange(NODES).chunk(4)
    split = Split(parts[0], parts[1], torch.cat(parts[2:]), labels, "mine", seed, published=True)
    kept = CandidateEpochs(rule, 1)
    for score, logits in zip(validation, epochs, strict=True):
        kept.watch(0, score, logits)
    [found] = kept.chosen_by_test([split])
    equals = [e for e, score in enumerate(validation) if score == max(validation) or rule == "best test"]
    if rule.startswith("best test"):
        best = max(accuracy(epochs[e], split) for e in equals)
        expected = [e for e in equals if accuracy(epochs[e], split) == best][-1]
    else:
        expected = equals[0] if rule == "first of equals" else len(epochs) - 1
    assert torch.equal(found, epochs[expected])


@pytest.mark.parametrize("method", ORIGINAL)
def test_training_is_the_same_and_scores_are_of_the_tested_epoch(graph, method):
    way = ORIGINAL[method]
    honest, theirs = run_experiment(graph, EXPERIMENT), run_experiment(graph, EXPERIMENT, tested=way.epoch)
    for ours, other in zip(honest.outcomes, theirs.outcomes, strict=True):
        assert torch.equal(ours.logits, other.logits)
    before, after = (result.test["accuracy"].per_run for result in (honest, theirs))
    best = [100 * outcome.val_score.max() for outcome in theirs.outcomes]
    if way.epoch == "last":
        assert theirs.val["accuracy"].per_run == pytest.approx([100 * o.val_score[-1] for o in theirs.outcomes])
    elif way.epoch != "best test":
        assert theirs.val["accuracy"].per_run == pytest.approx(best)
    if way.epoch.startswith("best test"):
        assert all(a >= b for a, b in zip(after, before, strict=True))
        assert after != before, "no tie in this example: it shows nothing"


def test_test_labels_choose_after_training_only(graph):
    """Other test labels choose another epoch, perhaps, but of the same training."""
    split = make_split(graph, EXPERIMENT.protocol, 0)
    one = replace(EXPERIMENT, protocol="fixed-48-32-20")
    turned = graph.y.clone()
    turned[split.test] = 1 - turned[split.test]
    results = [
        run_experiment(
            replace(graph, y=y, fixed_splits=((split.train, split.val, split.test),)),
            one,
            tested=ORIGINAL["mixhop"].epoch,
        )
        for y in (graph.y, turned)
    ]
    assert results[0].test != results[1].test
    for first, second in zip(*(result.outcomes for result in results), strict=True):
        assert torch.equal(first.logits, second.logits)


def test_every_way_belongs_to_a_row_and_fits_its_settings():
    assert {*ORIGINAL} <= {*method_files()}
    for method, way in ORIGINAL.items():
        entry = method_file(method).defaults
        experiment = replace(EXPERIMENT, model=entry.model, training=entry.training)
        assert way.applied(experiment).training == replace(entry.training, **way.training)
        assert way.label.startswith("as published: ")
