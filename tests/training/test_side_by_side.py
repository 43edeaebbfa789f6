"""Runs are columns: neither neighbours, threads nor order change a bit of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from pcnet import PcnetError, PCNetSettings, Run, Targets, TrainingSettings, csbm, make_split, train
from pcnet.nn import Draws
from pcnet.training import LOSSES
from pcnet.training._run import selections

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


@pytest.mark.parametrize("activation", [None, "relu"])
def test_at_once_is_one_by_one(graph, varied, same, activation):
    runs = [replace(run, model=replace(run.model, activation=activation)) for run in varied]
    together = train(graph, runs, threads=1)
    for run, outcome in zip(runs, together, strict=True):
        assert same(outcome, train(graph, [run], threads=1)[0])
    # They would agree, too, if nothing was trained at all.
    assert sum(outcome.best_epoch > 0 for outcome in together) >= 5
    assert len({outcome.epochs for outcome in together}) > 2


@pytest.mark.parametrize(
    ("classes", "features", "hidden"),
    [(7, 33, 64), (2, 16, 33), (5, 33, None), (7, 3, None), (3, 3, 33), (5, 16, 8)],
)
def test_no_shape_changes_the_rounding(classes, features, hidden, same):
    # A matrix product rounds differently when its operands lie differently in memory, or come as one batch.
    graph = csbm(151, 0.3, classes=classes, features=features, average_degree=8, epsilon=0.1, seed=1)
    runs = [
        Run(
            PCNetSettings(hidden=hidden),
            TrainingSettings(epochs=3),
            Targets.from_split(make_split(graph, "random-60-20-20", number)),
            number,
        )
        for number in range(4)
    ]
    together = train(graph, runs, threads=1)
    assert all(same(outcome, train(graph, [run])[0]) for run, outcome in zip(runs, together, strict=True))


def test_limit_mode_at_once_is_one_by_one(dense, varied, same):
    runs = [replace(run, model=replace(run.model, mode="limit", p=2.0)) for run in varied[:4]]
    for run, outcome in zip(runs, train(dense, runs, threads=1), strict=True):
        assert same(outcome, train(dense, [run], threads=1)[0])


def test_runs_that_cannot_share_a_block(graph, varied, same):
    models = [
        {},
        {"eta": 0.3},
        {"hidden": None},
        {"activation": "relu"},
        {"hidden": 5},
        {"eta": 0.3},
        {"mode": "limit"},
    ]
    runs = [
        replace(
            run,
            model=replace(run.model, **model),
            training=replace(run.training, lr={"all": 0.02}, wd={"all": 0}),
        )
        for run, model in zip(varied, models, strict=True)
    ]
    together = train(graph, runs, threads=2)
    for run, outcome in zip(runs, together, strict=True):
        assert same(outcome, train(graph, [run], threads=1)[0])
    assert [outcome.model.conv.eta for outcome in together] == [run.model.eta for run in runs]
    assert len(together[2].model.transform.weights) == 1


@pytest.mark.parametrize("threads", [2, 3, 50])
def test_threads_change_nothing(graph, varied, same, threads):
    alone, shared = train(graph, varied, threads=1), train(graph, varied, threads=threads)
    assert all(map(same, alone, shared))


def test_order_changes_nothing(graph, varied, same):
    order = [4, 0, 6, 2, 5, 1, 3]
    shuffled = train(graph, [varied[place] for place in order], threads=1)
    straight = train(graph, varied, threads=1)
    assert all(same(outcome, straight[place]) for place, outcome in zip(order, shuffled, strict=True))


def test_same_seed_same_bits(graph, varied, same):
    assert all(map(same, train(graph, varied), train(graph, varied)))


def test_the_seed_governs_weights_and_dropout(dense, varied, same):
    run = varied[2]
    twin, other = train(dense, [run, replace(run, seed=run.seed + 1)], threads=1)
    assert not same(twin, other)
    still = replace(run, model=replace(run.model, drop_in=0.0, drop_hidden=0.0, drop_prop=0.0))
    first, second = train(dense, [still, replace(still, seed=3)], threads=1)
    assert not same(first, second)


def test_torch_and_numpy_seeds_play_no_part(dense, varied, same):
    torch.manual_seed(1)
    np.random.seed(1)
    first = train(dense, varied)
    torch.manual_seed(2)
    np.random.seed(2)
    assert all(map(same, first, train(dense, varied)))


def test_torch_threads_are_given_back(dense, varied):
    before = torch.get_num_threads()
    train(dense, varied[:1])
    assert torch.get_num_threads() == before


SETTINGS = st.builds(
    PCNetSettings,
    hidden=st.just(4),
    K=st.integers(1, 5),
    N=st.integers(0, 6),
    t=st.sampled_from([0.0, 0.5, 1.3]),
    p=st.sampled_from([2.0, 2.5, 3.1]),
    identity=st.booleans(),
    drop_in=st.sampled_from([0.0, 0.5]),
    drop_hidden=st.sampled_from([0.0, 0.9]),
    drop_prop=st.sampled_from([0.0, 0.3]),
)
TRAINING = st.builds(
    TrainingSettings,
    lr=st.sampled_from([{"all": 0.01}, {"all": 0.2, "theta": 0.01}]),
    wd=st.sampled_from([{"all": 0.0}, {"all": 0.01, "first": 0.1}]),
    optimizer=st.sampled_from(["adam", "adamw", "sgd"]),
    epochs=st.integers(1, 9),
    stopping=st.sampled_from(["window", "patience", "none"]),
    patience=st.integers(1, 4),
    select=st.sampled_from(selections()),
    class_weight=st.sampled_from(["none", "balanced"]),
    loss=st.sampled_from(list(LOSSES)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(SETTINGS, TRAINING, st.integers(0, 2**32 - 1)), min_size=2, max_size=5), st.data())
def test_any_runs_at_once_are_one_by_one(dense, same, drawn, data):
    splits = [make_split(dense, "random-60-20-20", data.draw(st.integers(0, 5))) for _ in drawn]
    runs = [
        Run(model, training, Targets.from_split(split), seed)
        for (model, training, seed), split in zip(drawn, splits, strict=True)
    ]
    together = train(dense, runs, threads=data.draw(st.integers(1, 3)))
    assert all(same(outcome, train(dense, [run])[0]) for run, outcome in zip(runs, together, strict=True))


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_a_plain_loop_gives_the_same_history(dense, varied, optimizer):
    """The training step in torch's own words; each epoch has draws of its own."""
    rates = {"lr": {"all": 0.01}, "wd": {"all": 0.1}}
    training = TrainingSettings(epochs=12, stopping="none", optimizer=optimizer, **rates)
    run = replace(varied[2], training=training)
    model, operator, targets = run.model.build(16, 3, run.seed), run.model.operator(dense), run.targets
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[optimizer]
    steps = kind(model.parameters(), lr=0.01, weight_decay=0.1)
    history = []
    for epoch in range(12):
        model.train()
        model.draws = Draws([run.seed], epoch)
        steps.zero_grad()
        cross_entropy(model(dense.x, operator)[targets.train], targets.train_labels).backward()
        steps.step()
        model.eval()
        with torch.no_grad():
            history.append(float(cross_entropy(model(dense.x, operator)[targets.val], targets.val_labels)))
    np.testing.assert_allclose(train(dense, [run])[0].val_loss, history, rtol=1e-5)


def test_it_learns():
    graph = csbm(600, 0.6, features=50, seed=1)
    split = make_split(graph, "random-60-20-20", 0)
    run = Run(PCNetSettings(), TrainingSettings(epochs=100, stopping="none"), Targets.from_split(split), 0)
    outcome = train(graph, [run])[0]
    right = outcome.logits[split.test].argmax(1) == graph.y[split.test]
    assert right.float().mean() > 0.85


def test_a_model_taken_out_gives_the_logits_of_its_outcome(graph, varied):
    for run, outcome in zip(varied, train(graph, varied, threads=1), strict=True):
        model = outcome.model.eval()
        with torch.no_grad():
            again = model(graph.x, run.model.operator(graph))
        torch.testing.assert_close(again, outcome.logits, rtol=0, atol=1e-5)


def refuse_cases(dense, run):
    few = Targets(torch.tensor([0]), torch.tensor([0]), torch.tensor([1]), torch.tensor([1]), 2)
    return {
        "nothing": ([], {}, "nothing to train"),
        "threads": ([run], {"threads": 0}, "threads must be at least 1, not 0"),
        "unknown group": (
            [replace(run, training=TrainingSettings(lr={"thet": 0.1}))],
            {},
            "no parameter group 'thet' for lr",
        ),
        "group of another model": (
            [
                replace(
                    run,
                    model=PCNetSettings(hidden=None),
                    training=TrainingSettings(wd={"all": 0, "second": 0}),
                )
            ],
            {},
            "no parameter group 'second' for wd; this model has first, theta",
        ),
        "no rate": ([replace(run, training=TrainingSettings(lr={"first": 0.1}))], {}, "No rate is given"),
        "no train node": ([replace(run, targets=replace(few, train=few.train[:0]))], {}, "no train node"),
        "no val node": ([replace(run, targets=replace(few, val=few.val[:0]))], {}, "no val node"),
        "unknown node": ([replace(run, targets=replace(few, val=torch.tensor([150])))], {}, "0 to 149"),
        "negative node": ([replace(run, targets=replace(few, train=torch.tensor([-1])))], {}, "0 to 149"),
        "no label": ([replace(run, targets=replace(few, val_labels=torch.tensor([-1])))], {}, "no label"),
        "unknown class": (
            [replace(run, targets=replace(few, num_classes=1))],
            {},
            "class 1, but there are 1",
        ),
    }


@pytest.mark.parametrize("case", list(refuse_cases(None, Run(PCNetSettings(), TrainingSettings(), None, 0))))
def test_refused(case, dense, varied):
    runs, arguments, words = refuse_cases(dense, varied[0])[case]
    with pytest.raises(PcnetError) as error:
        train(dense, runs, **arguments)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"drop_in": 1.0}, "not a dropout rate"), ({"K": 0}, "K must be at least 1"), ({"t": float("nan")}, "finite")],
)
def test_models_settings_check_themselves(wrong, words):
    with pytest.raises(PcnetError, match=words):
        PCNetSettings(**wrong)


@pytest.mark.parametrize("seed", [-1, 0.5, 2**63, "1", None])
def test_a_seed_is_a_whole_number(seed, varied):
    with pytest.raises(PcnetError, match="seed of a run must be an integer"):
        replace(varied[0], seed=seed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"patience": -3}, "patience must be at least 1, not -3"),
        ({"optimizer": "adm"}, "Did you mean 'adam'?"),
        ({"stopping": "windows"}, "Did you mean 'window'?"),
        ({"select": "val_los"}, "Did you mean 'val_loss'?"),
        ({"lr": {"all": -0.1}}, "lr.all = -0.1 must be a finite number of at least 0"),
        ({"wd": {"theta": float("inf")}}, "wd.theta = inf"),
        ({"loss": "foca"}, "Did you mean 'focal'?"),
        (
            {"loss": "focal", "loss_parameter": -1.0},
            "γ of the focal loss must be a finite number of at least 0",
        ),
        ({"loss": "label_smoothed", "loss_parameter": 1.5}, "from 0 to 1, not 1.5"),
        ({"loss_parameter": 1.0}, "The loss cross_entropy has no parameter; leave out loss_parameter"),
    ],
)
def test_settings_check_themselves(arguments, words):
    with pytest.raises(PcnetError) as error:
        TrainingSettings(**arguments)
    assert words in str(error.value)
