"""Dropout whose random bits belong to a run, not to a process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.errors import PcnetError
from pcnet.nn._module import device_vector, held
from pcnet.propagate import LinearMap


class Draws:
    """The random bits of one training step, one generator for each run.

    Run r at epoch e reads the stream seeded by (seed_r, e): the draws do not depend on which other runs are trained
    beside it, nor on what was drawn in earlier epochs, so a resumed training needs no generator state.
    """

    def __init__(self, seeds: Sequence[int], epoch: int) -> None:
        self._generators = [np.random.SFC64([seed, epoch]) for seed in seeds]

    def keep(self, run: int, shape: Sequence[int], rate: float) -> NDArray[np.bool_]:
        """True with probability 1 − rate, to the 65,536th.

        Torch draws one number for each element and compares it; here one 64-bit draw decides four elements, and
        NumPy compares 16-bit integers ten times faster than torch. The generator leaves Python's lock while it draws.
        """
        count = math.prod(shape)
        words = self._generators[run].random_raw((count + 3) // 4)
        return (words.view(np.uint16)[:count] >= round(rate * 65536)).reshape(shape)

    def seed(self, run: int) -> int:
        """A seed for what draws in its own way, from the run's stream."""
        return int(self._generators[run].random_raw()) >> 1


class DeviceDraws:
    """Draws on a GPU: kernels hash (seed, epoch, layer, element), so nothing is stored and nothing depends on order.

    `epoch` is a number on the device: a captured step reads it anew each time it is replayed.
    """

    def __init__(self, seeds: Tensor, epoch: Tensor) -> None:
        self.seeds, self.epoch = seeds, epoch

    @staticmethod
    def idle(runs: int, device: torch.device) -> DeviceDraws:
        """For steps without dropout, which still name their source."""
        return DeviceDraws(*(held(torch.zeros, size, device=device, dtype=torch.int64) for size in ((runs,), ())))


def draws_from_torch(runs: int, device: torch.device) -> Draws | DeviceDraws:
    """Draws governed by `torch.manual_seed`, for models that are trained by hand."""
    seeds = torch.randint(2**31, (runs,))
    if device.type != "cuda":
        return Draws(seeds.tolist(), 0)
    return DeviceDraws(seeds.to(device), torch.zeros((), dtype=torch.int64, device=device))


def check_rate(name: str, rate: float) -> None:
    """A dropout rate lies in [0, 1)."""
    if not 0.0 <= rate < 1.0:
        raise PcnetError(f"{name} = {rate} is not a dropout rate; it must be at least 0 and less than 1.")


def drop(x: Tensor, rates: tuple[float, ...], draws: Draws | DeviceDraws | None, place: int) -> Tensor:
    """x ∘ keep / (1 − rate) for x (R, n, d) and a rate for each run; on a GPU `place` tells a step's draws apart."""
    if draws is None or not any(rates):
        return x
    if isinstance(draws, DeviceDraws):
        from pcnet.nn import device as kernels

        masked = partial(kernels.masked, draws=draws, dropout=kernels.Dropout(device_vector(rates, x.device), place))
        # The mask is hashed anew on the way back instead of kept.
        return LinearMap.apply(x, masked, masked)
    runs, n, width = x.shape
    # Laid out as the columns of a propagation, (n, R, d), so that neither factor is copied there.
    scale = np.ones((n, runs, width), dtype=np.float32)
    for run, rate in enumerate(rates):
        if rate:
            np.multiply(draws.keep(run, (n, width), rate), np.float32(1 / (1 - rate)), out=scale[:, run])
    return x * torch.from_numpy(scale).permute(1, 0, 2).to(x)
