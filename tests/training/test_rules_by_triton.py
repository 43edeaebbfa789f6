"""The rule that stops runs on a GPU, by Triton's interpreter: it judges as NumPy does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")

#: In a process of its own: whether Triton interprets is settled when it is imported.
PROGRAM = """
import numpy as np, torch, triton.language
from pcnet import TrainingSettings
from pcnet.training import _block, kernels
from pcnet.training._device_block import Ledger

_block.tl = triton.language  # The interpreter looks for it where the rule is defined.
rng = np.random.default_rng(0)
settings = [
    TrainingSettings(epochs=rng.integers(1, 30), patience=rng.integers(1, 7), stopping=stopping, select=select)
    for stopping in ("window", "patience", "none")
    for select in ("val_loss", "val_accuracy")
    for _ in range(6)
]
runs = len(settings)
# Eighths: sums are exact, and equal values come often.
loss, score = (rng.integers(0, 24, (30, runs)) / 8 for _ in range(2))
loss[rng.random(loss.shape) < 0.02] = np.inf
loss[rng.random(loss.shape) < 0.02] = np.nan


class Block:
    device, members, next_epoch = torch.device("cpu"), list(range(runs)), 0
    history = _block.History(settings)


ledger = Ledger(Block())
history, active = _block.History(settings), list(range(runs))
for epoch in range(30):
    # As parts to be added up, as the kernel before gives them.
    parts = [torch.from_numpy(np.stack([each[epoch] / 4, each[epoch] * 3 / 4])).float() for each in (loss, score)]
    kernels.record(ledger, *parts)
    ledger.epoch += 1
    improved = []
    if active:
        improved, stopped = history.record(active, epoch, loss[epoch, active], score[epoch, active])
        active = [run for run in active if run not in stopped]
    assert ledger.improved.nonzero()[:, 0].tolist() == improved, epoch
    assert ledger.alive.nonzero()[:, 0].tolist() == active, epoch
    assert ledger.best_epoch.tolist() == history.best_epoch.tolist(), epoch
    assert ledger.epochs_done.tolist() == history.epochs.tolist(), epoch
assert len(set(history.epochs.tolist())) > 5
"""


def test_the_kernel_judges_as_numpy_does():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
