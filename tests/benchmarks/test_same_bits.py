"""Whether two checkouts train the same: a checkout beside a copy of it, as it is and with a change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.same_bits import fingerprint, main

from pcnet._files import read_json

ROOT = Path(__file__).parents[2]


def compare(other: Path, tmp_path: Path) -> None:
    words = ["--before", str(ROOT), "--after", str(other), "--epochs", "2", "--runs", "1", "--graphs", "citeseer"]
    main([*words, "--store", str(tmp_path / "kept"), "--json", str(tmp_path / "bits.json")])


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src" / "pcnet", tmp_path / "copy" / "src" / "pcnet")
    return tmp_path / "copy"


def test_what_is_read_is_what_is_hashed(copy):
    assert fingerprint(copy) == fingerprint(ROOT)


def test_no_checkout(tmp_path):
    with pytest.raises(SystemExit, match="no checkout of pcnet"):
        fingerprint(tmp_path)


@pytest.mark.slow
def test_the_same_sources_train_the_same_and_another_seed_does_not(copy, tmp_path):
    compare(copy, tmp_path)
    (row,) = read_json(tmp_path / "bits.json")["rows"]
    assert (row["models"], row["scores"]) == ("the same", "the same")
    assert row["tensors"] > 0
    # Copied files are the same sources, so that one training stands for both.
    assert len(list((tmp_path / "kept").iterdir())) == 1
    seeded = [file for file in copy.rglob("*.py") if "manual_seed(seed)" in file.read_text(encoding="utf-8")]
    for file in seeded:
        file.write_text(file.read_text(encoding="utf-8").replace("manual_seed(seed)", "manual_seed(seed + 1)"), "utf-8")
    fingerprint.cache_clear()
    with pytest.raises(SystemExit, match="1"):
        compare(copy, tmp_path)
    (row,) = read_json(tmp_path / "bits.json")["rows"]
    assert row["models"] == "**different**"
