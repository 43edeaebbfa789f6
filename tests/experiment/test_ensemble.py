"""An ensemble is the weighted mean of its members' calibrated probabilities, whatever their methods."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pcnet import Targets, csbm, make_split, train
from pcnet.experiment import Ensemble, resolve
from pcnet.training import Run

METHODS, WEIGHTS = ("gcn", "mlp", "gcn"), (3.0, 1.0, 2.0)


@pytest.fixture(scope="module")
def trained():
    """Three runs of two methods, all with the same seed."""
    graph = csbm(120, 0.6, features=6, seed=0)
    targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
    runs = []
    for method in METHODS:
        own = resolve(graph, method, overrides=["epochs=20", "hidden=8"])
        runs.append(Run(own.model, own.training, targets, 4))
    return graph, list(zip(runs, train(graph, runs, threads=1), strict=True))


def test_a_weighted_mean_of_softmaxes(trained):
    graph, pairs = trained
    ensemble = Ensemble.of(graph, pairs, "accuracy", WEIGHTS)
    parts = [
        weight * scipy.special.softmax(outcome.logits.double().numpy() / member.temperature, axis=1)
        for (_, outcome), member, weight in zip(pairs, ensemble.members, WEIGHTS, strict=True)
    ]
    np.testing.assert_allclose(ensemble.probabilities(graph), sum(parts) / sum(WEIGHTS), rtol=1e-6, atol=1e-9)
    assert ensemble.shares == {"gcn": 5 / 6, "mlp": 1 / 6}
    assert ensemble.response(graph) is None


def test_saved_and_loaded_are_the_same_bits(trained, tmp_path):
    graph, pairs = trained
    ensemble = Ensemble.of(graph, pairs, "macro_f1", WEIGHTS)
    ensemble.save(tmp_path)
    loaded = Ensemble.load(tmp_path)
    assert (loaded.metric, loaded.shares) == ("macro_f1", ensemble.shares)
    assert np.array_equal(loaded.probabilities(graph), ensemble.probabilities(graph))
    # Members with one seed are told from each other by their places.
    assert sorted(path.name for path in (tmp_path / "models").glob("*.json")) == [f"member-{i}.json" for i in range(3)]
