"""When a run stops and which of its epochs is kept, against plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pcnet import TrainingSettings, train
from pcnet.training._block import History, HostBlock

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


def authors_loop(history: list[tuple[float, float]], w: int) -> tuple[int, int]:
    """The published code's loop: epochs trained, and the epoch whose test accuracy it reports."""
    losses: list[float] = []
    best, best_loss = -1, math.inf
    for epoch, (val_loss, _) in enumerate(history):
        if val_loss < best_loss:
            best, best_loss = epoch, val_loss
        losses.append(val_loss)
        if w > 0 and epoch > w:
            window = np.array(losses[-(w + 1) : -1])
            if val_loss > window.mean():
                break
    return len(losses), best


def patience_loop(history: list[tuple[float, float]], w: int, select: str) -> tuple[int, int]:
    best, best_score, waited = -1, -math.inf, 0
    for epoch, (val_loss, val_accuracy) in enumerate(history):
        score = -val_loss if select == "val_loss" else val_accuracy
        better = score > best_score if select == "val_loss" else score >= best_score
        waited = 0 if better else waited + 1
        if better:
            best, best_score = epoch, score
        if waited == w:
            return epoch + 1, best
    return len(history), best


def follow(history: list[tuple[float, float]], settings: TrainingSettings) -> tuple[int, int]:
    progress = History([settings])
    for epoch, (loss, accuracy) in enumerate(history):
        _, stopped = progress.record([0], epoch, np.array([loss]), np.array([accuracy]))
        if stopped:
            break
    else:
        raise AssertionError("a run must stop with its last epoch")
    assert progress.epochs[0] == epoch + 1
    return epoch + 1, int(progress.best_epoch[0])


# Eighths: sums are exact, and equal values come often.
VALUES = st.integers(0, 24).map(lambda eighth: eighth / 8)
HISTORY = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40)


@given(HISTORY, st.integers(1, 8))
def test_window_is_the_authors_loop(history, w):
    settings = TrainingSettings(epochs=len(history), stopping="window", patience=w)
    assert follow(history, settings) == authors_loop(history, w)


@given(HISTORY, st.integers(1, 8), st.sampled_from(["val_loss", "val_accuracy"]))
def test_patience(history, w, select):
    settings = TrainingSettings(epochs=len(history), stopping="patience", patience=w, select=select)
    assert follow(history, settings) == patience_loop(history, w, select)


@given(HISTORY)
def test_none_trains_every_epoch(history):
    losses, accuracies = zip(*history, strict=True)
    settings = TrainingSettings(epochs=len(history), stopping="none", patience=1)
    assert follow(history, settings) == (len(history), losses.index(min(losses)))
    by_accuracy = follow(history, replace(settings, select="val_accuracy"))
    latest = max(epoch for epoch, accuracy in enumerate(accuracies) if accuracy == max(accuracies))
    assert by_accuracy == (len(history), latest)


@given(HISTORY, st.sampled_from([math.nan, math.inf]), st.sampled_from(["window", "patience", "none"]), st.data())
def test_a_loss_that_is_no_number_ends_the_run(history, loss, stopping, data):
    at = data.draw(st.integers(0, len(history) - 1))
    broken = [*history[:at], (loss, 1.0), *history[at + 1 :]]
    for select in ("val_loss", "val_accuracy"):
        epochs, best = follow(
            broken, TrainingSettings(epochs=len(broken), stopping=stopping, patience=50, select=select)
        )
        assert epochs == at + 1
        assert best < at
        assert (best == -1) == (at == 0)


def test_the_window_rule_by_hand():
    rise = [(loss, 0.0) for loss in [3, 2, 1, 1, 2, 0, 0, 0]]
    # At epoch 3, not later than w = 3, the rule is silent; at epoch 4 the loss 2 is above the mean of 2, 1, 1.
    assert follow(rise, TrainingSettings(epochs=8, stopping="window", patience=3)) == (5, 2)
    # A loss equal to the mean goes on.
    assert follow([(1.0, 0.0)] * 9, TrainingSettings(epochs=9, stopping="window", patience=2)) == (9, 0)


@given(st.lists(HISTORY, min_size=2, max_size=4), st.integers(1, 5))
def test_runs_are_judged_one_by_one(histories, w):
    settings = [
        TrainingSettings(epochs=len(history), patience=w, stopping=("window", "patience")[place % 2])
        for place, history in enumerate(histories)
    ]
    progress, going, epoch = History(settings), list(range(len(histories))), 0
    while going:
        loss, accuracy = (np.array([histories[run][epoch][what] for run in going]) for what in (0, 1))
        improved, stopped = progress.record(going, epoch, loss, accuracy)
        assert {*improved, *stopped} <= {*going}
        going = [run for run in going if run not in stopped]
        epoch += 1
    found = list(zip(progress.epochs.tolist(), progress.best_epoch.tolist(), strict=True))
    assert found == [follow(history, own) for history, own in zip(histories, settings, strict=True)]


def test_finished_runs_freeze_and_leave(dense, varied):
    runs = [
        replace(run, training=replace(run.training, stopping="none", epochs=epochs))
        for run, epochs in zip(varied, [3, 20, 8, 3, 12, 20, 5], strict=True)
    ]
    block = HostBlock(dense.x, runs[0].model.operator(dense), runs, 3)
    left: dict[int, tuple[list[torch.Tensor], np.ndarray]] = {}
    sizes = []
    while block.active:
        before = block.active
        block.advance()
        for run in {*before} - {*block.active}:
            left[run] = [best[run].clone() for best in block.best], block.history.loss[run].copy()
        sizes.append(len(block.active))
        assert all(parameter.shape[0] == len(block.active) for parameter in block.model.parameters() if block.active)
        for run, (weights, losses) in left.items():
            assert all(torch.equal(weight, best[run]) for weight, best in zip(weights, block.best, strict=True))
            assert np.array_equal(losses, block.history.loss[run], equal_nan=True)
    assert block.next_epoch == 20
    assert sizes == [7] * 2 + [5] * 2 + [4] * 3 + [3] * 4 + [2] * 8 + [0]
    assert [outcome.epochs for outcome in block.outcomes()] == [3, 20, 8, 3, 12, 20, 5]


def test_the_best_epoch_is_the_one_that_is_kept(dense, varied):
    """Trained for just as long as the best epoch, a run ends with the weights that the longer training kept."""
    run = replace(varied[2], training=TrainingSettings(epochs=30, stopping="none", lr={"all": 0.3}))
    long = train(dense, [run])[0]
    assert 0 < long.best_epoch < 29
    assert long.best_epoch == int(np.argmin(long.val_loss))
    short = train(dense, [replace(run, training=replace(run.training, epochs=long.best_epoch + 1))])[0]
    assert torch.equal(short.logits, long.logits)


def test_the_history_is_that_of_the_validation_nodes(dense, varied):
    run = replace(varied[0], training=TrainingSettings(epochs=4, stopping="none"))
    outcome = train(dense, [run])[0]
    targets = run.targets
    loss = torch.nn.functional.cross_entropy(outcome.logits[targets.val].double(), targets.val_labels)
    right = (outcome.logits[targets.val].argmax(1) == targets.val_labels).double().mean()
    assert outcome.val_loss[outcome.best_epoch] == pytest.approx(float(loss), rel=1e-6)
    assert outcome.val_score[outcome.best_epoch] == pytest.approx(float(right), abs=1e-12)


def test_diverged(dense, varied):
    wild = replace(varied[0], training=TrainingSettings(epochs=40, stopping="none", lr={"all": 1e30}))
    calm = varied[1]
    outcomes = train(dense, [wild, calm], threads=1)
    assert outcomes[0].epochs < 40
    assert not np.isfinite(outcomes[0].val_loss[-1])
    assert not outcomes[1].diverged
    assert torch.equal(outcomes[1].logits, train(dense, [calm])[0].logits)
