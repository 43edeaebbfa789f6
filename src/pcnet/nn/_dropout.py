"""Dropout whose random bits belong to a run, not to a process."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.errors import PcnetError


class Draws:
    """The random bits of one training step, one generator for each run.

    Run r at epoch e reads the stream seeded by (seed_r, e): the draws do not depend on which other runs are trained
    beside it, nor on what was drawn in earlier epochs, so a resumed training needs no generator state.
    """

    def __init__(self, seeds: Sequence[int], epoch: int) -> None:
        self._generators = [np.random.Generator(np.random.SFC64([seed, epoch])) for seed in seeds]

    @staticmethod
    def from_torch(runs: int) -> Draws:
        """Draws governed by `torch.manual_seed`, for models that are trained by hand."""
        return Draws(torch.randint(2**31, (runs,)).tolist(), 0)

    def keep(self, run: int, shape: Sequence[int], rate: float) -> NDArray[np.bool_]:
        """True with probability 1 − rate, to the 65,536th.

        Torch draws one number for each element and compares it; here one 64-bit draw decides four elements, and
        NumPy compares 16-bit integers ten times faster than torch. The generator leaves Python's lock while it draws.
        """
        count = math.prod(shape)
        words = self._generators[run].integers(0, 2**64, size=(count + 3) // 4, dtype=np.uint64)
        return (words.view(np.uint16)[:count] >= round(rate * 65536)).reshape(shape)


def check_rate(name: str, rate: float) -> None:
    """A dropout rate lies in [0, 1)."""
    if not 0.0 <= rate < 1.0:
        raise PcnetError(f"{name} = {rate} is not a dropout rate; it must be at least 0 and less than 1.")


@torch.compiler.disable
def dropout(x: Tensor, rates: Sequence[float], draws: Draws) -> Tensor:
    """x ∘ keep / (1 − rate) for x of shape (R, n, d), with one rate for each run."""
    if not any(rates):
        return x
    runs, n, width = x.shape
    # Laid out as the columns of a propagation, (n, R, d), so that neither factor is copied there.
    scale = np.ones((n, runs, width), dtype=np.float32)
    for run, rate in enumerate(rates):
        if rate:
            np.multiply(draws.keep(run, (n, width), rate), np.float32(1 / (1 - rate)), out=scale[:, run])
    return x * torch.from_numpy(scale).permute(1, 0, 2).to(x)
