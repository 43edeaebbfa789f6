"""Small graphs, runs that differ in everything, and what makes two outcomes the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet import Graph, Outcome, PCNetSettings, Run, Targets, TrainingSettings, csbm, make_split
from pcnet.graph import CSR

#: What the runs share, said in full: other defaults must not change what is tested here.
MODEL = {
    "hidden": 8,
    "K": 4,
    "N": 4,
    "t": 0.5,
    "p": 2.0,
    "init": 1.0,
    "drop_in": 0.0,
    "drop_hidden": 0.0,
    "drop_prop": 0.0,
}
TRAINING = {
    "lr": {"all": 0.01},
    "wd": {"all": 5e-4},
    "epochs": 25,
    "stopping": "window",
    "patience": 10,
    "select": "val_loss",
}

#: Settings that differ in everything that runs of one block may differ in.
VARIED: tuple[tuple[dict, dict], ...] = (
    ({}, {}),
    ({"K": 6, "N": 3, "t": 1.7, "p": 2.7, "init": 2.0}, {"lr": {"all": 0.05}, "wd": {"all": 0.0}}),
    (
        {"K": 2, "N": 9, "t": 0.0, "drop_in": 0.6, "drop_hidden": 0.3, "drop_prop": 0.2},
        {"optimizer": "adamw"},
    ),
    (
        {"K": 5, "N": 5, "t": 0.3, "p": 2.2, "identity": False, "drop_prop": 0.5},
        {"lr": {"first": 0.03, "theta": 0.1, "second": 0.002}, "wd": {"all": 1e-3, "theta": 0.0}},
    ),
    ({"drop_hidden": 0.85}, {"stopping": "patience", "patience": 3, "lr": {"all": 0.1}}),
    ({"drop_in": 0.25}, {"stopping": "none", "epochs": 11, "select": "val_accuracy"}),
    ({"t": 0.9, "init": 0.5}, {"stopping": "window", "patience": 4, "lr": {"all": 0.3}}),
)


@pytest.fixture(scope="session")
def dense() -> Graph:
    return csbm(150, 0.4, classes=3, features=16, seed=7)


@pytest.fixture(scope="session")
def sparse(dense: Graph) -> Graph:
    """The same graph with the small features taken out, as compressed rows."""
    x = dense.x.where(dense.x > 0.1, 0.0)
    return replace(dense, x=CSR.from_torch(x.to_sparse_csr()))


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def varied(dense: Graph) -> list[Run]:
    """Seven runs that can be trained side by side, with splits and seeds of their own."""
    return [
        Run(
            PCNetSettings(**{**MODEL, **model}),
            TrainingSettings(**{**TRAINING, **training}),
            Targets.from_split(make_split(dense, "random-60-20-20", number)),
            seed=100 + number,
        )
        for number, (model, training) in enumerate(VARIED)
    ]


@pytest.fixture(scope="session")
def same() -> Callable[[Outcome, Outcome], bool]:
    """Whether two outcomes agree in every bit."""

    def compare(one: Outcome, other: Outcome) -> bool:
        ours, theirs = one.model.state_dict(), other.model.state_dict()
        return (
            one.best_epoch == other.best_epoch
            and np.array_equal(one.val_loss, other.val_loss)
            and np.array_equal(one.val_score, other.val_score)
            and torch.equal(one.logits, other.logits)
            and ours.keys() == theirs.keys()
            and all(torch.equal(ours[name], theirs[name]) for name in ours)
        )

    return compare
