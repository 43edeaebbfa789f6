"""Bad names, files, splits and settings each get one sentence that says what to do."""

from __future__ import annotations

import collections
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from pcnet.data import Split, csbm, load_dataset, make_split, normalise_rows
from pcnet.data._load import unpickle, unpickle_npy
from pcnet.errors import PcnetError
from pcnet.graph import Graph

LABELS = [0, 1, 0, 1, 0, 1, -1]


def graph(y: list[int], **more: object) -> Graph:
    return Graph(torch.tensor([[0], [1]]), torch.ones(len(y), 1), torch.tensor(y), name="mine", **more)


BIG = graph([0, 1] * 1000)
CASES = {
    "unknown dataset": (lambda: load_dataset("coar"), "no dataset 'coar'. Did you mean 'cora'?"),
    "no data folder": (
        lambda: load_dataset("cora", "no/such/folder"),
        "There is no data folder no/such/folder",
    ),
    "unknown protocol": (lambda: make_split(BIG, "random-60-20", 0), "Did you mean 'random-60-20-20'?"),
    "negative seed": (lambda: make_split(BIG, "random-60-20-20", -1), "from 0 to 4294967295"),
    "seed too large": (lambda: make_split(BIG, "random-60-20-20", 2**32), "from 0 to 4294967295"),
    "seed not an integer": (lambda: make_split(BIG, "random-60-20-20", 0.5), "must be an integer"),
    "no fixed splits": (lambda: make_split(BIG, "fixed-48-32-20", 0), "mine has no fixed splits"),
    "too few nodes": (lambda: make_split(graph([0, 1] * 20), "sparse-2.5-2.5-95", 0), "too few"),
    "too small for the counts": (lambda: make_split(graph([0, 1] * 50), "semi-20-500-1000", 0), "too small"),
    "nothing labelled": (lambda: make_split(graph([-1, -1]), "random-60-20-20", 0), "0 labelled nodes"),
    "one class": (lambda: make_split(graph([0] * 100), "random-60-20-20", 0), "one class"),
    "empty test": (lambda: Split([0, 1], [2], [], LABELS), "test set is empty"),
    "empty train mask": (
        lambda: Split(torch.zeros(7, dtype=torch.bool), [2], [3], LABELS),
        "train set is empty",
    ),
    "overlap": (lambda: Split([0, 1], [2, 3], [3, 4], LABELS), "Node 3 is in the val and the test set"),
    "twice": (lambda: Split([0, 1, 1], [2], [3], LABELS), "names node 1 twice"),
    "id too large": (lambda: Split([0, 1], [2], [7], LABELS), "names node 7; node ids run from 0 to 6"),
    "id negative": (lambda: Split([-1, 1], [2], [3], LABELS), "names node -1"),
    "unlabelled node": (lambda: Split([0, 1], [2], [6], LABELS), "node 6, which has no label"),
    "no train node in a class": (lambda: Split([0, 2], [1], [3], LABELS), "no train node in class 1"),
    "float ids": (lambda: Split([0.0, 1.0], [2], [3], LABELS), "train must be one list of integers"),
    "labels are a mask": (lambda: Split([0, 1], [2], [3], [True] * 7), "labels must be one list of integers"),
    "labels of a wrong shape": (lambda: Split([0, 1], [2], [3], [LABELS]), "labels must be one list"),
    "mask of a wrong length": (lambda: Split([True, False], [2], [3], LABELS), "2 entries for 7 nodes"),
    "phi": (lambda: csbm(phi=1.5), "outside [-1, 1]"),
    "phi is NaN": (lambda: csbm(phi=float("nan")), "outside [-1, 1]"),
    "classes": (lambda: csbm(classes=1), "two classes"),
    "more classes than nodes": (lambda: csbm(n=3, classes=3), "3 classes on 3 nodes"),
    "features": (lambda: csbm(features=0), "at least one feature"),
    "degree": (lambda: csbm(average_degree=0), "must be positive"),
    "degree below the signal": (lambda: csbm(average_degree=2, phi=1), "raise average_degree"),
    "degree above n": (lambda: csbm(n=20, average_degree=30), "link probability"),
    "epsilon": (lambda: csbm(epsilon=-2), "at least -1"),
    "negative csbm seed": (lambda: csbm(seed=-1), "must not be negative"),
    "negative features": (lambda: normalise_rows(torch.tensor([[1.0, -1.0]])), "negative values"),
    "integer features": (lambda: normalise_rows(torch.tensor([[1, 1]])), "floating point"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(case):
    call, words = CASES[case]
    with pytest.raises(PcnetError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_fixed_split_out_of_range():
    ids = tuple(torch.tensor(part) for part in ([0, 1], [2], [3]))
    with pytest.raises(PcnetError, match=r"fixed splits 0 to 1; there is no split 2"):
        make_split(graph(LABELS, fixed_splits=(ids, ids)), "fixed-48-32-20", 2)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("cora", ["planetoid/Cora/raw", "ind.cora.allx", "ind.cora.graph", "ind.cora.test.index"]),
        ("texas", ["webkb/texas/raw", "out1_node_feature_label.txt", "out1_graph_edges.txt"]),
        ("penn94", ["linkx/penn94/raw", "data.mat"]),
    ],
)
def test_missing_data_names_folder_and_files(name, files, alone):
    with pytest.raises(PcnetError) as error:
        load_dataset(name)
    assert all(file in str(error.value) for file in [str(alone), *files])
    assert "no network in this test" in str(error.value)
    assert list(alone.iterdir()) == []


def test_missing_data_without_any_folder(alone, monkeypatch):
    monkeypatch.delenv("PCNET_DATA")
    with pytest.raises(PcnetError, match="named by PCNET_DATA or --data"):
        load_dataset("cora")


def test_real_network_failure_is_quick(tmp_path, monkeypatch):
    # Port 9 of this machine: refused at once, whether or not there is a network.
    monkeypatch.setenv("PCNET_CACHE", str(tmp_path))
    monkeypatch.setattr("torch_geometric.datasets.WebKB.url", "http://127.0.0.1:9")
    with pytest.raises(PcnetError, match="download failed"):
        load_dataset("texas", tmp_path)


def copied(real: Path, folder: str, to: Path) -> Path:
    shutil.copytree(real / folder, to / folder)
    return to / folder


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cora", "planetoid/Cora/raw/ind.cora.allx"),
        ("cora", "planetoid/Cora/raw/ind.cora.ty"),
        ("cora", "planetoid/Cora/raw/ind.cora.graph"),
        ("cora", "planetoid/Cora/raw/ind.cora.test.index"),
        ("cora", "planetoid/Cora/geom-gcn/raw/cora_split_0.6_0.2_7.npz"),
        ("texas", "webkb/texas/raw/out1_node_feature_label.txt"),
        ("texas", "webkb/texas/raw/out1_graph_edges.txt"),
        ("actor", "actor/raw/out1_node_feature_label.txt"),
        ("reed98", "linkx/reed98/raw/data.mat"),
    ],
)
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.995])
def test_truncated_file(name, file, keep, real, alone):
    copied(real, str(Path(*Path(file).parts[:2])), alone)
    path = alone / file
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with pytest.raises(PcnetError) as error:
        load_dataset(name)
    # Cut at the end of a line a table still parses; then the counts of the dataset give it away.
    assert path.name in str(error.value) or "pcnet data verify" in str(error.value)
    assert "again" in str(error.value)


def test_edge_beyond_the_graph(real, alone):
    folder = copied(real, "webkb/texas", alone)
    with (folder / "raw/out1_graph_edges.txt").open("a") as stream:
        stream.write("5\t183\n")
    with pytest.raises(PcnetError, match="beyond its 183 nodes"):
        load_dataset("texas")


def test_some_split_files_missing(real, alone):
    folder = copied(real, "webkb/texas", alone)
    (folder / "raw/texas_split_0.6_0.2_4.npz").unlink()
    with pytest.raises(PcnetError, match=r"texas_split_0\.6_0\.2_4\.npz"):
        load_dataset("texas")


class Malicious:
    """Runs a command when it is unpickled without care."""

    def __reduce__(self):
        return os.system, ("touch owned",)


ATTACKS = {
    "protocol 0": pickle.dumps(Malicious(), 0),
    "protocol 2": pickle.dumps({"graph": [Malicious()]}, 2),
    "protocol 5": pickle.dumps(Malicious(), 5),
    "eval": b"cbuiltins\neval\n(V1\ntR.",
    "a method of an allowed class": b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.dump\x93.",
    "another function of an allowed module": b"cnumpy\nload\n(Vx\ntR.",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_malicious_pickle_is_refused(attack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ind.cora.graph"
    path.write_bytes(ATTACKS[attack])
    with pytest.raises(PcnetError, match=r"Refused to read .*ind\.cora\.graph"):
        unpickle(path)
    assert not (tmp_path / "owned").exists()


def test_malicious_npy_is_refused(tmp_path):
    path = tmp_path / "splits.npy"
    np.save(path, np.array([Malicious()], dtype=object), allow_pickle=True)
    with pytest.raises(PcnetError, match=r"Refused to read .*splits\.npy"):
        unpickle_npy(path)


def test_harmless_pickles_are_read(tmp_path):
    path = tmp_path / "value"
    value = collections.defaultdict(list, {0: [1, 2]})
    path.write_bytes(pickle.dumps(value, protocol=2))
    assert unpickle(path) == value
    np.save(path.with_suffix(".npy"), np.array([{"train": np.arange(3)}], dtype=object), allow_pickle=True)
    assert unpickle_npy(path.with_suffix(".npy"))[0]["train"].tolist() == [0, 1, 2]
