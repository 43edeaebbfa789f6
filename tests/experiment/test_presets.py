"""The published settings, as data."""

from __future__ import annotations

import pytest

from pcnet import PcnetError, PCNetSettings, TrainingSettings
from pcnet.data import CATALOGUE, PROTOCOLS
from pcnet.experiment import (
    method_file,
    method_files,
    presets,
    resolve,
)

LONG_SEEDS = (
    1941488137, 4198936517, 983997847, 4023022221, 4019585660, 2108550661, 1648766618, 629014539, 3212139042, 2424918363
)  # fmt: skip

# K, n_poly, t, b, eta, theta; dropouts in, hidden, prop; lr and wd of first, theta, second; stop; paper's mean.
PUBLISHED = {
    ("table1", "cora"): (
        (6, 10, 0.0, 1.3, 0.45, 2.0), (0.25, 0.35, 0.90), (0.005, 0.05, 0.005), (0.002, 5e-4, 0.005), 200, 82.81,
    ),
    ("table1", "actor"): (
        (6, 4, 1.5, 1.2, 0.65, 2.0), (0.0, 0.90, 0.30), (0.1, 0.005, 0.005), (0.005, 5e-6, 0.0), 200, 33.56,
    ),
    ("table1", "cornell"): (
        (6, 4, 1.7, 1.7, 0.75, 2.0), (0.60, 0.70, 0.70), (0.01, 0.005, 0.01), (5e-4, 5e-6, 5e-5), 200, 52.08,
    ),
    ("table2", "citeseer"): (
        (4, 5, 0.4, 2.1, 0.60, 0.5), (0.70, 0.90, 0.65), (0.01, 0.01, 0.01), (0.002, 0.002, 5e-5), 200, 81.76,
    ),
    ("table2", "pubmed"): (
        (4, 4, 1.0, 1.3, 0.60, 1.5), (0.0, 0.55, 0.25), (0.05, 0.05, 0.1), (0.001, 0.0, 0.0), 200, 91.30,
    ),
    ("table2", "texas"): (
        (4, 10, 0.1, 1.2, 0.35, 1.5), (0.75, 0.55, 0.25), (0.01, 0.05, 0.05), (0.005, 1e-4, 5e-6), 200, 95.57,
    ),
    ("table3", "cora"): (
        (6, 10, 0.0, 1.7, 0.40, 0.5), (0.40, 0.90, 0.10), (0.005, 0.005, 0.1), (5e-6, 0.002, 1e-4), 300, 88.41,
    ),
    ("table3", "cornell"): (
        (4, 4, 3.7, 8.3, 0.65, 0.5), (0.05, 0.80, 0.15), (0.05, 0.005, 0.005), (0.002, 0.005, 1e-4), 200, 82.16,
    ),
    ("table3", "wisconsin"): (
        (5, 4, 1.6, 7.3, 0.80, 0.5), (0.0, 0.70, 0.05), (0.05, 0.05, 0.005), (0.001, 1e-4, 1e-4), 300, 88.63,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("preset", "dataset"), PUBLISHED)
def test_published_settings(preset, dataset):
    (K, n_poly, t, b, eta, theta), drops, lr, wd, stop, paper = PUBLISHED[preset, dataset]
    experiment = resolve(dataset, preset=preset)
    assert experiment.model.p == pytest.approx(b + 1)
    assert experiment.model == PCNetSettings(
        hidden=64,
        K=K,
        N=n_poly - 1,
        t=t,
        p=experiment.model.p,
        eta=eta,
        init=theta,
        identity=True,
        mode="truncated",
        activation=None,
        drop_in=drops[0],
        drop_hidden=drops[1],
        drop_prop=drops[2],
    )
    assert experiment.training == TrainingSettings(
        lr=dict(zip(("first", "theta", "second"), lr, strict=True)),
        wd=dict(zip(("first", "theta", "second"), wd, strict=True)),
        optimizer="adam",
        epochs=1000,
        stopping="window",
        patience=stop,
        select="val_loss",
    )
    assert experiment.paper[0] == paper
    assert experiment.rerun is not None


def test_penn94():
    experiment = resolve("penn94", preset="table3")
    model, training = experiment.model, experiment.training
    assert (model.K, model.N, model.t, model.p, model.eta) == (6, 3, 2.0, 2.0, 0.3)
    assert model.activation == "relu"
    assert (training.optimizer, training.epochs, training.stopping) == ("adamw", 500, "none")
    assert experiment.seeds == (0, 1, 2, 3, 4)


def test_tables_protocols_and_seeds():
    assert tuple(presets()) == ("table1", "table2", "table3", "table4")
    assert presets()["table4"].datasets_of("pcnet") == ()
    six = {"cora", "citeseer", "pubmed", "actor", "texas", "cornell"}
    assert {*presets()["table1"].datasets_of("pcnet")} == six
    assert {*presets()["table2"].datasets_of("pcnet")} == six
    assert {*presets()["table3"].datasets_of("pcnet")} == {*six, "wisconsin", "penn94"}
    for preset in tuple(presets()):
        for dataset in presets()[preset].datasets_of("pcnet"):
            experiment = resolve(dataset, preset=preset)
            assert dataset in CATALOGUE
            assert experiment.protocol in PROTOCOLS
            if preset == "table1":
                assert experiment.seeds == LONG_SEEDS
                citation = dataset in ("cora", "citeseer", "pubmed")
                assert experiment.protocol == ("semi-20-500-1000" if citation else "sparse-2.5-2.5-95")
            else:
                assert experiment.seeds == tuple(range(len(experiment.seeds)))
                assert experiment.protocol == ("random-60-20-20" if preset == "table2" else "fixed-48-32-20")
            experiment.training.check_groups(experiment.model.groups)


@pytest.mark.parametrize("name", method_files())
def test_no_key_of_a_file_is_idle(name):
    content = method_file(name).content
    assert {*content} <= {
        "method",
        "like",
        "source",
        "by_test",
        "model",
        "training",
        "grid",
        "space",
        "page",
        *presets(),
    }
    assert {*content.get("page", {})} <= {"idea", "products", "homophily", "text"}
    known = {"source", "by_test", "model", "training", "rerun"}
    assert all({*entry} <= known for table in tuple(presets()) for entry in content.get(table, {}).values())


def test_defaults():
    assert resolve("citeseer") == resolve("citeseer", preset="table2")
    other = resolve("wisconsin")
    assert (other.preset, other.protocol, other.seeds) == ("defaults", "random-60-20-20", tuple(range(10)))
    assert other.paper is None
    assert other.model == PCNetSettings()


def test_runs_and_seeds():
    first = resolve("citeseer", preset="table1")
    assert first.with_runs(3, None).seeds == LONG_SEEDS[:3]
    assert first.with_runs(12, None).seeds == (*LONG_SEEDS, 0, 1)
    assert first.with_runs(3, 7).seeds == (7, 8, 9)
    assert resolve("texas", preset="table2").with_runs(12, None).seeds == tuple(range(12))
    with pytest.raises(PcnetError, match="--runs must be at least 1, not 0"):
        first.with_runs(0, None)
    with pytest.raises(PcnetError, match="--seed must be at least 0, not -4"):
        first.with_runs(1, -4)


def test_unknown_names():
    with pytest.raises(PcnetError, match="Did you mean 'table2'"):
        resolve("cora", preset="tabel2")
    with pytest.raises(PcnetError, match="table1 has no settings of pcnet for wisconsin"):
        resolve("wisconsin", preset="table1")
    with pytest.raises(PcnetError, match="Did you mean 'citeseer'"):
        resolve("citseer")
