"""Bad names, values, files and folders: one sentence, exit code 2, nothing written."""

from __future__ import annotations

import json
import os
import resource
import shutil
from pathlib import Path

import pytest
import torch

from pcnet import (
    Graph,
    PcnetError,
    PCNetSettings,
    Run,
    Split,
    Targets,
    TrainingSettings,
    csbm,
    load_model,
    train,
)
from pcnet.data import load_embedded

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

COMMANDS: dict[str, tuple[str, str]] = {
    "unknown command": ("trian", "trian"),
    "unknown option": ("train --epochs 5", "--epochs"),
    "too many arguments": ("train citeseer cora", "cora"),
    "option without its value": ("train --runs", "--runs"),
    "unknown dataset": ("train citseer", "nor a named dataset. Did you mean 'citeseer'?"),
    "unknown preset": ("train --preset tabel1", "Did you mean 'table1'?"),
    "preset without the dataset": (
        "train wisconsin --preset table1",
        "table1 has no settings of pcnet for wisconsin; it has",
    ),
    "preset for a graph the paper lacks": (
        "train reed98 --preset table2",
        "table2 has no settings of pcnet for reed98",
    ),
    "no fixed splits inside the package": ("train --preset table3", "citeseer has no fixed splits here"),
    "unknown protocol": ("train --protocol random-60-20", "Did you mean 'random-60-20-20'?"),
    "preset and protocol": ("train --preset table2 --protocol random-60-20-20", "leave out --preset or --protocol"),
    "dataset nowhere": ("train cora", "ind.cora.graph"),
    "no data folder": ("train --data no/such/folder", "There is no data folder no/such/folder"),
    "set without a value": ("train --set t", "'t' is not of the form key=value"),
    "set of an unknown key": ("train --set drop_inn=0.5", "Did you mean 'drop_in'?"),
    "set of a wrong type": ("train --set t=fast", "t must be a number, not 'fast'"),
    "set of a fraction": ("train --set K=2.5", "K must be a whole number"),
    "set of an unknown word": ("train --set stopping=windows", "Did you mean 'window'?"),
    "set of an unknown group": ("train --set lr.thet=0.1", "no parameter group 'thet' for lr"),
    "set of a group that is gone": ("train --set hidden=none", "no parameter group 'second' for lr"),
    "negative learning rate": ("train --set lr=-1", "lr.all = -1.0"),
    "decay is NaN": ("train --set wd.first=nan", "wd.first = nan"),
    "no epochs": ("train --set epochs=0", "epochs must be at least 1, not 0"),
    "negative epochs": ("train --set epochs=-5", "epochs must be at least 1, not -5"),
    "more epochs than memory": ("train --set epochs=99999999999999 --runs 1", "not enough memory"),
    "no patience": ("train --set patience=0", "patience must be at least 1"),
    "dropout of one": ("train --set drop_in=1", "not a dropout rate"),
    "negative dropout": ("train --set drop_prop=-0.1", "drop_prop = -0.1 is not a dropout rate"),
    "dropout is NaN": ("train --set drop_hidden=nan", "not a dropout rate"),
    "no hidden units": ("train --set hidden=0", "at least 1"),
    "no filter": ("train --set K=0", "K must be at least 1"),
    "negative order": ("train --set N=-1", "N"),
    "t is infinite": ("train --set t=inf", "finite"),
    "no runs": ("train --runs 0", "--runs must be at least 1, not 0"),
    "runs in words": ("train --runs ten", "--runs"),
    "negative seed": ("train --seed -1", "--seed must be at least 0, not -1"),
    "seed too large": ("train --seed 4294967296", "from 0 to 4294967295"),
    "no threads": ("train --threads 0", "threads must be at least 1, not 0"),
    "threads in words": ("train --threads all", "--threads"),
    "no such device": ("train --device gpu", "There is no device 'gpu'; use auto, cpu, cuda or cuda:N"),
    "another kind of device": ("train --device meta", "does not run on 'meta'"),
    "resume what": ("train --resume", "--resume needs --out"),
    "nothing to resume": ("train --resume --out nowhere", "no interrupted training in nowhere"),
    "diverges": ("train --set lr=1e38 --set epochs=4 --runs 1 --set hidden=2", "seed 0 diverged"),
    "unknown dataset to get": ("data get corra", "Did you mean 'cora'?"),
    "unknown dataset to verify": ("data verify texs", "Did you mean 'texas'?"),
    "unknown data command": ("data lst", "lst"),
}


QUICK = ("train", "--runs", "1", "--set", "epochs=2", "--out", "here")


@pytest.mark.parametrize("case", COMMANDS)
def test_refused(case, pcnet, written):
    command, words = COMMANDS[case]
    pcnet(*command.split()).refuses(words)
    assert written() == []


@pytest.mark.parametrize(
    "case",
    [
        "seed too large",
        *(pytest.param(case, marks=pytest.mark.slow) for case in ("unknown dataset", "no filter")),
    ],
)
def test_refused_in_a_process_of_its_own(case, process, written):
    command, words = COMMANDS[case]
    answer = process(*command.split(), "--out", "a/b/c")
    answer.refuses(words)
    assert written() == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
@pytest.mark.parametrize("device", ["cuda", "cuda:3"])
def test_no_cuda(device, pcnet, written):
    pcnet("train", "--device", device).refuses("no CUDA device that torch can use")
    assert written() == []


FOLDERS: dict[str, tuple[str, str]] = {
    "out is a file": ("train --out file", "Cannot write to the folder file"),
    "out is under a file": ("train --out file/run", "Cannot write to the folder file/run"),
    "out is not empty": ("train --out full", "The folder full is not empty"),
    "out is the current folder": ("train --out .", "is not empty"),
    "resume in a full folder": ("train --out full --resume", "no interrupted training in full"),
    "resume in a file": ("train --out file --resume", "no interrupted training in file"),
    "json is a folder": ("train --json full", "Cannot write full: it is a folder"),
    "json is under a file": ("train --json file/result.json", "file is not a folder"),
    "data is a file": ("train --data file", "file"),
    "list into a folder": ("data list --json full", "Cannot write full: it is a folder"),
    "list onto a full disk": (
        "data list --json /dev/full",
        "Cannot write /dev/full: No space left on device",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_nothing_is_touched(case, pcnet, place, written):
    (place / "file").write_text("mine")
    (place / "full").mkdir()
    (place / "full" / "something").write_text("mine")
    command, words = FOLDERS[case]
    pcnet(*command.split()).refuses(words)
    assert written() == ["file", "full", "full/something"]
    assert (place / "file").read_text() == (place / "full" / "something").read_text() == "mine"


def test_an_empty_folder_that_was_there_stays(pcnet, place, written):
    (place / "mine").mkdir()
    pcnet("train", "--out", "mine", "--threads", "0").refuses("threads must be at least 1")
    assert written() == ["mine"]


def test_no_space_for_the_json_leaves_the_run_folder_whole(pcnet, place):
    answer = pcnet(*QUICK, "--set", "hidden=2", "--json", "/dev/full")
    answer.refuses("Cannot write /dev/full: No space left on device")
    assert json.loads((place / "here" / "metrics.json").read_text())["epochs"] == [2]


def limited(size: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_no_space_for_a_checkpoint(process, written):
    answer = process(*QUICK, preexec_fn=limited(20_000))
    answer.refuses("File too large")
    assert written() == []


def test_no_space_for_the_picture(process, pcnet, place):
    """The training is over and its checkpoint is small; what was written is whole, and it can be taken up again."""
    answer = process(*QUICK, "--set", "hidden=1", preexec_fn=limited(40_000))
    answer.refuses("response.png: File too large")
    names = {path.name for path in (place / "here").rglob("*") if path.is_file()}
    assert not {"metrics.json", "response.png"} & names
    assert not [name for name in names if name.endswith(".tmp")]
    assert "plan.json" in names
    assert pcnet(*QUICK, "--set", "hidden=1", "--resume").code == 0
    assert (place / "here" / "metrics.json").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(pcnet, place):
    (place / "closed").mkdir(mode=0o500)
    pcnet("train", "--out", "closed/run").refuses("Permission denied")
    pcnet("train", "--json", "closed/result.json").refuses("not permitted")


def interrupted(pcnet, folder: Path) -> tuple[str, ...]:
    command = (
        "train",
        "--runs",
        "2",
        "--threads",
        "1",
        "--set",
        "epochs=4",
        "--set",
        "hidden=2",
        "--out",
        folder.name,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pcnet.cli._train.RunFolder.write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert pcnet(*command)[0] == 130
    assert (folder / "checkpoint" / "block-0.safetensors").exists()
    return command


def test_resumed_with_other_settings(pcnet, place, written):
    command = interrupted(pcnet, place / "run")
    before = written()
    pcnet(*command, "--resume", "--set", "t=0.3").refuses("has other data, settings or splits")
    pcnet(*command, "--resume", "--seed", "5").refuses("has other data, settings or splits")
    assert written() == before
    pcnet(*command).refuses("The folder run is not empty")
    assert pcnet(*command, "--resume").code == 0


def test_resumed_from_a_damaged_checkpoint(pcnet, place, written):
    command = interrupted(pcnet, place / "run")
    before = written()
    path = place / "run" / "checkpoint" / "block-0.safetensors"
    path.write_bytes(path.read_bytes()[:-7])
    pcnet(*command, "--resume").refuses("is damaged")
    assert written() == before


@pytest.mark.parametrize("file", ["out1_node_feature_label.txt", "out1_graph_edges.txt", "texas_split_0.6_0.2_3.npz"])
def test_truncated_data(file, real, pcnet, place, tmp_path, written):
    shutil.copytree(real / "webkb" / "texas", tmp_path / "data" / "webkb" / "texas")
    path = tmp_path / "data" / "webkb" / "texas" / "raw" / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    answer = pcnet("train", "texas", "--data", tmp_path / "data")
    answer.refuses("again")
    assert written() == []


def ordinary() -> Graph:
    return csbm(60, 0.5, features=4, seed=0)


def trained_on(train_nodes: list[int], labels: list[int]) -> None:
    rest = [node for node in range(len(labels)) if node not in train_nodes]
    Targets.from_split(Split(train_nodes, rest[:2], rest[2:], labels))


def graph_with(x: torch.Tensor | None = None, y: torch.Tensor | None = None, edge: int = 1) -> Graph:
    x = torch.ones(3, 2) if x is None else x
    y = torch.tensor([0, 1, 0]) if y is None else y
    return Graph(torch.tensor([[0], [edge]]), x, y)


def model_without_weights(folder: Path) -> None:
    (folder / "m.json").write_text(
        '{"format": 1, "model": "PCNet", "in_channels": 2, "out_channels": 2, "settings": {"hidden": 2}}'
    )
    load_model(folder / "m")


LIBRARY = {
    "empty graph": (lambda _: graph_with(torch.ones(0, 2), torch.zeros(0, dtype=torch.int64)), "no nodes"),
    "NaN features": (lambda _: graph_with(torch.tensor([[1.0], [float("nan")], [0.0]])), "NaN or infinite"),
    "infinite features": (
        lambda _: graph_with(torch.tensor([[1.0], [float("inf")], [0.0]])),
        "NaN or infinite",
    ),
    "edge out of range": (lambda _: graph_with(edge=3), "Edge endpoint 3 is out of range"),
    "too few labels": (lambda _: graph_with(y=torch.tensor([0, 1])), "give one per node"),
    "labels in floats": (lambda _: graph_with(y=torch.tensor([0.0, 1.0, 0.0])), "must be integers"),
    "one class only": (lambda _: trained_on([0, 1], [0] * 6), "one class"),
    "no train node in a class": (
        lambda _: trained_on([0, 2], [0, 1, 0, 1, 0, 1]),
        "no train node in class 1",
    ),
    "train node out of range": (lambda _: trained_on([0, 9], [0, 1, 0, 1, 0, 1]), "names node 9"),
    "no run": (lambda _: train(ordinary(), []), "nothing to train"),
    "negative seed of a run": (
        lambda _: Run(PCNetSettings(), TrainingSettings(), None, -2),
        "must be an integer from 0",
    ),
    "no model": (lambda folder: load_model(folder / "m"), "There is no file"),
    "model without weights": (model_without_weights, "weights of"),
}


@pytest.mark.parametrize("case", LIBRARY)
def test_library(case, place, written):
    call, words = LIBRARY[case]
    with pytest.raises(PcnetError) as error:
        call(place)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_enough_distinct_cases():
    sentences = {words for _, words in (*COMMANDS.values(), *FOLDERS.values(), *LIBRARY.values())}
    assert len(sentences) >= 40


def test_the_embedded_graph_is_not_what_is_wrong():
    assert load_embedded().num_nodes == 3327


def test_stdout_of_a_refusal_is_empty(pcnet):
    code, out, err = pcnet("train", "citseer", "--json", "-")
    assert (code, out) == (2, "")
    assert "citeseer" in err


def test_a_terminal_that_knows_only_ascii(process, monkeypatch):
    """Characters that it lacks look alike, and nothing stops."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    answer = process("train", EXAMPLES / "people", "--runs", 1, "--set", "epochs=1")
    assert answer.code == 0
    assert answer.out.isascii()
    assert "because they leave [-1, 1] or have empty cells" in answer.out
