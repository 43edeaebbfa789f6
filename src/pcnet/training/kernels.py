"""Triton kernels of a training step for R runs: loss, optimiser, and the bookkeeping of best epochs and stopping."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pcnet.training import _block
from pcnet.training._optimizer import BETAS, EPSILON

#: Rows of validation logits that one program scores.
CHUNK = 128
#: Numbers of a parameter that one program updates.
PIECE = 1024
#: Chunks and runs that the bookkeeping adds up at a time.
TILE = 64
#: The rule that NumPy computes on the CPU, compiled.
judge = triton.jit(_block.judge)


@triton.jit
def _loss_gradient_kernel(logits, labels, weight, out, pairs, classes, BLOCK: tl.constexpr, CLASSES: tl.constexpr):
    """out = weight · (softmax(logits) − onehot(label)) for some (node, run) pairs."""
    pair = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.arange(0, CLASSES)
    mask = (pair < pairs)[:, None] & (column < classes)[None, :]
    here = pair.to(tl.int64)[:, None] * classes + column[None, :]
    w = tl.load(weight + pair, mask=pair < pairs, other=0.0)
    label = tl.load(labels + pair, mask=pair < pairs, other=0)
    z = tl.load(logits + here, mask=mask, other=-float("inf"))
    z = tl.exp(z - tl.max(z, axis=1)[:, None])
    p = z / tl.sum(z, axis=1)[:, None]
    onehot = tl.where(column[None, :] == label[:, None], 1.0, 0.0)
    # A node that does not train must give a zero even where its logits overflow.
    tl.store(out + here, tl.where(w[:, None] > 0, w[:, None] * (p - onehot), 0.0), mask=mask)


@triton.jit
def _score_kernel(
    logits, labels, weight, loss, correct, rows, runs, classes, CHUNK: tl.constexpr, CLASSES: tl.constexpr
):  # fmt: skip
    """Σ weight · (−log softmax at the label) and Σ weight · [argmax = label] over a chunk of a run's nodes."""
    chunk = tl.program_id(0)
    run = tl.program_id(1)
    row = chunk * CHUNK + tl.arange(0, CHUNK)
    column = tl.arange(0, CLASSES)
    pair = row * runs + run
    w = tl.load(weight + pair, mask=row < rows, other=0.0)
    label = tl.load(labels + pair, mask=row < rows, other=0)
    mask = (w > 0)[:, None] & (column < classes)[None, :]
    z = tl.load(logits + pair.to(tl.int64)[:, None] * classes + column[None, :], mask=mask, other=-float("inf"))
    top = tl.max(z, axis=1)
    at_label = tl.sum(tl.where(column[None, :] == label[:, None], z, 0.0), axis=1)
    nll = tl.log(tl.sum(tl.exp(z - top[:, None]), axis=1)) + top - at_label
    right = tl.where(tl.argmax(z, axis=1) == label, 1.0, 0.0)
    tl.store(loss + chunk * runs + run, tl.sum(tl.where(w > 0, w * nll, 0.0), axis=0))
    tl.store(correct + chunk * runs + run, tl.sum(tl.where(w > 0, w * right, 0.0), axis=0))


@triton.jit
def _record_kernel(
    losses, accuracies, loss_history, accuracy_history, prefix, epoch, alive, improved, best_epoch, best_score,
    epochs_done, window, patience, max_epochs, by_loss, runs, chunks, BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Add up the epoch's validation scores; note which runs improve by them and which stop, as `judge` says."""
    run = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = run < runs
    e = tl.load(epoch)
    loss = tl.zeros((BLOCK,), dtype=tl.float64)
    accuracy = tl.zeros((BLOCK,), dtype=tl.float64)
    for begin in range(0, chunks, TILE):
        chunk = begin + tl.arange(0, TILE)
        there = (chunk < chunks)[:, None] & mask[None, :]
        part = chunk[:, None] * runs + run[None, :]
        loss += tl.sum(tl.load(losses + part, mask=there, other=0.0).to(tl.float64), axis=0)
        accuracy += tl.sum(tl.load(accuracies + part, mask=there, other=0.0).to(tl.float64), axis=0)
    tl.store(loss_history + e * runs + run, loss, mask=mask)
    tl.store(accuracy_history + e * runs + run, accuracy, mask=mask)
    before = tl.load(prefix + e * runs + run, mask=mask, other=0.0)
    tl.store(prefix + (e + 1) * runs + run, before + loss, mask=mask)
    active = tl.load(alive + run, mask=mask, other=0) > 0
    best = tl.load(best_epoch + run, mask=mask, other=-1)
    score = tl.load(best_score + run, mask=mask, other=0.0)
    losses_count = tl.load(by_loss + run, mask=mask, other=1) > 0
    w = tl.load(window + run, mask=mask, other=0)
    full = (w > 0) & (e > w)
    earlier = tl.load(prefix + (e - w) * runs + run, mask=mask & full, other=0.0)
    recent = tl.where(full, (before - earlier) / w.to(tl.float64), float("inf"))
    limit = tl.load(patience + run, mask=mask, other=0)
    last = tl.load(max_epochs + run, mask=mask, other=0)
    gain, stop = judge(e, loss, accuracy, best, score, recent, limit, last, losses_count)
    gain = gain & active
    tl.store(best_epoch + run, tl.where(gain, e, best), mask=mask)
    tl.store(best_score + run, tl.where(gain, tl.where(losses_count, loss, accuracy), score), mask=mask)
    tl.store(improved + run, gain.to(tl.int32), mask=mask)
    tl.store(epochs_done + run, tl.where(active, e + 1, tl.load(epochs_done + run, mask=mask, other=0)), mask=mask)
    tl.store(alive + run, (active & (stop == 0)).to(tl.int32), mask=mask)


@triton.jit
def _step_kernel(
    parameters, grads, means, squares, best, improved, lr, wd, kind, epoch, pieces, layout, runs,
    BETA1: tl.constexpr, BETA2: tl.constexpr, LOG_BETA1: tl.constexpr, LOG_BETA2: tl.constexpr, EPSILON: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One step (of kind 0 Adam, 1 AdamW, 2 gradient descent) of a piece of one parameter.

    First it keeps the weights that were just found best.

    `pieces` says of each where it begins and ends in a parameter, and in which; `layout` of each parameter where it
    begins, where its gradient begins, and how many numbers a run has in it.
    """
    piece = tl.program_id(0)
    offset = tl.load(pieces + 3 * piece) + tl.arange(0, BLOCK)
    mask = offset < tl.load(pieces + 3 * piece + 1)
    which = tl.load(pieces + 3 * piece + 2)
    here = tl.load(layout + 3 * which) + offset
    run = offset // tl.load(layout + 3 * which + 2)
    p = tl.load(parameters + here, mask=mask, other=0.0)
    tl.store(best + here, p, mask=mask & (tl.load(improved + run, mask=mask, other=0) > 0))
    g = tl.load(grads + tl.load(layout + 3 * which + 1) + offset, mask=mask, other=0.0)
    rate = tl.load(lr + which * runs + run, mask=mask, other=0.0)
    decay = tl.load(wd + which * runs + run, mask=mask, other=0.0)
    way = tl.load(kind + run, mask=mask, other=0)
    decoupled = way == 1
    g = tl.where(decoupled, g, g + decay * p)
    p = tl.where(decoupled, p - rate * decay * p, p)
    m = BETA1 * tl.load(means + here, mask=mask, other=0.0) + (1.0 - BETA1) * g
    v = BETA2 * tl.load(squares + here, mask=mask, other=0.0) + (1.0 - BETA2) * g * g
    tl.store(means + here, m, mask=mask)
    tl.store(squares + here, v, mask=mask)
    t = tl.load(epoch).to(tl.float32) + 1.0
    m_hat = m / (1.0 - tl.exp2(t * LOG_BETA1))
    v_hat = v / (1.0 - tl.exp2(t * LOG_BETA2))
    step = tl.where(way == 2, g, m_hat / (tl.sqrt(v_hat) + EPSILON))
    tl.store(parameters + here, p - rate * step, mask=mask)


def loss_gradient(logits: Tensor, label: Tensor, weight: Tensor) -> Tensor:
    """weight · (softmax − onehot) for logits (R, n, C); comes with nodes outermost in memory."""
    columns = logits.permute(1, 0, 2).contiguous()
    out = torch.empty_like(columns)
    n, runs, classes = columns.shape
    _loss_gradient_kernel[(triton.cdiv(n * runs, 64),)](
        columns, label, weight, out, n * runs, classes, BLOCK=64, CLASSES=triton.next_power_of_2(classes)
    )
    return out.permute(1, 0, 2)


def scores(logits: Tensor, label: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Loss and accuracy of each run, in parts (chunks, R) that are still to be added."""
    columns = logits.permute(1, 0, 2).contiguous()
    n, runs, classes = columns.shape
    chunks = triton.cdiv(n, CHUNK)
    loss, correct = (torch.empty(chunks, runs, device=logits.device) for _ in range(2))
    _score_kernel[(chunks, runs)](
        columns, label, weight, loss, correct, n, runs, classes, CHUNK=CHUNK, CLASSES=triton.next_power_of_2(classes)
    )
    return loss, correct


def record(ledger: Any, loss: Tensor, score: Tensor) -> None:
    """One epoch in the ledger; see `_record_kernel`."""
    chunks, runs = loss.shape
    block = min(TILE, triton.next_power_of_2(runs))
    _record_kernel[(triton.cdiv(runs, block),)](
        loss, score, ledger.loss, ledger.score, ledger.prefix, ledger.epoch, ledger.alive, ledger.improved,
        ledger.best_epoch, ledger.best_score, ledger.epochs_done, ledger.window, ledger.patience, ledger.last,
        ledger.by_loss, runs, chunks, BLOCK=block, TILE=min(TILE, triton.next_power_of_2(chunks)),
    )  # fmt: skip


def step(state: Any, grads: Tensor, improved: Tensor, epoch: Tensor) -> None:
    """One step of every parameter of every run; see `_step_kernel`. The gradients lie end to end."""
    _step_kernel[(len(state.pieces),)](
        state.flat["parameters"], grads, state.flat["means"], state.flat["squares"], state.flat["best"], improved,
        state.lr, state.wd, state.kind, epoch, state.pieces, state.layout, len(improved),
        BETA1=BETAS[0], BETA2=BETAS[1], LOG_BETA1=math.log2(BETAS[0]), LOG_BETA2=math.log2(BETAS[1]),
        EPSILON=EPSILON, BLOCK=PIECE,
    )  # fmt: skip
