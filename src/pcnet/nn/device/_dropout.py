"""Dropout inside kernels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.nn._dropout import DeviceDraws
from pcnet.propagate.kernels import keep_scale


@dataclass(frozen=True)
class Dropout:
    """Rates of all runs, and a number that tells these draws from those before other layers."""

    rates: Tensor
    layer: int


@triton.jit
def dropped(x, scale):
    """x · scale, and −0 where the scale is 0: on the way back, −0 tells a dropped unit from one that is 0."""
    kept = x * scale
    # As bits: the compiler takes a constant −0 for 0.
    bits = tl.where(kept == 0, 0, kept.to(tl.int32, bitcast=True))
    return tl.where(scale > 0, bits, -2147483648).to(tl.float32, bitcast=True)


@triton.jit
def _mask_kernel(
    x, out, rates, seeds, epoch, layer, rows, width, row_stride, run_stride, BLOCK: tl.constexpr
):  # fmt: skip
    """out = x ∘ keep/(1−rate); x[run, row, column] at any two strides."""
    run = tl.program_id(1).to(tl.int64)
    element = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = element < rows * width
    place = (element // width).to(tl.int64) * row_stride + run * run_stride + element % width
    value = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
    value = dropped(value, keep_scale(seeds, epoch, run, layer, tl.load(rates + run), element))
    tl.store(out + place, value, mask=mask)


def masked(x: Tensor, draws: DeviceDraws, dropout: Dropout | None) -> Tensor:
    """x ∘ keep/(1−rate) for x (R, n, d), contiguous or with its first two axes exchanged."""
    if dropout is None:
        return x
    runs, rows, width = x.shape
    out = torch.empty_like(x)
    block = 256
    _mask_kernel[(triton.cdiv(rows * width, block), runs)](
        x, out, dropout.rates, draws.seeds, draws.epoch, dropout.layer, rows, width, *strides(x), BLOCK=block
    )
    return out


def rates_and_layer(dropout: Dropout | None, otherwise: Tensor) -> tuple[Tensor, int]:
    return (otherwise, 0) if dropout is None else (dropout.rates, dropout.layer)


def strides(x: Tensor) -> tuple[int, int]:
    """Steps from node to node and from run to run of (R, n, d)."""
    return x.stride(1), x.stride(0)
