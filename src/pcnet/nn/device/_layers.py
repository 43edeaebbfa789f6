"""The first layer on sparse features and layers on hidden units, forwards and back."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.graph import CSR
from pcnet.nn._dropout import DeviceDraws
from pcnet.nn.device._small import Dropout, dropped, scale_of, strides
from pcnet.propagate.kernels import Tiling, block_of_rows, gather, keep_scale, over_rows

# Chosen by timing 10 and 100 runs on Cora, Texas, Actor and PubMed on an H200.
INPUT = Tiling(64, 32, 4, 4, 64, warps=1)
FEATURES = Tiling(32, 64, 8, 4, 64, warps=2, giant=2048, for_giants=Tiling(128, 256, 8, 4, 64, warps=4))
#: Rows of a hidden layer that a program holds at a time; on the way back through a small graph, half as many.
ROWS, SMALL = 64, 4096
#: Parts into which gradients are divided at most before they are added up.
CHUNKS = 128


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
        col, values, x + run * x_run_stride, begin, end, columns, inside, x_row_stride, ROWS, ENTRIES, BLOCK,
        entry, seeds, epoch, run, tl.load(rates + run) if DROP else 0.0, DROP, TWIN,
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
    *, relu: bool, dropout: Dropout, dropout_out: Dropout,
) -> Tensor:  # fmt: skip
    """δ_2(σ(δ_1(X) W_1 + b_1)) of every run into `out`, (R, n, width), without a dense copy of X."""
    over_rows(
        _rows_kernel, INPUT, x, x.values, len(weight), x.col, weight, bias, out, dropout.rates, dropout_out.rates,
        draws.seeds, draws.epoch, dropout_out.layer, weight.shape[2], *strides(weight), *strides(out),
        BIAS=True, RELU=relu, DROP=bool(dropout), DROP_OUT=bool(dropout_out), TWIN=False,
        block=triton.next_power_of_2(weight.shape[2]),
    )  # fmt: skip
    return out


def input_weight_grad(x: CSR, grad: Tensor, draws: DeviceDraws, dropout: Dropout) -> Tensor:
    """δ_1(X)ᵀ grad of every run, (R, features, width)."""
    runs, _, width = grad.shape
    out = torch.empty(runs, x.shape[1], width, dtype=torch.float32, device=grad.device)
    over_rows(
        _rows_kernel, FEATURES, x.transposed, x.transposed.values, runs, x.to_transposed, grad, None, out,
        dropout.rates, None, draws.seeds, draws.epoch, 0, width, *strides(grad), *strides(out),
        BIAS=False, RELU=False, DROP=bool(dropout), DROP_OUT=False, TWIN=True,
        block=triton.next_power_of_2(width),
    )  # fmt: skip
    return out


@triton.jit
def _output_layer_kernel(
    hidden, bias_before, unscale, weight, bias, out, rates, out_rates, seeds, epoch, layer, out_layer,
    rows, runs, width, width_out, row_stride, run_stride,
    FINISH: tl.constexpr, SCALED: tl.constexpr, RELU: tl.constexpr, DROP: tl.constexpr, DROP_OUT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_OUT: tl.constexpr,
):  # fmt: skip
    """out[row, run] = δ_3(h W + b). With FINISH, `hidden` is a bare product that first becomes h = δ_2(σ(z + b_1))."""
    run = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, BLOCK)
    o = tl.arange(0, BLOCK_OUT)
    mask = (row < rows)[:, None] & (i < width)[None, :]
    here = row[:, None] * row_stride + run * run_stride + i[None, :]
    h = tl.load(hidden + here, mask=mask, other=0.0).to(tl.float32)
    if SCALED:
        h *= tl.load(unscale + run)
    if FINISH:
        h += tl.load(bias_before + run * width + i, mask=i < width, other=0.0)[None, :]
        if RELU:
            h = tl.maximum(h, 0.0)
        if DROP:
            element = row[:, None] * width + i[None, :]
            h = dropped(h, keep_scale(seeds, epoch, run, layer, tl.load(rates + run), element))
        h = tl.where(mask, h, 0.0)
        tl.store(hidden + here, h, mask=mask)
    inside = (i < width)[:, None] & (o < width_out)[None, :]
    w = tl.load(weight + (run * width + i)[:, None] * width_out + o[None, :], mask=inside, other=0.0)
    z = tl.dot(h, w, input_precision=PRECISION)
    z += tl.load(bias + run * width_out + o, mask=o < width_out, other=0.0)[None, :]
    if DROP_OUT:
        element = row[:, None] * width_out + o[None, :]
        z *= keep_scale(seeds, epoch, run, out_layer, tl.load(out_rates + run), element)
    there = (row < rows)[:, None] & (o < width_out)[None, :]
    tl.store(out + (row * runs + run)[:, None] * width_out + o[None, :], z, mask=there)


@triton.jit
def _hidden_backward_kernel(
    grad, hidden, weight, out, rest, unscale, partial, largest_grad, largest_weight, rates, out_rates, seeds, epoch,
    out_layer, rows, runs, width, width_out, grad_row_stride, grad_run_stride, row_stride, run_stride,
    RELU: tl.constexpr, DROP: tl.constexpr, DROP_OUT: tl.constexpr, SPLIT: tl.constexpr, PRECISION: tl.constexpr,
    CHUNK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_OUT: tl.constexpr,
):  # fmt: skip
    """Back through z = δ_3(h·W + b) and the dropout and ReLU that made h, for CHUNK rows of one run.

    out = (grad·Wᵀ) ∘ mask; partial holds this chunk's parts of hᵀ·grad of all runs, then of Σ grad, then of Σ out.
    With SPLIT, out and rest are two float16 numbers whose sum, times the run's `unscale`, is it.
    """
    chunk = tl.program_id(0).to(tl.int64)
    run = tl.program_id(1).to(tl.int64)
    i = tl.arange(0, BLOCK)
    o = tl.arange(0, BLOCK_OUT)
    inside = (i < width)[:, None] & (o < width_out)[None, :]
    w = tl.load(weight + (run * width + i)[:, None] * width_out + o[None, :], mask=inside, other=0.0)
    grad_weight = tl.zeros((BLOCK, BLOCK_OUT), dtype=tl.float32)
    grad_bias = tl.zeros((BLOCK_OUT,), dtype=tl.float32)
    grad_bias_before = tl.zeros((BLOCK,), dtype=tl.float32)
    keep = 1.0
    if DROP:
        keep = 1.0 - tl.load(rates + run)
    if SPLIT:
        # No gradient is larger than this: a sum over outputs of products, scaled where its parts were dropped.
        largest = tl.load(largest_grad + run) * tl.load(largest_weight + run) * width_out / keep
        if DROP_OUT:
            largest = largest / (1.0 - tl.load(out_rates + run))
        scale = scale_of(largest)
        if chunk == 0:
            tl.store(unscale + run, 1.0 / scale)
    for begin in range(0, CHUNK, ROWS):
        row = chunk * CHUNK + begin + tl.arange(0, ROWS)
        g_mask = (row < rows)[:, None] & (o < width_out)[None, :]
        h_mask = (row < rows)[:, None] & (i < width)[None, :]
        g_here = row[:, None] * grad_row_stride + run * grad_run_stride + o[None, :]
        g = tl.load(grad + g_here, mask=g_mask, other=0.0)
        if DROP_OUT:
            element = row[:, None] * width_out + o[None, :]
            g *= keep_scale(seeds, epoch, run, out_layer, tl.load(out_rates + run), element)
        here = row[:, None] * row_stride + run * run_stride + i[None, :]
        h = tl.load(hidden + here, mask=h_mask, other=0.0).to(tl.float32)
        back = tl.dot(g, tl.trans(w), input_precision=PRECISION)
        if DROP:
            back = back / keep
            if not RELU:
                back = tl.where(h.to(tl.int32, bitcast=True) == -2147483648, 0.0, back)
        if RELU:
            back = tl.where(h > 0, back, 0.0)
        if SPLIT:
            scaled = back * scale
            leading = scaled.to(tl.float16)
            tl.store(out + here, leading, mask=h_mask)
            tl.store(rest + here, (scaled - leading.to(tl.float32)).to(tl.float16), mask=h_mask)
        else:
            tl.store(out + here, back, mask=h_mask)
        grad_weight += tl.dot(tl.trans(h), g, input_precision=PRECISION)
        grad_bias += tl.sum(g, axis=0)
        grad_bias_before += tl.sum(tl.where(h_mask, back, 0.0), axis=0)
    part = partial + chunk * runs * (width * width_out + width_out + width)
    tl.store(part + (run * width + i)[:, None] * width_out + o[None, :], grad_weight, mask=inside)
    part += runs * width * width_out
    tl.store(part + run * width_out + o, grad_bias, mask=o < width_out)
    part += runs * width_out
    tl.store(part + run * width + i, grad_bias_before, mask=i < width)


@triton.jit
def _sum_kernel(partial, out, chunks, width, CHUNKS: tl.constexpr, BLOCK: tl.constexpr):
    """out = Σ_chunks partial[chunk], for some columns."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    chunk = tl.arange(0, CHUNKS)
    mask = (chunk < chunks)[:, None] & (column < width)[None, :]
    parts = tl.load(partial + chunk.to(tl.int64)[:, None] * width + column[None, :], mask=mask, other=0.0)
    tl.store(out + column, tl.sum(parts, axis=0), mask=column < width)


def output_layer(
    hidden: Tensor, bias_before: Tensor | None, unscale: Tensor | None, weight: Tensor, bias: Tensor,
    draws: DeviceDraws, precision: str,
    *, relu: bool, dropout: Dropout, dropout_out: Dropout,
) -> Tensor:  # fmt: skip
    """δ_3(h W + b) of every run, (R, n, width) with nodes outermost in memory.

    Where `bias_before` is given, `hidden` is a bare product of the layer before, perhaps scaled; it becomes h in place.
    """
    runs, rows, width = hidden.shape
    width_out = weight.shape[2]
    out = torch.empty(rows, runs, width_out, dtype=torch.float32, device=hidden.device)
    _output_layer_kernel[(triton.cdiv(rows, ROWS), runs)](
        hidden, bias_before, unscale, weight, bias, out, dropout.rates, dropout_out.rates, draws.seeds, draws.epoch,
        dropout.layer, dropout_out.layer, rows, runs, width, width_out, *strides(hidden),
        FINISH=bias_before is not None, SCALED=unscale is not None, RELU=relu,
        DROP=bool(dropout), DROP_OUT=bool(dropout_out),
        PRECISION=precision, ROWS=ROWS, BLOCK=_tile(width), BLOCK_OUT=_tile(width_out), num_warps=4,
    )  # fmt: skip
    return out.permute(1, 0, 2)


def hidden_backward(
    grad: Tensor, hidden: Tensor, weight: Tensor, draws: DeviceDraws, precision: str,
    *, relu: bool, dropout: Dropout, dropout_out: Dropout, split: bool,
) -> tuple[tuple[Tensor, Tensor | None, Tensor | None], tuple[Tensor, Tensor, Tensor]]:  # fmt: skip
    """Gradients of what entered the layer before, and of this layer's weight and bias and the bias before.

    The first comes whole, or with `split` as leading digits, rest and scale; see `DenseFeatures`.
    """
    runs, rows, width = hidden.shape
    width_out = weight.shape[2]
    step = ROWS if rows > SMALL else ROWS // 2
    chunk = triton.cdiv(triton.cdiv(rows, CHUNKS), step) * step
    chunks = triton.cdiv(rows, chunk)
    sizes = [runs * width * width_out, runs * width_out, runs * width]
    partial = torch.empty(chunks, sum(sizes), device=grad.device)
    out = torch.empty_like(hidden, dtype=torch.float16 if split else hidden.dtype)
    rest = unscale = largest_grad = largest_weight = None
    if split:
        rest, unscale = torch.empty_like(out), torch.empty(runs, device=grad.device)
        largest_grad, largest_weight = (torch.linalg.vector_norm(x, torch.inf, dim=(1, 2)) for x in (grad, weight))
    _hidden_backward_kernel[(chunks, runs)](
        grad, hidden, weight, out, rest, unscale, partial, largest_grad, largest_weight, dropout.rates,
        dropout_out.rates, draws.seeds, draws.epoch, dropout_out.layer, rows, runs, width, width_out, *strides(grad),
        *strides(hidden), RELU=relu, DROP=bool(dropout), DROP_OUT=bool(dropout_out), SPLIT=split,
        PRECISION=precision, CHUNK=chunk, ROWS=step, BLOCK=_tile(width), BLOCK_OUT=_tile(width_out), num_warps=4,
    )  # fmt: skip
    total = torch.empty(sum(sizes), device=grad.device)
    _sum_kernel[(triton.cdiv(len(total), 32),)](
        partial, total, chunks, len(total), CHUNKS=triton.next_power_of_2(chunks), BLOCK=32
    )
    of_weight, of_bias, of_bias_before = total.split(sizes)
    shares = of_weight.view(runs, width, -1), of_bias.view(runs, -1), of_bias_before.view(runs, -1)
    return (out, rest, unscale), shares


def _tile(width: int) -> int:
    return max(16, triton.next_power_of_2(width))
