"""Triton kernels of the layers around a propagation, for R runs. Imported only where a CUDA tensor is at hand."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.graph import CSR
from pcnet.propagate.kernels import FEATURES, NODES, by_row_length, row_and_entries

#: Rows of a hidden layer that a program takes back.
ROWS = 32


@triton.jit
def _keep_scale(seeds, epoch, run, layer, rate, element):
    """1/(1−rate) with probability 1 − rate, else 0: the same for the same (seed, epoch, layer, element)."""
    seed = tl.load(seeds + run) * 2654435761 + tl.load(epoch) * 40503 + layer
    return tl.where(tl.rand(seed, element) >= rate, 1.0 / (1.0 - rate), 0.0)


@triton.jit
def _gather_some_dropped(
    col, values, entry, x, offset, first, stop, columns, mask, width, seeds, epoch, run, rate,
    DROP: tl.constexpr, TWIN: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    """Σ_e δ(values[e]) · x[offset + col[e], columns] over EDGES entries from `first`, none at or past `stop`.

    Dropout is decided by an entry's place in the matrix itself; a transposed one (TWIN) knows it as entry[e].
    """
    e = first + tl.arange(0, EDGES)
    there = e < stop
    source = tl.load(col + e, mask=there, other=0).to(tl.int64)
    value = tl.load(values + e, mask=there, other=0.0)
    if DROP:
        place = e
        if TWIN:
            place = tl.load(entry + e, mask=there, other=0).to(tl.int32)
        value *= _keep_scale(seeds, epoch, run, 0, rate, place)
    where = (offset + source)[:, None] * width + columns[None, :]
    return tl.sum(value[:, None] * tl.load(x + where, mask=there[:, None] & mask[None, :], other=0.0), axis=0)


@triton.jit
def _gather_dropped(
    col, values, entry, x, offset, start, stop, total, columns, mask, width, seeds, epoch, run, rate,
    DROP: tl.constexpr, TWIN: tl.constexpr, WHOLE: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    """total + Σ_e δ(values[e]) · x[offset + col[e], columns] over the entries start ≤ e < stop."""
    whole = start + (stop - start) // WHOLE * WHOLE
    for first in range(start, whole, WHOLE):
        total += _gather_some_dropped(
            col, values, entry, x, offset, first, stop, columns, mask, width, seeds, epoch, run, rate, DROP, TWIN, WHOLE
        )
    for first in range(whole, stop, REST):
        total += _gather_some_dropped(
            col, values, entry, x, offset, first, stop, columns, mask, width, seeds, epoch, run, rate, DROP, TWIN, REST
        )
    return total


@triton.jit
def _input_layer_kernel(
    crow, col, values, long_rows, weight, bias, out, rates, hidden_rates, seeds, epoch, rows, features, width,
    RELU: tl.constexpr, DROP: tl.constexpr, DROP_HIDDEN: tl.constexpr,
    LISTED: tl.constexpr, LIMIT: tl.constexpr, WHOLE: tl.constexpr, REST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[run, row] = δ_2(σ(Σ_e δ_1(values[e]) weight[run, col[e]] + bias[run])), one row of one run a program."""
    row, start, stop, mine = row_and_entries(crow, long_rows, LISTED, LIMIT)
    if mine:
        run = tl.program_id(1).to(tl.int64)
        columns = tl.arange(0, BLOCK)
        mask = columns < width
        total = tl.load(bias + run * width + columns, mask=mask, other=0.0)
        total = _gather_dropped(
            col, values, col, weight, run * features, start, stop, total, columns, mask, width, seeds, epoch, run,
            tl.load(rates + run), DROP, False, WHOLE, REST,
        )  # fmt: skip
        if RELU:
            total = tl.maximum(total, 0.0)
        if DROP_HIDDEN:
            element = (row * width + columns).to(tl.int32)
            total *= _keep_scale(seeds, epoch, run, 1, tl.load(hidden_rates + run), element)
        tl.store(out + (run * rows + row) * width + columns, total, mask=mask)


@triton.jit
def _input_weight_grad_kernel(
    crow, col, values, long_rows, entry, grad, out, rates, seeds, epoch, rows, features, width,
    DROP: tl.constexpr,
    LISTED: tl.constexpr, LIMIT: tl.constexpr, WHOLE: tl.constexpr, REST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[run, feature] = Σ_e δ_1(values[e]) grad[run, node[e]], the entries of a feature in the transposed matrix."""
    feature, start, stop, mine = row_and_entries(crow, long_rows, LISTED, LIMIT)
    if mine:
        run = tl.program_id(1).to(tl.int64)
        columns = tl.arange(0, BLOCK)
        mask = columns < width
        total = tl.zeros((BLOCK,), dtype=grad.dtype.element_ty)
        total = _gather_dropped(
            col, values, entry, grad, run * rows, start, stop, total, columns, mask, width, seeds, epoch, run,
            tl.load(rates + run), DROP, True, WHOLE, REST,
        )  # fmt: skip
        tl.store(out + (run * features + feature) * width + columns, total, mask=mask)


@triton.jit
def _hidden_backward_kernel(
    grad, hidden, weight, out, partial, rates, seeds, epoch, layer, rows, runs, width, width_out,
    RELU: tl.constexpr, DROP: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_OUT: tl.constexpr,
):  # fmt: skip
    """Back through z = h·W + b and the dropout and ReLU that made h, for ROWS rows of one run.

    out = (grad·Wᵀ) ∘ mask; partial holds this chunk's parts of hᵀ·grad, of Σ grad and of Σ out, one after the other.
    """
    chunk = tl.program_id(0).to(tl.int64)
    run = tl.program_id(1).to(tl.int64)
    i = tl.arange(0, BLOCK)
    o = tl.arange(0, BLOCK_OUT)
    inside = (i < width)[:, None] & (o < width_out)[None, :]
    w = tl.load(weight + (run * width + i)[:, None] * width_out + o[None, :], mask=inside, other=0.0)
    row = chunk * ROWS + tl.arange(0, ROWS)
    g_mask = (row < rows)[:, None] & (o < width_out)[None, :]
    h_mask = (row < rows)[:, None] & (i < width)[None, :]
    g = tl.load(grad + (run * rows + row)[:, None] * width_out + o[None, :], mask=g_mask, other=0.0)
    place = (run * rows + row)[:, None] * width + i[None, :]
    h = tl.load(hidden + place, mask=h_mask, other=0.0)
    back = tl.dot(g, tl.trans(w), input_precision="ieee")
    if DROP:
        element = (row[:, None] * width + i[None, :]).to(tl.int32)
        back *= _keep_scale(seeds, epoch, run, layer, tl.load(rates + run), element)
    if RELU:
        back = tl.where(h > 0, back, 0.0)
    back = tl.where(h_mask, back, 0.0)
    tl.store(out + place, back, mask=h_mask)
    grad_weight = tl.dot(tl.trans(h), g, input_precision="ieee")
    size = width * width_out + width_out + width
    part = partial + (chunk * runs + run) * size
    tl.store(part + i[:, None] * width_out + o[None, :], grad_weight, mask=inside)
    tl.store(part + width * width_out + o, tl.sum(g, axis=0), mask=o < width_out)
    tl.store(part + width * width_out + width_out + i, tl.sum(back, axis=0), mask=i < width)


@triton.jit
def _mask_kernel(
    x, out, rates, seeds, epoch, layer, rows, width, row_stride, run_stride, BLOCK: tl.constexpr
):  # fmt: skip
    """out = x ∘ keep/(1−rate); x[run, row, column] at any two strides."""
    run = tl.program_id(1).to(tl.int64)
    element = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = element < rows * width
    place = (element // width).to(tl.int64) * row_stride + run * run_stride + element % width
    value = tl.load(x + place, mask=mask, other=0.0)
    value *= _keep_scale(seeds, epoch, run, layer, tl.load(rates + run), element)
    tl.store(out + place, value, mask=mask)


def input_layer(
    x: CSR, weight: Tensor, bias: Tensor, rates: Tensor, hidden_rates: Tensor, seeds: Tensor, epoch: Tensor,
    *, relu: bool, drop: bool, drop_hidden: bool,
) -> Tensor:  # fmt: skip
    """δ_2(σ(δ_1(X) W_1 + b_1)) of every run, (R, n, width), without a dense copy of X."""
    runs, features, width = weight.shape
    out = torch.empty(runs, x.shape[0], width, dtype=weight.dtype, device=weight.device)
    by_row_length(
        _input_layer_kernel, NODES, x, x.values, runs, weight, bias, out, rates, hidden_rates, seeds, epoch, x.shape[0],
        features, width, RELU=relu, DROP=drop, DROP_HIDDEN=drop_hidden, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return out


def input_weight_grad(x: CSR, grad: Tensor, rates: Tensor, seeds: Tensor, epoch: Tensor, *, drop: bool) -> Tensor:
    """δ_1(X)ᵀ grad of every run, (R, features, width)."""
    runs, rows, width = grad.shape
    out = torch.empty(runs, x.shape[1], width, dtype=grad.dtype, device=grad.device)
    by_row_length(
        _input_weight_grad_kernel, FEATURES, x.transposed, x.transposed.values, runs, x.to_transposed, grad, out, rates,
        seeds, epoch, rows, x.shape[1], width, DROP=drop, BLOCK=triton.next_power_of_2(width),
    )  # fmt: skip
    return out


def masked(x: Tensor, rates: Tensor, seeds: Tensor, epoch: Tensor, layer: int) -> Tensor:
    """x ∘ keep/(1−rate) for x (R, n, d), contiguous or with its first two axes exchanged."""
    runs, rows, width = x.shape
    out = torch.empty_like(x)
    block = 256
    _mask_kernel[(triton.cdiv(rows * width, block), runs)](
        x, out, rates, seeds, epoch, layer, rows, width, x.stride(1), x.stride(0), BLOCK=block
    )
    return out


def hidden_backward(
    grad: Tensor, hidden: Tensor, weight: Tensor, rates: Tensor, seeds: Tensor, epoch: Tensor, layer: int,
    *, relu: bool, drop: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of what entered the layer before, of this layer's weight and bias, and of that layer's bias."""
    runs, rows, width = hidden.shape
    width_out = weight.shape[2]
    chunks = triton.cdiv(rows, ROWS)
    out = torch.empty_like(hidden)
    partial = torch.empty(chunks, runs, width * width_out + width_out + width, device=grad.device)
    _hidden_backward_kernel[(chunks, runs)](
        grad, hidden, weight, out, partial, rates, seeds, epoch, layer, rows, runs, width, width_out,
        RELU=relu, DROP=drop, ROWS=ROWS,
        BLOCK=max(16, triton.next_power_of_2(width)), BLOCK_OUT=max(16, triton.next_power_of_2(width_out)),
        num_warps=4,
    )  # fmt: skip
    sums = partial.sum(dim=0)
    of_weight, of_bias, of_bias_before = sums.split([width * width_out, width_out, width], dim=1)
    return out, of_weight.unflatten(1, (width, width_out)), of_bias, of_bias_before
