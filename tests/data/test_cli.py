"""`pcnet data list | get | verify`."""

from __future__ import annotations

import json
import shutil
import time

import pytest
from typer.testing import CliRunner

from pcnet.cli._data import app
from pcnet.data import CATALOGUE
from pcnet.errors import PcnetError

runner = CliRunner()


def test_list_shows_every_dataset(alone):
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 0
    assert all(name in result.stdout for name in CATALOGUE)
    assert "not found" in result.stdout
    assert "package" in result.stdout


def test_list_is_quick_and_json_is_all_there_is(real):
    start = time.process_time()
    result = runner.invoke(app, ["list", "--data", str(real), "--json", "-"])
    assert time.process_time() - start < 0.5
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert rows["texas"]["found"] == str(real)
    assert rows["texas"]["edges"] == 295
    assert rows["penn94"]["found"] is None


def test_verify(real, alone, tmp_path):
    for name in ("texas", "wisconsin"):
        shutil.copytree(real / "webkb" / name, alone / "webkb" / name)
    out = tmp_path / "states.json"
    assert runner.invoke(app, ["verify", "--json", str(out)]).exit_code == 0
    rows = json.loads(out.read_text())
    assert {row["dataset"] for row in rows} == {"texas", "wisconsin"}
    assert {row["state"] for row in rows} == {"ok"}

    with (alone / "webkb/texas/raw/out1_graph_edges.txt").open("a") as stream:
        stream.write("0\t1\n")
    (alone / "webkb/texas/raw/texas_split_0.6_0.2_3.npz").unlink()
    result = runner.invoke(app, ["verify", "texas", "--json", "-"])
    assert result.exit_code == 1
    states = [row["state"] for row in json.loads(result.stdout)]
    assert (states.count("changed"), states.count("missing"), states.count("ok")) == (1, 1, 10)
    assert runner.invoke(app, ["verify", "wisconsin"]).exit_code == 0


def test_verify_with_nothing_there(alone):
    result = runner.invoke(app, ["verify"])
    assert result.exit_code == 0
    assert "--data" in result.stdout


def test_get(real, alone):
    result = runner.invoke(app, ["get", "Texas", "--data", str(real)])
    assert str(real / "webkb" / "texas") in result.stdout
    missing = runner.invoke(app, ["get", "cora"])
    assert isinstance(missing.exception, PcnetError)
    with pytest.raises(PcnetError, match="Did you mean 'texas'"):
        runner.invoke(app, ["get", "texs"], catch_exceptions=False)
