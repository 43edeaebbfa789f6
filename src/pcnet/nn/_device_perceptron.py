"""Θ(X) of many runs on a GPU: all runs in every kernel, and no dense copy of sparse features for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import CSR
from pcnet.nn._dense_features import Precision, dense_features, halves
from pcnet.nn._dropout import DeviceDraws
from pcnet.nn._module import device_vector

#: Tells dropout before a propagation from that of the layers before it.
AFTER = 15


class DevicePerceptron(torch.autograd.Function):
    """The same map as on the CPU, with dropout decided inside the kernels: forward keeps the hidden layers alone.

    `rates` has a dropout rate of each run for every layer and, last, one for what comes out.
    """

    @staticmethod
    def forward(
        ctx: Any,
        dense: Tensor | None,
        x: Tensor | CSR,
        rates: tuple[tuple[float, ...], ...],
        draws: DeviceDraws | None,
        activation: str | None,
        precision: Precision,
        *parameters: Tensor,
    ) -> Tensor:
        from pcnet.nn import device as kernels

        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        device, runs, n = weights[0].device, len(rates), x.shape[0]
        draws = draws or DeviceDraws.idle(runs, device)
        drops = [
            kernels.Dropout(device_vector(own, device), layer if layer < depth else AFTER) if any(own) else None
            for layer, own in enumerate(zip(*rates, strict=True))
        ]
        relu = activation is not None
        storage = torch.bfloat16 if precision == "bfloat16" else torch.float32
        features = dense_features(x, precision) if drops[0] is None else None
        bare: Tensor | None = None
        unscale: Tensor | None = None
        if features is not None:
            (h, unscale), bare = features.times(weights[0]), biases[0]
        elif isinstance(x, CSR):
            out = torch.empty(
                n, runs, weights[0].shape[2], dtype=storage if depth > 1 else torch.float32, device=device
            )
            out = out.permute(1, 0, 2)
            h = kernels.input_layer(
                x, weights[0].to(storage), biases[0], draws, out,
                relu=relu and depth > 1, dropout=drops[0], dropout_out=drops[1],
            )  # fmt: skip
        else:
            h, bare = kernels.masked(_spread(x, runs), draws, drops[0]) @ weights[0], biases[0]
        hidden = [h] if depth > 1 else []
        for layer in range(1, depth):
            last = layer == depth - 1
            h = kernels.output_layer(
                h, bare, unscale, weights[layer], biases[layer], draws, _dot(precision),
                relu=relu, dropout=drops[layer], dropout_out=drops[depth] if last else None,
            )  # fmt: skip
            if not last:
                # A middle layer comes without its ReLU and dropout, which the next one begins with.
                hidden.append(h)
                bare, unscale = torch.zeros_like(biases[layer]), None
        if depth == 1 and bare is not None:
            h = h if unscale is None else h * unscale.view(-1, 1, 1)
            h = kernels.masked(h + bare.unsqueeze(1), draws, drops[1])
        ctx.x, ctx.features, ctx.draws, ctx.drops, ctx.relu, ctx.precision = x, features, draws, drops, relu, precision
        ctx.save_for_backward(*weights, *hidden)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        from pcnet.nn import device as kernels

        x, features, draws, drops = ctx.x, ctx.features, ctx.draws, ctx.drops
        depth = (len(ctx.saved_tensors) + 1) // 2
        weights, hidden = ctx.saved_tensors[:depth], ctx.saved_tensors[depth:]
        grad_weights: list[Tensor] = [weights[0]] * depth
        grad_biases: list[Tensor] = [weights[0]] * depth
        g, rest, unscale = grads[0], None, None
        split = features is not None and features.split
        for layer in range(depth - 1, 0, -1):
            (g, rest, unscale), shares = kernels.hidden_backward(
                g, hidden[layer - 1], weights[layer], draws, _dot(ctx.precision), relu=ctx.relu, dropout=drops[layer],
                dropout_out=drops[depth] if layer == depth - 1 else None, split=split and layer == 1,
            )  # fmt: skip
            grad_weights[layer], grad_biases[layer], grad_biases[layer - 1] = shares
        if depth == 1:
            g = kernels.masked(g, draws, drops[1])
            grad_biases[0] = g.sum(dim=1)
            if split:
                g, rest, unscale = halves(g)
        grad_x = None
        if features is not None:
            grad_weights[0] = features.transposed_times(g, rest, unscale)
        elif isinstance(x, CSR):
            grad_weights[0] = kernels.input_weight_grad(x, g, draws, drops[0])
        else:
            grad_weights[0] = kernels.masked(_spread(x, len(g)), draws, drops[0]).mT @ g
        if ctx.needs_input_grad[0]:
            if rest is not None and unscale is not None:
                g = (g.float() + rest) * unscale.view(-1, 1, 1)
            back = g.float() @ weights[0].mT
            grad_x = kernels.masked(back, draws, drops[0]).sum(dim=0)
        return grad_x, None, None, None, None, None, *grad_weights, *grad_biases


def collapsed_on_device(x: Tensor | CSR, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """X (W_1 ⋯ W_L) + b of every run, as columns of one product; (R, n, width), nodes outermost in memory."""
    weight, bias = weights[0], biases[0].unsqueeze(1)
    for following, offset in zip(weights[1:], biases[1:], strict=True):
        weight, bias = weight @ following, torch.baddbmm(offset.unsqueeze(1), bias, following)
    runs, width_in, width = weight.shape
    columns, offsets = weight.permute(1, 0, 2).reshape(width_in, runs * width), bias.reshape(-1)
    if isinstance(x, CSR):
        from pcnet.propagate import kernels

        z = kernels.product(x, columns, x.values, offsets)
    else:
        z = torch.addmm(offsets, x, columns)
    return z.view(-1, runs, width).permute(1, 0, 2)


def _dot(precision: Precision) -> str:
    """How kernels multiply small matrices on tensor cores: three times, to float32, or once."""
    return "tf32x3" if precision == "float32" else "tf32"


def _spread(x: Tensor, runs: int) -> Tensor:
    return x.expand(runs, *x.shape).contiguous()
