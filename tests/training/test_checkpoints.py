"""A training that was interrupted and continued ends with the bits of one that never was."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch

from pcnet import PcnetError, train
from pcnet.training import clear_checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


class Interruption(BaseException):
    """Like KeyboardInterrupt, nothing that a training would handle."""


class Fuse:
    """Interrupts after a number of reports."""

    def __init__(self, reports: int) -> None:
        self.left, self.lock, self.total = reports, threading.Lock(), 0

    def stage(self, title: str, total: int) -> None: ...

    def advance(self, units: int = 1) -> None:
        with self.lock:
            self.left -= 1
            self.total += units
            if self.left < 0:
                raise Interruption


@pytest.fixture
def eager(monkeypatch):
    """A checkpoint after every epoch."""
    monkeypatch.setattr("pcnet.training._train.CHECKPOINT_INTERVAL", -1.0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [[0], [3], [17, 4], [8, 1, 0, 5], [20]])
def test_interrupted_and_resumed(graph, varied, same, eager, tmp_path, threads, steps):
    for place, reports in enumerate(steps):
        with pytest.raises(Interruption):
            train(graph, varied, threads=threads, checkpoint=tmp_path, resume=place > 0, progress=Fuse(reports))
    # With another number of threads: the division into blocks is that of the interrupted training.
    resumed = train(graph, varied, threads=3 - threads, checkpoint=tmp_path, resume=True)
    assert all(map(same, resumed, train(graph, varied, threads=1)))


def test_resuming_goes_on_and_does_not_start_over(dense, varied, eager, tmp_path):
    runs = [replace(run, training=replace(run.training, stopping="none", epochs=30)) for run in varied]
    with pytest.raises(Interruption):
        train(dense, runs, threads=1, checkpoint=tmp_path, progress=Fuse(21))
    fuse = Fuse(1000)
    train(dense, runs, threads=1, checkpoint=tmp_path, progress=fuse, resume=True)
    assert fuse.total == 30 * len(runs)
    # One report of what was done before, then one for each epoch that remains.
    assert 1000 - fuse.left <= 1 + 10


def test_rare_checkpoints_are_right_too(dense, varied, same, tmp_path, monkeypatch):
    monkeypatch.setattr("pcnet.training._train.CHECKPOINT_INTERVAL", 0.02)
    with pytest.raises(Interruption):
        train(dense, varied, threads=1, checkpoint=tmp_path, progress=Fuse(15))
    resumed = train(dense, varied, checkpoint=tmp_path, resume=True)
    assert all(map(same, resumed, train(dense, varied)))


def test_a_finished_training_is_read_back(dense, varied, same, tmp_path):
    first = train(dense, varied, checkpoint=tmp_path)
    fuse = Fuse(100)
    again = train(dense, varied, checkpoint=tmp_path, resume=True, progress=fuse)
    assert all(map(same, first, again))
    # All there is to do is settled at once.
    assert 100 - fuse.left <= len(varied)
    assert fuse.total == sum(run.training.epochs for run in varied)


def test_without_resume_it_starts_anew(dense, varied, same, eager, tmp_path):
    with pytest.raises(Interruption):
        train(dense, varied, threads=2, checkpoint=tmp_path, progress=Fuse(10))
    (tmp_path / "block-1.safetensors").write_bytes(b"from another training")
    outcomes = train(dense, varied, threads=2, checkpoint=tmp_path)
    assert all(map(same, outcomes, train(dense, varied)))


@pytest.fixture
def interrupted(dense, varied, eager, tmp_path):
    with pytest.raises(Interruption):
        train(dense, varied, threads=1, checkpoint=tmp_path, progress=Fuse(9))
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "block-0.safetensors"}
    return tmp_path


def other_data(dense, varied):
    return replace(dense, x=dense.x * 2), varied


def other_edges(dense, varied):
    return replace(dense, edge_index=dense.edge_index[:, (dense.edge_index > 0).all(0)]), varied


def other_settings(dense, varied):
    return dense, [*varied[:-1], replace(varied[-1], model=replace(varied[-1].model, t=0.1))]


def other_training(dense, varied):
    return dense, [replace(varied[0], training=replace(varied[0].training, epochs=26)), *varied[1:]]


def other_seed(dense, varied):
    return dense, [replace(varied[0], seed=1), *varied[1:]]


def other_split(dense, varied):
    return dense, [replace(varied[0], targets=varied[1].targets), *varied[1:]]


def other_classes(dense, varied):
    return dense, [replace(run, targets=replace(run.targets, num_classes=4)) for run in varied]


def fewer_runs(dense, varied):
    return dense, varied[1:]


@pytest.mark.parametrize(
    "change",
    [
        other_data,
        other_edges,
        other_settings,
        other_training,
        other_seed,
        other_split,
        other_classes,
        fewer_runs,
    ],
)
def test_something_else_is_not_continued(dense, varied, interrupted, change):
    before = {path.name: path.read_bytes() for path in interrupted.iterdir()}
    graph, runs = change(dense, varied)
    with pytest.raises(PcnetError, match="has other data, settings or splits"):
        train(graph, runs, checkpoint=interrupted, resume=True)
    assert {path.name: path.read_bytes() for path in interrupted.iterdir()} == before


def cut(path, share):
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def without(path, name):
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    tensors = safetensors.torch.load_file(path)
    safetensors.torch.save_file({key: t for key, t in tensors.items() if key != name}, path, metadata)


def reshaped(path, name):
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    tensors = safetensors.torch.load_file(path)
    safetensors.torch.save_file({**tensors, name: torch.zeros(2, 2)}, path, metadata)


BLOCK_DAMAGE = {
    "empty": lambda path: cut(path, 0),
    "half": lambda path: cut(path, 0.5),
    "almost whole": lambda path: cut(path, 0.999),
    "text": lambda path: path.write_text("not a checkpoint " * 20),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "tensor missing": lambda path: without(path, "parameter.1"),
    "moments missing": lambda path: without(path, "optimizer.mean.0"),
    "wrong shape": lambda path: reshaped(path, "parameter.1"),
    "no numbers": lambda path: safetensors.torch.save_file(safetensors.torch.load_file(path), path),
    "numbers are no JSON": lambda path: safetensors.torch.save_file(
        safetensors.torch.load_file(path), path, {"numbers": "{"}
    ),
}


@pytest.mark.parametrize("damage", BLOCK_DAMAGE)
def test_a_damaged_block(dense, varied, interrupted, damage):
    path = interrupted / "block-0.safetensors"
    BLOCK_DAMAGE[damage](path)
    with pytest.raises(PcnetError, match=r"block-0\.safetensors is damaged .* start anew"):
        train(dense, varied, checkpoint=interrupted, resume=True)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "null", '{"fingerprint": 3}', "\x00" * 40])
def test_a_damaged_plan(dense, varied, interrupted, text):
    (interrupted / "plan.json").write_text(text)
    with pytest.raises(PcnetError, match=r"plan\.json"):
        train(dense, varied, checkpoint=interrupted, resume=True)


def test_a_plan_with_other_blocks(dense, varied, interrupted):
    plan = json.loads((interrupted / "plan.json").read_text())
    (interrupted / "plan.json").write_text(json.dumps({**plan, "blocks": [[0, 1], [1, 2]]}))
    with pytest.raises(PcnetError, match=r"plan\.json is damaged"):
        train(dense, varied, checkpoint=interrupted, resume=True)


def test_nothing_in_a_checkpoint_can_run_code(interrupted):
    for path in interrupted.iterdir():
        head = path.read_bytes()[:16]
        assert head.startswith(b"{") or head[8:9] == b"{", path.name


def test_clearing_leaves_what_is_not_ours(interrupted):
    (interrupted / ".block-0.safetensors.x1y2.tmp").write_bytes(b"left by a process that was killed while writing")
    (interrupted / "notes.txt").write_text("mine")
    clear_checkpoint(interrupted)
    assert [path.name for path in interrupted.iterdir()] == ["notes.txt"]
    (interrupted / "notes.txt").unlink()
    clear_checkpoint(interrupted)
    assert not interrupted.exists()
    clear_checkpoint(interrupted)


def test_a_checkpoint_that_cannot_be_written(dense, varied, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PcnetError, match="Cannot write"):
        train(dense, varied, checkpoint=tmp_path / "file" / "folder")


def test_seeds_may_be_numpy_integers(dense, varied, same, tmp_path):
    run = replace(varied[0], seed=np.int64(varied[0].seed))
    assert same(train(dense, [run], checkpoint=tmp_path)[0], train(dense, varied[:1])[0])
