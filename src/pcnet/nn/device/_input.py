"""The first layer on sparse features, forwards and back."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.graph import CSR
from pcnet.nn._dropout import DeviceDraws
from pcnet.nn.device._small import Dropout, dropped, rates_and_layer, strides
from pcnet.propagate.kernels import Tiling, block_of_rows, gather, keep_scale, over_rows

# Chosen by timing 10 and 100 runs on Cora, Texas, Actor and PubMed on an H200.
INPUT = Tiling(64, 32, 4, 4, 64, warps=1)
FEATURES = Tiling(32, 64, 8, 4, 64, warps=2, giant=2048, for_giants=Tiling(128, 256, 8, 4, 64, warps=4))


@triton.jit
def _some_rows(
    rows, start, stop, first, count, col, values, entry, x, bias, out, rates, out_rates, seeds, epoch, layer, width,
    x_row_stride, x_run_stride, row_stride, run_stride,
    BIAS: tl.constexpr, RELU: tl.constexpr, DROP: tl.constexpr, DROP_OUT: tl.constexpr, TWIN: tl.constexpr,
    ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, begin, end, mine = block_of_rows(rows, start, stop, first, count, ROWS)
    run = tl.program_id(1).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    total = gather(
        col, values, entry, x + run * x_run_stride, begin, end, columns, inside, x_row_stride, seeds, epoch, run,
        tl.load(rates + run), DROP, TWIN, ROWS, ENTRIES, BLOCK,
    )  # fmt: skip
    if BIAS:
        total += tl.load(bias + run * width + columns, mask=inside, other=0.0)[None, :]
    if RELU:
        total = tl.maximum(total, 0.0)
    if DROP_OUT:
        element = row[:, None] * width + columns[None, :]
        total = dropped(total, keep_scale(seeds, epoch, run, layer, tl.load(out_rates + run), element))
    here = row[:, None] * row_stride + run * run_stride + columns[None, :]
    tl.store(out + here, total, mask=mine[:, None] & inside[None, :])


@triton.jit
def _rows_kernel(
    rows, start, stop, long, count, col, values, entry, x, bias, out, rates, out_rates, seeds, epoch, layer, width,
    x_row_stride, x_run_stride, row_stride, run_stride,
    BIAS: tl.constexpr, RELU: tl.constexpr, DROP: tl.constexpr, DROP_OUT: tl.constexpr, TWIN: tl.constexpr,
    HAS_LONG: tl.constexpr, LONG: tl.constexpr, ROWS: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[run, row] = δ_2(σ(Σ_e δ_1(values[e]) x[run, col[e]] + bias[run])); with TWIN, of a transposed matrix."""
    program = tl.program_id(0)
    if HAS_LONG:
        if program < long:
            _some_rows(
                rows, start, stop, program, count, col, values, entry, x, bias, out, rates, out_rates, seeds, epoch,
                layer, width, x_row_stride, x_run_stride, row_stride, run_stride,
                BIAS, RELU, DROP, DROP_OUT, TWIN, 1, LONG, BLOCK,
            )  # fmt: skip
            return
    first = long + (program - long) * ROWS
    _some_rows(
        rows, start, stop, first, count, col, values, entry, x, bias, out, rates, out_rates, seeds, epoch,
        layer, width, x_row_stride, x_run_stride, row_stride, run_stride,
        BIAS, RELU, DROP, DROP_OUT, TWIN, ROWS, ENTRIES, BLOCK,
    )  # fmt: skip


def input_layer(
    x: CSR, weight: Tensor, bias: Tensor, draws: DeviceDraws, out: Tensor,
    *, relu: bool, dropout: Dropout | None, dropout_out: Dropout | None,
) -> Tensor:  # fmt: skip
    """δ_2(σ(δ_1(X) W_1 + b_1)) of every run into `out`, (R, n, width), without a dense copy of X."""
    out_rates, layer = rates_and_layer(dropout_out, bias)
    over_rows(
        _rows_kernel, INPUT, x, x.values, len(weight), x.col, weight, bias, out, rates_and_layer(dropout, bias)[0],
        out_rates, draws.seeds, draws.epoch, layer, weight.shape[2], *strides(weight), *strides(out),
        BIAS=True, RELU=relu, DROP=dropout is not None, DROP_OUT=dropout_out is not None, TWIN=False,
        block=triton.next_power_of_2(weight.shape[2]),
    )  # fmt: skip
    return out


def input_weight_grad(x: CSR, grad: Tensor, draws: DeviceDraws, dropout: Dropout | None) -> Tensor:
    """δ_1(X)ᵀ grad of every run, (R, features, width)."""
    runs, _, width = grad.shape
    out = torch.empty(runs, x.shape[1], width, dtype=torch.float32, device=grad.device)
    rates, _ = rates_and_layer(dropout, out)
    over_rows(
        _rows_kernel, FEATURES, x.transposed, x.transposed.values, runs, x.to_transposed, grad, out, out, rates,
        rates, draws.seeds, draws.epoch, 0, width, *strides(grad), *strides(out),
        BIAS=False, RELU=False, DROP=dropout is not None, DROP_OUT=False, TWIN=True,
        block=triton.next_power_of_2(width),
    )  # fmt: skip
    return out
