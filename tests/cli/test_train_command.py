"""`pcnet train`: what it prints, what it writes."""

from __future__ import annotations

import json
import struct
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from pcnet import Operator, load_dataset, load_model, make_split
from pcnet.data import load_embedded

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
QUICK = ("train", "--runs", "2", "--set", "epochs=5", "--set", "hidden=8")
KEYS = [
    "dataset",
    "preset",
    "runs",
    "settings",
    "metric",
    "test",
    "val",
    "epochs",
    "refit",
    "seconds",
    "command",
    "date",
    "machine",
    "versions",
]


def check_schema(summary: dict) -> None:
    assert list(summary) == KEYS
    assert (summary["dataset"], summary["preset"], summary["runs"]) == ("citeseer", "table2, changed", 2)
    for part in ("test", "val"):
        assert list(summary[part]) == ["mean", "ci95", "std", "per_run"]
        low, high = summary[part]["ci95"]
        assert 0 <= low <= summary[part]["mean"] <= high <= 100
        assert len(summary[part]["per_run"]) == 2
        assert sum(summary[part]["per_run"]) / 2 == pytest.approx(summary[part]["mean"])
    assert summary["epochs"] == [5, 5]
    assert summary["seconds"] > 0
    assert {"pcnet", "python", "torch", "numpy"} <= {*summary["versions"]}
    assert summary["command"].startswith("pcnet train --runs 2")
    assert summary["machine"].endswith("cores")
    settings = summary["settings"]
    assert (settings["epochs"], settings["hidden"], settings["N"], settings["p"]) == (5, 8, 4, 3.1)
    assert settings["lr"] == {"first": 0.01, "theta": 0.01, "second": 0.01}
    assert (settings["protocol"], settings["seeds"]) == ("random-60-20-20", [0, 1])


def test_json_file_and_folder(pcnet, place):
    code, out, err = pcnet(*QUICK, "--out", "here", "--json", "result.json")
    assert (code, err) == (0, "")
    assert "PCNet on citeseer (3,327 nodes, 3,703 features, 6 classes)" in out
    assert "everything is in here" in out
    assert "validation" in out
    assert "macro-F1" in out
    summary = json.loads((place / "result.json").read_text())
    check_schema(summary)
    assert f"{summary['test']['mean']:.2f}" in out

    folder = place / "here"
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    models = [f"models/seed-{seed}.{kind}" for seed in (0, 1) for kind in ("json", "safetensors")]
    others = ["report.html", "response.png", "settings.json", "splits.json"]
    assert names == ["classifier.json", "metrics.json", "mistakes.csv", *models, *others]

    settings = json.loads((folder / "settings.json").read_text())
    trained = {key: summary[key] for key in ("dataset", "preset", "settings", "versions")}
    assert settings == {"graph": "citeseer", "read": [], **trained}
    graph = load_embedded()
    splits = [make_split(graph, "random-60-20-20", seed) for seed in (0, 1)]
    kept = json.loads((folder / "splits.json").read_text())
    assert [entry["hash"] for entry in kept] == [split.hash for split in splits]
    assert [tuple(entry["sizes"]) for entry in kept] == [split.sizes for split in splits]
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["test"]["accuracy"] == summary["test"]
    assert metrics["val"]["accuracy"] == summary["val"]
    assert "macro_f1" in metrics["test"]
    assert len(metrics["best_epochs"]) == 2

    for seed, split in enumerate(splits):
        model, own = load_model(folder / "models" / f"seed-{seed}")
        with torch.no_grad():
            logits = model(graph.x, Operator.from_graph(graph, eta=own.eta))
        right = logits[split.test].argmax(1) == split.labels[split.test]
        assert 100 * float(right.double().mean()) == pytest.approx(summary["test"]["per_run"][seed], abs=1e-9)


def test_nothing_that_could_run_code(pcnet, place):
    pcnet(*QUICK, "--out", "here")
    kinds = {".json": b"{[", ".png": b"\x89", ".html": b"<", ".csv": b"n"}
    for path in (place / "here").rglob("*"):
        if path.suffix == ".safetensors":
            length = struct.unpack("<Q", path.read_bytes()[:8])[0]
            assert json.loads(path.read_bytes()[8 : 8 + length])
        elif path.is_file():
            assert path.read_bytes()[0] in kinds[path.suffix]
    # The only script is that of the package, whatever the graph's names are.
    script = files("pcnet.show").joinpath("page.js").read_text(encoding="utf-8")
    page = (place / "here" / "report.html").read_text(encoding="utf-8")
    assert page.split("<script>")[1:] == [f"\n{script}</script>\n</body>\n</html>"]
    head = (place / "here" / "response.png").read_bytes()[:24]
    width, height = struct.unpack(">II", head[16:24])
    assert 600 <= width <= 3000
    assert 400 <= height <= 2000


def test_json_on_standard_output_and_nothing_else_there(process):
    code, out, err = process(*QUICK, "--json", "-", "--out", "here")
    assert code == 0
    check_schema(json.loads(out))
    assert "everything is in here" in err
    assert "Traceback" not in err


def test_json_into_a_redirected_standard_output(process, place):
    """`--json /dev/stdout > file` is `--json - > file`, and the device stays what it is."""
    before = Path("/dev/stdout").is_symlink()
    with (place / "all.json").open("w") as stream:
        assert process("data", "list", "--json", "/dev/stdout", stdout=stream).code == 0
    assert "cora" in {row["name"] for row in json.loads((place / "all.json").read_text())}
    assert Path("/dev/stdout").is_symlink() == before


def test_default_folders_are_numbered(pcnet, place):
    for _ in range(2):
        assert pcnet("train", "--runs", "1", "--set", "epochs=1", "--set", "hidden=2").code == 0
    assert sorted(path.name for path in (place / "runs").iterdir()) == [
        "citeseer-table2-changed",
        "citeseer-table2-changed-2",
    ]


def test_the_paper_stands_beside_the_published_settings_only(pcnet, monkeypatch):
    monkeypatch.setattr("pcnet.training.TrainingSettings.__post_init__", lambda self: vars(self).update(epochs=1))
    out = pcnet("train", "--runs", "1", "--out", "a").out
    assert "81.76" in out
    assert "81.47" in out
    assert "table2, random-60-20-20" in out
    changed = pcnet("train", "--runs", "1", "--out", "b", "--set", "hidden=4").out
    assert "81.76" not in changed


def test_a_protocol_brings_the_settings_of_its_table(pcnet, place):
    code, out, _ = pcnet("train", "--protocol", "semi-20-500-1000", "--runs", "1", "--set", "epochs=1", "--out", "semi")
    assert code == 0
    assert "table1, changed, semi-20-500-1000" in " ".join(out.split())
    assert json.loads((place / "semi" / "splits.json").read_text())[0]["sizes"] == [120, 500, 1000]


def test_same_command_same_numbers(pcnet, place):
    for name, threads in (("a", 1), ("b", 2)):
        pcnet(*QUICK, "--seed", "3", "--threads", threads, "--out", name, "--json", f"{name}.json")
    one, other = (json.loads((place / f"{name}.json").read_text()) for name in "ab")
    own = {"seconds": 0, "command": ""}
    assert {**one, **own} == {**other, **own}
    assert one["settings"]["seeds"] == [3, 4]
    weights = [(place / name / "models" / "seed-3.safetensors").read_bytes() for name in "ab"]
    assert weights[0] == weights[1]


def test_another_dataset(pcnet, place, real):
    code, out, _ = pcnet(
        "train",
        "wisconsin",
        "--preset",
        "table3",
        "--runs",
        "3",
        "--set",
        "epochs=20",
        "--data",
        real,
        "--out",
        "w",
    )
    assert code == 0
    assert "251 nodes" in out
    assert [entry["seed"] for entry in json.loads((place / "w" / "splits.json").read_text())] == [0, 1, 2]
    assert load_dataset("wisconsin", real).num_nodes == 251


def test_left_overs_of_a_killed_process_are_swept(pcnet, place):
    folder = place / "here"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pcnet.cli._train.run_experiment", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        code, _, err = pcnet(*QUICK, "--out", "here")
    assert code != 0
    assert "--resume --out here" in err
    for name in (
        "models/.seed-0.json.abc.tmp",
        ".metrics.json.abc.tmp",
        "checkpoint/.block-0.safetensors.abc.tmp",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("half")
    assert pcnet(*QUICK, "--out", "here", "--resume").code == 0
    assert not [path for path in folder.rglob("*") if path.suffix == ".tmp"]
    assert not (folder / "checkpoint").exists()
