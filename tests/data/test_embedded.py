"""The CiteSeer inside the package is the CiteSeer of the raw files."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import torch

from pcnet.data import load_dataset, load_embedded
from pcnet.data._load import EMBEDDED_FILE


def test_equals_raw_files(load):
    ours, raw = load_embedded(), load("citeseer")
    assert torch.equal(ours.edge_index, raw.edge_index)
    for part in ("crow", "col", "values"):
        mine, theirs = getattr(ours.x, part), getattr(raw.x, part)
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine, theirs)
    assert ours.x.shape == raw.x.shape
    assert torch.equal(ours.y, raw.y)
    assert torch.equal(ours.published_y, raw.published_y)
    assert ours.notes == raw.notes


def test_used_when_nothing_else_is_there(alone):
    graph = load_dataset("citeseer")
    assert graph.num_nodes == 3327
    assert graph.fixed_splits == ()


def test_takes_fixed_splits_from_the_data_folder(alone, real):
    shutil.copytree(real / "planetoid/CiteSeer/geom-gcn", alone / "planetoid/CiteSeer/geom-gcn")
    assert len(load_dataset("citeseer").fixed_splits) == 10


def test_small_and_as_noted():
    assert EMBEDDED_FILE.stat().st_size < 300 * 1024
    assert hashlib.sha256(EMBEDDED_FILE.read_bytes()).hexdigest() in EMBEDDED_FILE.with_suffix(".txt").read_text()


def test_maker_is_reproducible(real, tmp_path):
    maker = Path(__file__).parents[2] / "tools" / "embed_citeseer.py"
    out = tmp_path / "citeseer.npz"
    command = [sys.executable, str(maker), str(real / "planetoid/CiteSeer/raw"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    assert out.read_bytes() == EMBEDDED_FILE.read_bytes()
    assert out.with_suffix(".txt").read_text() == EMBEDDED_FILE.with_suffix(".txt").read_text()
