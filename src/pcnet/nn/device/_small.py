"""Small kernels: dropout, coefficients, and matrices as pairs of sixteen-bit numbers; see `DenseFeatures`."""

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
    """Rates of all runs, and a number that tells these draws from those before other layers; or none."""

    rates: Tensor | None = None
    layer: int = 0

    def __bool__(self) -> bool:
        return self.rates is not None


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


def masked(x: Tensor, draws: DeviceDraws, dropout: Dropout) -> Tensor:
    """x ∘ keep/(1−rate) for x (R, n, d), contiguous or with its first two axes exchanged."""
    if not dropout:
        return x
    runs, rows, width = x.shape
    out = torch.empty_like(x)
    block = 256
    _mask_kernel[(triton.cdiv(rows * width, block), runs)](
        x, out, dropout.rates, draws.seeds, draws.epoch, dropout.layer, rows, width, *strides(x), BLOCK=block
    )
    return out


def strides(x: Tensor) -> tuple[int, int]:
    """Steps from node to node and from run to run of (R, n, d)."""
    return x.stride(1), x.stride(0)


@triton.jit
def _combine_kernel(
    matrix, x, out, rows, columns, BACK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """out = B x of each run in double precision, or with BACK, Bᵀ x."""
    run = tl.program_id(0)
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    b = tl.load(matrix + (run * rows + i)[:, None] * columns + j[None, :], mask=inside, other=0.0)
    if BACK:
        v = tl.load(x + run * rows + i, mask=i < rows, other=0.0).to(tl.float64)
        tl.store(out + run * columns + j, tl.sum(b * v[:, None], axis=0), mask=j < columns)
    else:
        v = tl.load(x + run * columns + j, mask=j < columns, other=0.0).to(tl.float64)
        tl.store(out + run * rows + i, tl.sum(b * v[None, :], axis=1), mask=i < rows)


def combine(matrix: Tensor, x: Tensor, *, back: bool) -> Tensor:
    """B x, or Bᵀ x, of each run: B (R, rows, columns) and the sums in double precision, x and the result in its own."""
    runs, rows, columns = matrix.shape
    out = x.new_empty(runs, columns if back else rows)
    _combine_kernel[(runs,)](
        matrix, x.contiguous(), out, rows, columns, BACK=back,
        ROWS=triton.next_power_of_2(rows), COLUMNS=triton.next_power_of_2(columns),
    )  # fmt: skip
    return out


@triton.jit
def scale_of(largest):
    """The power of two that takes numbers up to `largest` near the end of float16's range."""
    exponent = (largest.to(tl.int32, bitcast=True) >> 23) & 255
    exponent = tl.minimum(tl.maximum(267 - exponent, 1), 254)
    return (exponent << 23).to(tl.float32, bitcast=True)


@triton.jit
def _factors_kernel(
    weight, out, largest, unscale, unscale_x, features, width, row_length,
    SPLIT: tl.constexpr, FEATURES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Wᵀ of a run, or [W₁ᵀ W₁ᵀ W₂ᵀ], scaled, of its leading digits W₁ and the rest W₂."""
    run = tl.program_id(1).to(tl.int64)
    f = tl.program_id(0) * FEATURES + tl.arange(0, FEATURES)
    i = tl.arange(0, BLOCK)
    mask = (f < features)[:, None] & (i < width)[None, :]
    w = tl.load(weight + (run * features + f)[:, None] * width + i[None, :], mask=mask, other=0.0)
    here = out + (run * width + i)[None, :] * row_length + f[:, None]
    if SPLIT:
        scale = scale_of(tl.load(largest + run))
        if tl.program_id(0) == 0:
            tl.store(unscale + run, tl.load(unscale_x) / scale)
        w *= scale
        leading = w.to(tl.float16)
        third = row_length // 3
        tl.store(here, leading, mask=mask)
        tl.store(here + third, leading, mask=mask)
        tl.store(here + 2 * third, (w - leading.to(tl.float32)).to(tl.float16), mask=mask)
    else:
        tl.store(here, w, mask=mask)


@triton.jit
def _collect_kernel(
    first, second, out, unscale, unscale_x, runs, features, padded, width,
    FEATURES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[run, feature] of the parts X₁ᵀG₁ and X₂ᵀG₁, one below the other, and X₁ᵀG₂, columns of all runs abreast."""
    run = tl.program_id(1).to(tl.int64)
    f = tl.program_id(0) * FEATURES + tl.arange(0, FEATURES)
    i = tl.arange(0, BLOCK)
    mask = (f < features)[:, None] & (i < width)[None, :]
    here = (f[:, None] * runs + run) * width + i[None, :]
    rest = tl.load(first + padded * runs * width + here, mask=mask, other=0.0)
    rest += tl.load(second + here, mask=mask, other=0.0)
    total = tl.load(first + here, mask=mask, other=0.0) + rest
    total *= tl.load(unscale + run) * tl.load(unscale_x)
    tl.store(out + (run * features + f)[:, None] * width + i[None, :], total, mask=mask)


def factors(weight: Tensor, out: Tensor, unscale_x: Tensor | None) -> Tensor | None:
    """Weights (R, features, width) as the rows that `DenseFeatures` multiplies with, and the scale of the product."""
    runs, features, width = weight.shape
    split = unscale_x is not None
    unscale = torch.empty(runs, device=weight.device) if split else None
    largest = torch.linalg.vector_norm(weight, torch.inf, dim=(1, 2)) if split else None
    _factors_kernel[(triton.cdiv(features, 32), runs)](
        weight, out, largest, unscale, unscale_x, features, width, out.shape[1],
        SPLIT=split, FEATURES=32, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return unscale


def collect(first: Tensor, second: Tensor, unscale: Tensor, unscale_x: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """Xᵀ·G of R runs out of the parts that `DenseFeatures` multiplied."""
    runs, features, width = shape
    out = torch.empty(shape, device=first.device)
    _collect_kernel[(triton.cdiv(features, 32), runs)](
        first, second, out, unscale, unscale_x, runs, features, len(second), width,
        FEATURES=32, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return out
