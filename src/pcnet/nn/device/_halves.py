"""Matrices as pairs of sixteen-bit numbers, and back; see `DenseFeatures`."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


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
    unscale = torch.empty(runs, device=weight.device)
    largest = torch.linalg.vector_norm(weight, torch.inf, dim=(1, 2)) if split else unscale
    _factors_kernel[(triton.cdiv(features, 32), runs)](
        weight, out, largest, unscale, unscale if unscale_x is None else unscale_x, features, width, out.shape[1],
        SPLIT=split, FEATURES=32, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return unscale if split else None


def collect(first: Tensor, second: Tensor, unscale: Tensor, unscale_x: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """Xᵀ·G of R runs out of the parts that `DenseFeatures` multiplied."""
    runs, features, width = shape
    out = torch.empty(shape, device=first.device)
    _collect_kernel[(triton.cdiv(features, 32), runs)](
        first, second, out, unscale, unscale_x, runs, features, len(second), width,
        FEATURES=32, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return out
