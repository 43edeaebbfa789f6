"""Settings files of the polynomial methods, and of rows that are one method with other settings."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import pytest

from pcnet._files import read_toml
from pcnet.experiment import (
    method_file,
    method_files,
    method_name,
    presets,
    resolve,
)
from pcnet.tune import Space

SIX = {"cora", "citeseer", "pubmed", "texas", "actor", "cornell"}
LINEAR = ("monomial", "chebyshev", "bernstein", "jacobi")
ALIKE = {**dict.fromkeys((*LINEAR, "jacobi-mlp"), "jacobiconv"), "pcnet-half": "pcnet"}
CLASSES = {"cora": 7, "citeseer": 6, "pubmed": 3, "texas": 5, "actor": 5, "cornell": 5}


def raw(name: str) -> dict[str, Any]:
    """A file as it is written, before it is joined with the one that it is like."""
    return read_toml(str(files("pcnet.experiment").joinpath(f"methods/{name}.toml")))


def test_evennet():
    experiment = resolve("actor", "evennet", preset="table2")
    model, training = experiment.model, experiment.training
    assert (model.K, model.hidden, model.alpha, model.activation) == (10, 64, 0.1, "relu")
    assert (model.drop_in, model.drop_hidden, model.drop_prop) == (0.3, 0.3, 0.7)
    assert (training.lr, training.wd) == ({"all": 0.05, "theta": 0.01}, {"all": 0.0005, "theta": 0.0})
    assert (training.stopping, training.patience, training.select) == ("patience", 200, "val_loss")
    assert experiment.paper == (40.48, 0.62)


def test_chebnetii():
    """Both protocols, and a decay of the filter where it is published."""
    semi, dense = (resolve("cora", "chebnetii", preset=table) for table in ("table1", "table2"))
    assert (semi.model.drop_prop, dense.model.drop_prop) == (0.8, 0.0)
    assert (semi.training.lr["theta"], semi.training.wd["theta"]) == (0.001, 0.05)
    assert dense.training.wd == {"all": 0.0005, "theta": 0.0005}
    assert {*presets()["table1"].datasets_of("chebnetii")} == {*presets()["table2"].datasets_of("chebnetii")} == SIX


def test_bernnet():
    experiment = resolve("texas", "bernnet", preset="table2")
    assert experiment.training.lr == {"all": 0.05, "theta": 0.002}
    assert (experiment.training.stopping, experiment.model.drop_prop) == ("window", 0.5)
    assert resolve("texas", "bernnet", preset="table4").model == experiment.model


def test_jacobiconv():
    experiment = resolve("actor", "jacobiconv", preset="table2")
    model, training = experiment.model, experiment.training
    assert (model.a, model.b, model.alpha, model.sign, model.hidden) == (-1.0, 0.5, 1.0, "published", None)
    assert (model.drop_in, model.drop_prop) == (0.9, 0.7)
    assert training.lr == {"all": 0.05, "alpha": 0.05, "theta": 0.01}
    assert training.wd == {"all": 0.001, "alpha": 0.0005, "theta": 0.001}
    assert training.select == "val_accuracy"


@pytest.mark.parametrize("name", method_files())
def test_every_grid_is_small_and_every_cell_can_be_built(name):
    file = method_file(name)
    assert method_name(name)
    assert math.prod(map(len, file.grid.values())) <= 48
    if file.grid:
        Space.from_json(dict(file.grid), name, file.kind)
    for table in ("table1", "table2", "table3", "table4"):
        for dataset in presets()[table].datasets_of(name):
            experiment = resolve(dataset, name, preset=table)
            experiment.training.check_groups(experiment.model.groups)
            assert experiment.source


@pytest.mark.parametrize("name", ALIKE)
def test_rows_of_table_4_are_a_method_with_other_settings(name):
    own = raw(name)
    assert own["like"] == ALIKE[name]
    assert {*presets()["table4"].datasets_of(name)} == SIX
    for dataset in SIX:
        mine, theirs = resolve(dataset, name, preset="table4"), resolve(dataset, ALIKE[name], preset="table2")
        changed = {
            **{key: value for key, value in own["model"].items() if value != "none"},
            **own.get("table2", {}).get(dataset, {}).get("model", {}),
        }
        for key, value in vars(mine.model).items():
            if own["model"].get(key) == "none":
                assert value is None
            else:
                assert value == changed.get(key, getattr(theirs.model, key))
        for rates, given in ((mine.training.lr, theirs.training.lr), (mine.training.wd, theirs.training.wd)):
            assert rates == {group: rate for group, rate in given.items() if group in ("all", *mine.model.groups)}
        assert mine.paper is not None
        assert mine.rerun is None


def test_no_cell_of_a_row_is_lost():
    for name, other in ALIKE.items():
        own = raw(name)
        assert {*own} <= {"like", "source", "by_test", "model", "table2"}
        assert {*own.get("table2", {})} <= {*method_file(other).content["table2"]}


def test_what_the_rows_are():
    for name in LINEAR:
        model = resolve("cora", name, preset="table4").model
        assert (model.basis, model.frozen, model.hidden) == (name, True, None)
    assert resolve("pubmed", "chebyshev", preset="table4").model.alpha == 1.0
    for dataset, classes in CLASSES.items():
        model = resolve(dataset, "jacobi-mlp", preset="table4").model
        assert (model.hidden, model.activation, model.frozen, model.drop_hidden) == (classes, "relu", False, 0.0)
    half, linear = resolve("cora", "pcnet-half", preset="table4").model, method_file("pcnet-half-lin").defaults.model
    assert (half.eta, half.hidden) == (0.5, 64)
    assert (linear.method, linear.eta, linear.hidden) == ("pcnet", 0.5, None)
    assert resolve("cora", "monomial").model == resolve("cora", "monomial", preset="table4").model
    assert resolve("texas", "pcnet-half", preset="table1").model.eta == 0.5


def test_rows_of_table_3_have_the_settings_of_the_code_behind_them():
    """Those of GGCN's repository, for all seven graphs that are at hand."""
    seven = {*SIX, "wisconsin"}
    for name in ("mlp", "gcn", "gat", "gcnii", "gprgnn", "ggcn"):
        assert {*presets()["table3"].datasets_of(name)} == seven, name
        for dataset in seven:
            training = resolve(dataset, name, preset="table3").training
            assert (training.epochs, training.stopping, training.patience) == (1500, "patience", 100)
            assert training.select == "val_loss"
            if name != "mlp":
                directed = resolve(dataset, name, preset="table3").model.directed
                assert directed == (dataset in ("texas", "actor", "cornell", "wisconsin")), (name, dataset)
    gprgnn = resolve("texas", "gprgnn", preset="table3")
    assert (gprgnn.model.alpha, gprgnn.training.lr, gprgnn.training.wd) == (1.0, {"all": 0.05}, {"all": 5e-4})
    mlp = resolve("pubmed", "mlp", preset="table3")
    assert (mlp.model.hidden, mlp.model.drop_in, mlp.training.wd) == (64, 0.3, {"all": 1e-6})


def test_edges_are_directed_in_table_3_alone():
    for name in ("gcn", "gat", "gcnii", "gprgnn", "ggcn"):
        assert not method_file(name).defaults.model.directed
        for table in ("table1", "table2", "table4"):
            for dataset in presets()[table].datasets_of(name):
                assert not resolve(dataset, name, preset=table).model.directed


def test_what_a_grid_chose_is_used_but_not_searched_from():
    """Searching the grid again starts from the method's defaults, whatever it chose the last time."""
    file = method_file("gcn")
    assert file.cell("table2", "cora") is not None
    assert file.cell("table2", "cora", chosen=False) is None
    assert file.cell("table3", "cora", chosen=False) is not None
    chosen, again = (resolve("cora", "gcn", preset="table2", fallback=True, chosen=not only) for only in (False, True))
    assert chosen.training == resolve("cora", "gcn", preset="table2").training
    assert chosen.source.startswith("validation on 3 splits")
    assert (again.model, again.training, again.seeds) == (file.defaults.model, file.defaults.training, chosen.seeds)
