"""A search on a GPU: large blocks, and nothing of them left behind."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
import torch

from pcnet.experiment import splits_of
from pcnet.training import Run, Targets, _division, train_each
from pcnet.tune import tune

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning"),
]


@pytest.mark.parametrize("size", [7, 1024])
def test_a_search_on_a_gpu(graph, asked, tmp_path, monkeypatch, size):
    monkeypatch.setattr(_division, "DEVICE_RUNS", size)
    asked = replace(asked, trials=40, leak=True)
    tuned = tune(graph, asked, tmp_path / "gpu", device="cuda")
    assert len(tuned.results.ranking(3)) == 41
    host = tune(graph, asked, tmp_path / "cpu")
    accuracy, expected = (
        np.array([[t.results.scores[trial][split].gain for split in range(3)] for trial in range(40)])
        for t in (tuned, host)
    )
    # Another order of sums and other dropout bits: the same learning, not the same numbers.
    assert np.abs(accuracy - expected).mean() < 0.1


def test_blocks_are_given_back(graph, asked, monkeypatch):
    monkeypatch.setattr(_division, "DEVICE_RUNS", 32)
    targets = [Targets.from_split(split) for split in splits_of(graph, asked.experiment)]
    drawn = [asked.settings(trial, asked.space.draw(0, trial)) for trial in range(96)]
    runs = [Run(*settings, targets[trial % 3], trial % 3) for trial, settings in enumerate(drawn)]

    def epochs():
        return train_each(graph, runs, device="cuda", collect=lambda index, outcome: outcome.epochs)

    assert len(epochs()) == 96
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        epochs()
    gc.collect()
    assert torch.cuda.memory_allocated() <= before + 2**20
